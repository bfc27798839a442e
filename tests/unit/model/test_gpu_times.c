// SPDX-License-Identifier: BSD-2-Clause
// GPU times are summed up by kernel and kind; what a program may send cannot take more room.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "model/gpu_times.h"

static struct gpu_times_work batch(int pid)
{
	return (struct gpu_times_work){.head = {.function = GPU_TIMES_WORK, .pid = pid}};
}

static void add(struct gpu_times_work *batch, struct gpu_work work)
{
	batch->work[batch->count++] = work;
}

static struct gpu_work kernel(uint64_t name, uint64_t start_ns, uint64_t end_ns)
{
	return (struct gpu_work){
		.kind = GPU_WORK_KERNEL, .name = name, .start_ns = start_ns, .end_ns = end_ns};
}

static void tell_name(struct gpu_times *times, int pid, uint64_t number, const char *text)
{
	struct gpu_times_name record = {.head = {.function = GPU_TIMES_NAME, .pid = pid},
					.name = number};

	snprintf(record.text, sizeof(record.text), "%s", text);
	gpu_times__take(times, &record, sizeof(record));
}

static void test_sums(void **state)
{
	struct gpu_times times = {0};
	struct gpu_times_work record = batch(7);
	const struct gpu_process_times *process;
	const struct gpu_kernel_time **sorted;
	size_t count;

	(void)state;
	add(&record, kernel(1, 100, 110));
	add(&record, kernel(2, 100, 200));
	add(&record, kernel(1, 300, 330));
	add(&record, kernel(1, 0, 0));
	add(&record, (struct gpu_work){.kind = GPU_WORK_COPY,
				       .copy = GPU_COPY_D2H,
				       .bytes = 50,
				       .start_ns = 400,
				       .end_ns = 405});
	add(&record,
	    (struct gpu_work){
		    .kind = GPU_WORK_GRAPH_KERNEL, .name = 1, .start_ns = 500, .end_ns = 520});
	gpu_times__take(&times, &record, sizeof(record));
	tell_name(&times, 7, 2, "two");
	tell_name(&times, 7, 2, "another");
	process = gpu_times__find(&times, 7, 0);
	assert_non_null(process);
	assert_int_equal(process->kernel_count, 2);
	assert_int_equal(process->all_kernels.count, 5);
	assert_int_equal(process->graph_kernels.count, 1);
	assert_int_equal(process->graph_kernels.ns, 20);
	assert_int_equal(process->all_kernels.untimed, 1);
	assert_int_equal(process->all_kernels.ns, 160);
	assert_int_equal(process->copies[GPU_COPY_D2H].bytes, 50);
	assert_int_equal(process->copies[GPU_COPY_D2H].ns, 5);
	assert_int_equal(busy_time__ns(&process->busy[0]), 155);
	tell_name(&times, 7, 3, "never ran");
	sorted = gpu_times__sort(process, &count);
	assert_int_equal(count, 2);
	assert_string_equal(sorted[0]->name, "two");
	assert_null(sorted[1]->name);
	assert_int_equal(sorted[1]->sum.min_ns, 10);
	assert_int_equal(sorted[1]->sum.max_ns, 30);
	assert_int_equal(gpu_time_sum__mean(&sorted[1]->sum), 20);
	free(sorted);
	gpu_times__clear(&times);
}

static void test_kernels_are_limited(void **state)
{
	struct gpu_times times = {0};
	const struct gpu_process_times *process;

	(void)state;
	for (uint64_t name = 0; name < GPU_TIMES_KERNELS + 10; name++) {
		struct gpu_times_work record = batch(7);

		add(&record, kernel(name, 10, 11));
		gpu_times__take(&times, &record, sizeof(record));
	}
	process = gpu_times__find(&times, 7, 0);
	assert_int_equal(process->kernel_count, GPU_TIMES_KERNELS);
	assert_int_equal(process->other_kernels.count, 10);
	assert_int_equal(process->all_kernels.count, GPU_TIMES_KERNELS + 10);
	gpu_times__clear(&times);
}

static void test_processes_are_limited(void **state)
{
	struct gpu_times times = {0};

	(void)state;
	for (int pid = 1; pid <= GPU_TIMES_PROCESSES + 5; pid++) {
		struct gpu_times_work record = batch(pid);

		add(&record, kernel(1, 10, 11));
		record.dropped = 2;
		gpu_times__take(&times, &record, sizeof(record));
		tell_name(&times, pid, 1, "one");
	}
	assert_int_equal(times.process_count, GPU_TIMES_PROCESSES);
	assert_true(times.device_count <= GPU_TIMES_ALL_DEVICES);
	assert_int_equal(times.lost_work, 15);
	assert_int_equal(times.lost_names, 5);
	gpu_times__clear(&times);
}

static void test_nonsense(void **state)
{
	struct gpu_times times = {0};
	struct gpu_times_work record = batch(7);
	const struct gpu_process_times *process;

	(void)state;
	add(&record, (struct gpu_work){.kind = 200});
	add(&record, (struct gpu_work){.kind = GPU_WORK_COPY, .copy = 99, .bytes = UINT64_MAX});
	add(&record, (struct gpu_work){.kind = GPU_WORK_COPY, .copy = 98, .bytes = UINT64_MAX});
	add(&record,
	    (struct gpu_work){.kind = GPU_WORK_SET, .device = 4000, .start_ns = 1, .end_ns = 2});
	add(&record, kernel(1, 20, 10));
	add(&record, kernel(1, 1, UINT64_MAX));
	add(&record, kernel(1, 1, UINT64_MAX));
	record.count = UINT64_MAX;
	gpu_times__take(&times, &record, sizeof(record));
	gpu_times__take(&times, &record, sizeof(record) - 1);
	gpu_times__take(&times, &record, 3);
	process = gpu_times__find(&times, 7, 0);
	assert_int_equal(process->refused, 1 + GPU_TIMES_BATCH - 7);
	assert_int_equal(process->copies[GPU_COPY_UNKNOWN].count, 2);
	assert_true(process->copies[GPU_COPY_UNKNOWN].bytes == UINT64_MAX);
	assert_int_equal(process->unknown_devices, 1);
	assert_int_equal(process->all_kernels.untimed, 1);
	assert_true(process->all_kernels.ns == UINT64_MAX);
	assert_true(busy_time__ns(&process->busy[0]) == UINT64_MAX - 1);
	gpu_times__clear(&times);
}

/* Work of a program's own profiler is not joined with calls; its trace belongs to the process. */
static void test_own_profilers(void **state)
{
	struct gpu_times times = {.own_profilers = true};
	struct gpu_times_work record = batch(7);
	const struct gpu_process_times *process;
	struct gpu_own_profile *own = gpu_times__own_profile(&times, 7, 0);

	(void)state;
	own->asked_ns = 5;
	add(&record, kernel(1, 100, 110));
	add(&record, (struct gpu_work){.kind = GPU_WORK_CALL, .start_ns = 1, .end_ns = 2});
	gpu_times__take(&times, &record, sizeof(record));
	process = gpu_times__find(&times, 7, 0);
	assert_int_equal(process->own.asked_ns, 5);
	assert_int_equal(process->all_kernels.count, 1);
	assert_null(process->join);
	assert_int_equal(times.join_count, 0);
	assert_ptr_equal(gpu_times__own_profile(&times, 7, 0), own);
	gpu_times__clear(&times);
	assert_true(times.own_profilers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_kernels_are_limited),
		cmocka_unit_test(test_processes_are_limited),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_own_profilers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
