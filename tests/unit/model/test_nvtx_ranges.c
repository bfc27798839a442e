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
		nvtx_ranges__begin(&ranges);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_order),
		cmocka_unit_test(test_names_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
