// SPDX-License-Identifier: BSD-2-Clause
// Totals from bursts: the count of calls times the mean, and how far it can be trusted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/gpu_estimate.h"

static void add(struct gpu_times *times, uint64_t name, uint16_t burst, uint64_t ns)
{
	struct gpu_times_work record = {
		.head = {.function = GPU_TIMES_WORK, .pid = 7},
		.count = 1,
		.work = {{.kind = GPU_WORK_KERNEL,
			  .name = name,
			  .start_ns = 100,
			  .end_ns = 100 + ns,
			  .burst = burst}},
	};

	gpu_times__take(times, &record, sizeof(record));
}

static void tell_name(struct gpu_times *times, uint64_t number, const char *text)
{
	struct gpu_times_name record = {.head = {.function = GPU_TIMES_NAME, .pid = 7},
					.name = number};

	snprintf(record.text, sizeof(record.text), "%s", text);
	gpu_times__take(times, &record, sizeof(record));
}

/* Two bursts with means 10 and 30: t is 12.71 for one degree of freedom. */
static void test_error(void **state)
{
	struct gpu_sample sample = {0};

	(void)state;
	assert_true(gpu_sample__error(&sample) < 0);
	gpu_sample__add(&sample, 1, 10);
	gpu_sample__add(&sample, 1, 10);
	assert_true(gpu_sample__error(&sample) < 0);
	gpu_sample__add(&sample, 2, 30);
	gpu_sample__add(&sample, 2, 30);
	/* mean 20, deviations of the sums -20 and 20: 12.71 * sqrt(800 * 2 / 1) / 80 */
	assert_in_range(gpu_sample__error(&sample) * 1000, 6354, 6356);
}

static void test_equal_times_have_no_error(void **state)
{
	struct gpu_sample sample = {0};

	(void)state;
	for (uint16_t burst = 1; burst < 100; burst++)
		for (int i = 0; i < burst; i++)
			gpu_sample__add(&sample, burst, 123456789);
	assert_int_equal(sample.bursts, 99);
	assert_true(gpu_sample__error(&sample) >= 0 && gpu_sample__error(&sample) < 1e-6);
}

/* 95 % of the intervals hold the truth; times of a burst resemble each other. */
static void test_intervals(void **state)
{
	unsigned int held = 0;

	(void)state;
	srand(1);
	for (int run = 0; run < 1000; run++) {
		struct gpu_sample sample = {0};
		double error, mean;

		for (uint16_t burst = 1; burst <= 20; burst++) {
			uint64_t base = 500 + (uint64_t)rand() % 1001;

			for (int i = 0; i < 50; i++)
				gpu_sample__add(&sample, burst, base + (uint64_t)rand() % 11);
		}
		error = gpu_sample__error(&sample);
		mean = (sample.total_ns + sample.ns) / (sample.counts + sample.count);
		held += mean * (1 - error) <= 1005 && mean * (1 + error) >= 1005;
	}
	assert_in_range(held, 920, 980);
}

static void test_totals(void **state)
{
	struct gpu_times times = {.share = 0.1};
	char one[] = "one", two[] = "two", unseen[] = "unseen";
	struct kernel kernels[] = {{.name = one, .launches = 1000},
				   {.name = two, .launches = 10},
				   {.name = unseen, .launches = 5},
				   {.launches = 3}};
	struct process process = {
		.kernels = kernels, .kernel_count = 4, .launches = 1018, .pid = 7};
	struct gpu_kernel_estimates estimates;

	(void)state;
	add(&times, 1, 1, 10);
	add(&times, 1, 2, 30);
	add(&times, 2, 1, 100);
	add(&times, 3, 2, 100);
	tell_name(&times, 1, "one");
	tell_name(&times, 2, "two");
	tell_name(&times, 3, "by another library");
	assert_int_equal(gpu_times__find(&times, 7, 0)->bursts, 4);
	assert_int_equal(
		gpu_kernel_estimates__make(gpu_times__find(&times, 7, 0), &process, &estimates), 0);
	assert_int_equal(estimates.count, 3);
	assert_string_equal(estimates.list[0].name, "one");
	assert_int_equal(estimates.list[0].estimate.ns, 20000);
	assert_int_equal(estimates.list[0].estimate.calls, 1000);
	assert_string_equal(estimates.list[1].name, "two");
	assert_int_equal(estimates.list[1].estimate.ns, 1000);
	assert_true(estimates.list[1].estimate.error < 0);
	assert_false(estimates.list[2].estimate.known);
	assert_int_equal(estimates.unseen_launches, 8);
	gpu_kernel_estimates__clear(&estimates);
	gpu_times__clear(&times);
}

/* How many copies of a kind ran is not known if addresses decided on some. */
static void test_copies(void **state)
{
	struct gpu_process_times times = {0};
	struct process process = {0};

	(void)state;
	times.copies[GPU_COPY_H2D] = (struct gpu_time_sum){.count = 4, .ns = 40};
	times.sets = times.copies[GPU_COPY_H2A] = times.copies[GPU_COPY_H2D];
	process.copies[COPY_H2D][0].calls = 7;
	process.copies[COPY_H2D][1].calls = 3;
	process.copies[COPY_SET][1].unfollowed_calls = 5;
	assert_int_equal(gpu_estimate__copies(&times, &process, GPU_COPY_H2D).ns, 100);
	assert_int_equal(gpu_estimate__sets(&times, &process).ns, 50);
	assert_false(gpu_estimate__copies(&times, &process, GPU_COPY_H2A).known);
	assert_false(gpu_estimate__copies(&times, &process, GPU_COPY_D2H).known);
	process.copies[COPY_DEFAULT][0].calls = 1;
	assert_false(gpu_estimate__copies(&times, &process, GPU_COPY_H2D).known);
}

/* Kernels in graphs have no row of their own: only how many ran in all is known. */
static void test_graphs(void **state)
{
	struct gpu_process_times times = {.graph_kernels = {.count = 4, .ns = 40}};
	struct process process = {.graph_kernels = 1000};

	(void)state;
	assert_int_equal(gpu_estimate__graphs(&times, &process).ns, 10000);
	process.graph_launches_of_unknown_size = 1;
	assert_false(gpu_estimate__graphs(&times, &process).known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error),	  cmocka_unit_test(test_equal_times_have_no_error),
		cmocka_unit_test(test_intervals), cmocka_unit_test(test_totals),
		cmocka_unit_test(test_copies),	  cmocka_unit_test(test_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
