// SPDX-License-Identifier: BSD-2-Clause
// NVTX ranges get their names and are sorted; what a program may send cannot take more room.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/nvtx_ranges.h"

static struct nvtx_key key(int pid, uint64_t name)
{
	return (struct nvtx_key){.process = {.pid = pid}, .name = name};
}

static void tell_name(struct nvtx_ranges *ranges, int pid, uint64_t number, const char *text)
{
	struct nvtx_name record = {.key = key(pid, number)};

	snprintf(record.text, sizeof(record.text), "%s", text);
	nvtx_ranges__take_name(ranges, &record, sizeof(record));
}

static void add(struct nvtx_ranges *ranges, int pid, uint64_t name, uint64_t ns)
{
	const struct nvtx_key of = key(pid, name);
	const struct nvtx_record record = {.count = 1, .ns = ns};

	nvtx_ranges__add(ranges, &of, &record);
}

/* Also a name that comes after the sums of its range. */
static void test_names_and_order(void **state)
{
	struct nvtx_ranges ranges = {0};

	(void)state;
	tell_name(&ranges, 7, 1, "one");
	tell_name(&ranges, 7, 1, "another");
	tell_name(&ranges, 8, 2, "of another process");
	for (int reading = 0; reading < 2; reading++) {
		nvtx_ranges__begin(&ranges, NULL);
		add(&ranges, 7, 1, 10);
		add(&ranges, 7, 2, 30);
		add(&ranges, 8, 3, 20);
		tell_name(&ranges, 8, 3, "late");
		nvtx_ranges__end(&ranges);
		assert_int_equal(ranges.count, 3);
		assert_null(ranges.list[0].name);
		assert_string_equal(ranges.list[1].name, "late");
		assert_string_equal(ranges.list[2].name, "one");
	}
	assert_true(nvtx_range__is_of(&ranges.list[0], 7, 0));
	assert_false(nvtx_range__is_of(&ranges.list[1], 7, 0));
	nvtx_ranges__clear(&ranges);
}

static void test_names_are_limited(void **state)
{
	struct nvtx_ranges ranges = {0};
	struct nvtx_name record = {.key = key(7, NVTX_ALL_NAMES)};

	(void)state;
	for (uint64_t i = 0; i < NVTX_ALL_NAMES; i++)
		tell_name(&ranges, 7, i, "name");
	nvtx_ranges__take_name(&ranges, &record, sizeof(record) - 1);
	assert_int_equal(ranges.lost_names, 0);
	memset(record.text, 'x', sizeof(record.text)); /* without an end */
	nvtx_ranges__take_name(&ranges, &record, sizeof(record));
	assert_int_equal(ranges.lost_names, 1);
	assert_int_equal(ranges.name_count, NVTX_ALL_NAMES);
	nvtx_ranges__clear(&ranges);
}

/* --- GPU times --- */

static void add_kernel(struct gpu_paths *paths, uint64_t path, uint64_t ns)
{
	const struct gpu_work work = {.kind = GPU_WORK_KERNEL, .start_ns = 1, .end_ns = 1 + ns};
	const struct gpu_joined joined = {.work = &work, .path = path};

	gpu_paths__add(paths, &joined);
}

static void add_path(struct nvtx_ranges *ranges, uint64_t number, uint64_t outer, uint64_t inner)
{
	const struct nvtx_path_key of = {.process = {.pid = 7}, .path = number};
	struct nvtx_path path = {.used = 5};

	path.names[0] = outer;
	path.names[1] = 99; /* not used */
	path.names[2] = inner;
	nvtx_ranges__add_path(ranges, &of, &path);
}

static uint64_t gpu_ns(const struct nvtx_ranges *ranges, uint64_t name)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (ranges->list[i].key.name == name)
			return gpu_parts__all(&ranges->list[i].gpu).ns;
	return UINT64_MAX;
}

/* Work counts once in each name, also in a range of the same name as the one around it. */
static void test_gpu_times(void **state)
{
	struct gpu_process_times process = {.key = {.pid = 7}, .heard = true};
	struct gpu_times times = {0};
	struct nvtx_ranges ranges = {0};
	struct nvtx_apart apart;

	(void)state;
	HASH_ADD(hh, times.processes, key, sizeof(process.key), &process);
	add_kernel(&process.paths, 0, 1);
	add_kernel(&process.paths, NVTX_PATH_UNKNOWN, 2);
	add_kernel(&process.paths, 10, 30);
	add_kernel(&process.paths, 10, 10);
	add_kernel(&process.paths, 11, 5);
	nvtx_ranges__begin(&ranges, &times);
	add(&ranges, 7, 1, 10);
	add(&ranges, 7, 2, 10);
	add(&ranges, 7, 99, 10);
	add(&ranges, 8, 1, 10);
	add_path(&ranges, 10, 1, 2);
	add_path(&ranges, 11, 1, 1);
	add_path(&ranges, 12, 99, 99);
	nvtx_ranges__end(&ranges);
	assert_int_equal(ranges.count, 4);
	assert_int_equal(gpu_ns(&ranges, 2), 40);
	assert_int_equal(gpu_ns(&ranges, 99), 0);
	for (size_t i = 0; i < ranges.count; i++)
		if (ranges.list[i].key.name == 1)
			assert_int_equal(gpu_parts__all(&ranges.list[i].gpu).ns,
					 ranges.list[i].key.process.pid == 7 ? 45 : 0);
	assert_true(nvtx_ranges__apart(&ranges, 7, 0, &apart));
	assert_int_equal(apart.outside.parts[GPU_PART_KERNELS].ns, 1);
	assert_int_equal(apart.unknown.parts[GPU_PART_KERNELS].ns, 2);
	assert_int_equal(apart.in_ranges.parts[GPU_PART_KERNELS].ns, 45);
	assert_false(nvtx_ranges__apart(&ranges, 8, 0, &apart));
	times.share = 0.1;
	assert_false(nvtx_ranges__apart(&ranges, 7, 0, &apart));
	gpu_paths__clear(&process.paths);
	HASH_CLEAR(hh, times.processes);
	nvtx_ranges__clear(&ranges);
}

/* A range that has not ended is a row only if it has GPU times. */
static void test_open_ranges(void **state)
{
	const struct nvtx_key of = key(7, 1);
	const struct nvtx_record none = {0};
	struct nvtx_ranges ranges = {0};

	(void)state;
	nvtx_ranges__begin(&ranges, NULL);
	nvtx_ranges__add(&ranges, &of, &none);
	nvtx_ranges__end(&ranges);
	assert_int_equal(ranges.count, 0);
	nvtx_ranges__clear(&ranges);
}

/* More paths than BPF can have told are unknown. Work of no known kind is ignored. */
static void test_paths_are_limited(void **state)
{
	const struct gpu_work odd = {.kind = 77, .start_ns = 1, .end_ns = 2};
	struct gpu_paths paths = {0};

	(void)state;
	for (uint64_t i = 0; i < NVTX_PATHS + 10; i++)
		add_kernel(&paths, i + 10, 1);
	gpu_paths__add(&paths, &(struct gpu_joined){.work = &odd});
	assert_int_equal(HASH_COUNT(paths.table), NVTX_PATHS + 1);
	assert_int_equal(gpu_parts__all(&paths.unknown).count, 9);
	gpu_paths__clear(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_order),	  cmocka_unit_test(test_names_are_limited),
		cmocka_unit_test(test_gpu_times),	  cmocka_unit_test(test_open_ranges),
		cmocka_unit_test(test_paths_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
