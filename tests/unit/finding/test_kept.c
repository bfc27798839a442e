// SPDX-License-Identifier: BSD-2-Clause
// Findings about leaking memory, by call site and by size, and similar healthy cases.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "finding_memory.h"

/* --- leaks by call site --- */

static const struct stack leaking_stack = {.serial = 7};

/* A process with stacks, one site of which has live memory. */
struct sited {
	struct run run;
	struct live_site live;
	struct call_site site;
	struct device_totals device;
	struct process_gpu process_gpu;
	struct gpu gpu;
	struct process process;
};

static void sited__begin(struct sited *s)
{
	*s = (struct sited){
		.live = {.stack = &leaking_stack, .oldest_ns = RUN_BEGAN},
		.site = {.stack = &leaking_stack,
			 .kind = SITE_ALLOCATION,
			 .row = row_of("cudaMalloc")},
		.gpu = {.uuid = "GPU-1",
			.mig = GPU_NONE,
			.total_bytes = 80 * GIB,
			.used_bytes = 10 * GIB},
		.process = PROCESS(NULL),
	};
	s->process.sites = &s->site;
	s->process.site_count = 1;
	s->process.live_sites = &s->live;
	s->process.live_site_count = 1;
	s->process.devices = &s->device;
	s->process.device_count = 1;
	s->process.gpus = &s->process_gpu;
	s->process.gpu_count = 1;
	run__begin(&s->run, &s->process, 1);
	s->run.model.stacks = true;
	s->run.model.gpus = &s->gpu;
	s->run.model.gpu_count = 1;
}

/* State at this second: number of 1 MiB allocations so far, and how many of them are live. */
static void sited__sample(struct sited *s, double seconds, uint64_t allocations, uint64_t live)
{
	s->site.calls = allocations;
	s->site.amount = allocations * MIB;
	s->live.bytes = live * MIB;
	s->live.count = live;
	s->live.newest_ns = RUN_BEGAN + (uint64_t)(seconds * 1e9);
	s->device.live_bytes = live * MIB;
	run__sample(&s->run, seconds);
}

static void test_leak_growing(void **state)
{
	struct sited s;
	const struct finding *finding;

	(void)state;
	sited__begin(&s);
	for (int t = 0; t <= 20; t++)
		sited__sample(&s, t, (uint64_t)t * 10, (uint64_t)t * 2);
	run__finds_nothing(&s.run);
	expect_trend(&s.run, "leak-growing", 1, 1, 20);
	for (int t = 21; t <= 100; t++)
		sited__sample(&s, t, (uint64_t)t * 10, (uint64_t)t * 2);
	finding = run__only(&s.run, "leak-growing");
	assert_int_equal(s.run.list.count, 1);
	assert_ptr_equal(finding->stack, &leaking_stack);
	assert_string_equal(finding->subject, "a call site of cudaMalloc");
	assert_true(fabs(number_of(finding, "growth_rate") - 2.0 * MIB) < 0.05 * MIB);
	assert_true(fabs(number_of(finding, "growth") / number_of(finding, "growth_time") * 1e9 -
			 2.0 * MIB) < 0.05 * MIB);
	assert_true(number_of(finding, "growth") <= 2.0 * 60 * MIB);
	assert_true(number_of(finding, "growth") >= 2.0 * 50 * MIB);
	assert_true(number_of(finding, "live_allocations") == 200);
	assert_true(number_of(finding, "frees") == 800);
	/* 70 GiB are left, 2 MiB are taken per second. */
	assert_true(fabs(number_of(finding, "full_in") - 35840e9) < 1000e9);
	assert_non_null(strstr(finding->evidence, "live memory of this call site grew by 10"));
	assert_non_null(strstr(finding->evidence,
			       "(2.0 MiB/s), to 200.0 MiB in 200 allocations; at this pace its "
			       "device is full in 9 h 57 min"));
	run__set(&s.run, "leak-growing=1GiB");
	run__finds_nothing(&s.run);
	run__set(&s.run, "leak-growing=1M");
	run__detect(&s.run);
	expect_trend(&s.run, "leak-growing", 1, 0, 0);
	/* It grew until the process ended, and was live then: one finding. */
	end(&s.run, &s.process, 100);
	finding = run__only(&s.run, "leak-at-exit");
	assert_int_equal(s.run.list.count, 1);
	assert_non_null(strstr(finding->evidence,
			       "to 200.0 MiB in 200 allocations when the process ended"));
	assert_ptr_equal(finding->stack, &leaking_stack);
	run__end(&s.run);
}

/*
 * Nothing was ever freed, but it grew to the end. With stacks, sizes are not reported in addition
 * to sites.
 */
static void test_grew_to_the_end(void **state)
{
	struct profile_size size = size_of("cudaMalloc", MIB, 200, 180, 20);
	struct profile profile = {.sizes = &size, .size_count = 1};
	struct sited s;

	(void)state;
	sited__begin(&s);
	s.process.profile = &profile;
	for (int t = 0; t <= 100; t++)
		sited__sample(&s, t, (uint64_t)t * 3, (uint64_t)t * 3);
	assert_int_equal(run__count(&s.run, "leak-growing"), 1);
	assert_int_equal(s.run.list.count, 1);
	end(&s.run, &s.process, 100);
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	assert_int_equal(s.run.list.count, 1);
	run__end(&s.run);
}

/* Memory that was live before the attach is not counted, its replacements are. */
static void test_replaced_is_no_growth(void **state)
{
	struct sited s;

	(void)state;
	sited__begin(&s);
	s.process.since_attach = true;
	for (int t = 0; t <= 100; t++) {
		s.process.memory[MEMORY_UNKNOWN].unknown_frees = (uint64_t)t * 3;
		sited__sample(&s, t, (uint64_t)t * 3, (uint64_t)t * 3);
	}
	run__finds_nothing(&s.run);
	run__end(&s.run);
}

/*
 * Memory that is set up once, comes and goes, or has stopped growing does not grow; at exit none of
 * it is a leak.
 */
static void test_nothing_leaks(void **state)
{
	struct sited s;

	(void)state;
	/*
	 * PyTorch's caching allocator: it takes segments in the first steps, and never frees any.
	 */
	sited__begin(&s);
	for (int t = 0; t <= 100; t++)
		sited__sample(&s, t, t < 30 ? (uint64_t)t * 20 : 600,
			      t < 30 ? (uint64_t)t * 20 : 600);
	run__finds_nothing(&s.run);
	end(&s.run, &s.process, 100);
	run__finds_nothing(&s.run);
	run__end(&s.run);
	/* Batches that fill up and are freed; the process ends in the middle of one. */
	sited__begin(&s);
	for (int t = 0; t <= 100; t++)
		sited__sample(&s, t, (uint64_t)t * 1000, (uint64_t)(t % 7));
	run__finds_nothing(&s.run);
	s.live.oldest_ns = RUN_BEGAN + 99990 * NS_PER_MS;
	end(&s.run, &s.process, 100);
	run__finds_nothing(&s.run);
	s.live.oldest_ns = RUN_BEGAN + 91 * NS_PER_S;
	run__finds_nothing(&s.run);
	/* The same with the oldest from 11 s before: it was not in use. */
	s.live.oldest_ns = RUN_BEGAN + 89 * NS_PER_S;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	run__end(&s.run);
}

static void test_leak_at_exit(void **state)
{
	struct sited s;
	const struct finding *finding;

	(void)state;
	sited__begin(&s);
	/* Too short to say whether it grew: one in ten is kept. */
	sited__sample(&s, 1, 200, 20);
	run__finds_nothing(&s.run);
	expect_trend(&s.run, "leak-growing", 1, 1, 0);
	expect_trend(&s.run, "leak-at-exit", 0, 0, 0);
	end(&s.run, &s.process, 2);
	finding = run__only(&s.run, "leak-at-exit");
	assert_int_equal(s.run.list.count, 1);
	assert_string_equal(
		finding->evidence,
		"180 of 200 allocations of this call site were freed, and 20 (20.0 MiB) "
		"were not: live when the process ended");
	assert_true(number_of(finding, "live_bytes") == 20.0 * MIB);
	/* They are from the last step, or the latest allocations at the run's pace. */
	s.live.oldest_ns = RUN_BEGAN + 1850 * NS_PER_MS;
	run__finds_nothing(&s.run);
	s.live.count = 60;
	s.live.bytes = 60 * MIB;
	s.live.oldest_ns = RUN_BEGAN + 1500 * NS_PER_MS;
	run__finds_nothing(&s.run);
	s.live.oldest_ns = RUN_BEGAN + 1300 * NS_PER_MS;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	s.live.oldest_ns = RUN_BEGAN;
	expect_trend(&s.run, "leak-at-exit", 1, 0, 0);
	/* Half is not most. */
	s.live.count = 100;
	s.live.bytes = 100 * MIB;
	run__finds_nothing(&s.run);
	expect_trend(&s.run, "leak-growing", 0, 0, 0);
	expect_trend(&s.run, "leak-at-exit", 1, 1, 1);
	run__set(&s.run, "leak-at-exit.freed=40%");
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	run__set(&s.run, "leak-at-exit=101M");
	run__finds_nothing(&s.run);
	run__end(&s.run);
}

/* In a short burst, the times of the function's allocations show what was made first. */
static void test_leak_at_exit_of_a_burst(void **state)
{
	struct profile_size sizes[] = {size_of("cudaMalloc", MIB, 0, 0, 0),
				       size_of("cudaMalloc", 5 * MIB, 0, 0, 0)};
	struct profile profile = {.sizes = sizes, .size_count = 2};
	struct sited s;

	(void)state;
	sited__begin(&s);
	s.process.profile = &profile;
	sited__sample(&s, 1, 200, 20);
	/* The 1 MiB ones came within a millisecond of a minute, the other size came before. */
	sizes[0].record.first_ns = RUN_BEGAN + 50 * NS_PER_S;
	sizes[0].record.latest_ns = RUN_BEGAN + 50 * NS_PER_S + NS_PER_MS;
	sizes[1].record.first_ns = RUN_BEGAN;
	sizes[1].record.latest_ns = RUN_BEGAN;
	end(&s.run, &s.process, 60);
	s.live.oldest_ns = sizes[0].record.first_ns + NS_PER_MS / 20;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	s.live.oldest_ns = sizes[0].record.latest_ns - NS_PER_MS / 20;
	run__finds_nothing(&s.run);
	/* With several sizes only the function's first and last time are known. */
	s.live.oldest_ns = sizes[0].record.first_ns;
	s.site.amount--;
	run__finds_nothing(&s.run);
	run__end(&s.run);
}

/* A buffer that is repeatedly replaced by a larger one; the last one is in use to the end. */
static void test_buffer_that_grew(void **state)
{
	struct sited s;

	(void)state;
	sited__begin(&s);
	sited__sample(&s, 1, 10, 1);
	s.site.amount = 55 * MIB;
	s.live.bytes = 10 * MIB;
	end(&s.run, &s.process, 60);
	run__finds_nothing(&s.run);
	/* Two of them. */
	s.live.count = 2;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	/* One of several of the same size: others came after it. */
	s.live.count = 1;
	s.live.bytes = MIB;
	s.site.amount = 10 * MIB;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	run__end(&s.run);
}

/*
 * If not everything is known, or the allocations may be from several call sites, frees are not
 * mentioned.
 */
static void test_leak_at_exit_not_known(void **state)
{
	struct sited s;

	(void)state;
	sited__begin(&s);
	sited__sample(&s, 1, 200, 20);
	end(&s.run, &s.process, 2);
	s.run.model.lost[LOSS_ALLOCATION_MAP_FULL] = 1;
	run__finds_nothing(&s.run);
	s.run.model.lost[LOSS_ALLOCATION_MAP_FULL] = 0;
	assert_int_equal(run__count(&s.run, "leak-at-exit"), 1);
	s.live.stack = s.site.stack = NULL;
	run__finds_nothing(&s.run);
	run__end(&s.run);
}

/* --- leaks by size, where no stacks are taken --- */

static void test_leaks_by_size(void **state)
{
	struct profile_size sizes[] = {size_of("cudaMalloc", MIB, 0, 0, 0),
				       size_of("cudaMalloc", 2 * MIB, 64, 0, 64)};
	struct profile profile = {.sizes = sizes, .size_count = 2};
	struct process process = PROCESS(&profile);
	struct run run;
	const struct finding *finding;

	(void)state;
	run__begin(&run, &process, 1);
	for (int t = 0; t <= 100; t++) {
		sizes[0].record = (struct size_record){
			.allocations = (uint64_t)t * 3,
			.frees = (uint64_t)t * 2,
			.live = (uint64_t)t,
			.peak = (uint64_t)t,
		};
		run__sample(&run, t);
	}
	finding = run__only(&run, "leak-growing");
	assert_int_equal(run.list.count, 1);
	assert_string_equal(finding->subject, "cudaMalloc of 1.0 MiB");
	assert_null(finding->stack);
	assert_non_null(strstr(finding->evidence, "live memory of this size grew by"));
	end(&run, &process, 100);
	assert_string_equal(run__only(&run, "leak-at-exit")->subject, "cudaMalloc of 1.0 MiB");
	assert_int_equal(run.list.count, 1);
	run__end(&run);
}

static void test_leak_at_exit_by_size(void **state)
{
	struct profile_size sizes[] = {size_of("cudaMalloc", MIB, 200, 180, 21)};
	struct profile profile = {.sizes = sizes, .size_count = 1};
	struct process process = PROCESS(&profile);
	struct run run;

	(void)state;
	run__begin(&run, &process, 1);
	end(&run, &process, 60);
	assert_string_equal(run__only(&run, "leak-at-exit")->evidence,
			    "180 of 200 allocations of this size were freed, and 20 (20.0 MiB) "
			    "were not: live when the "
			    "process ended");
	/* Fewer than at its peak: what is kept does not accumulate. */
	sizes[0].record.peak = 40;
	run__finds_nothing(&run);
	/* Memory that the process was using. */
	sizes[0] = size_of("cudaMalloc", MIB, 2000, 1996, 4);
	run__finds_nothing(&run);
	sizes[0] = size_of("cudaMalloc", 20 * MIB, 20, 19, 1);
	run__finds_nothing(&run);
	/* Address ranges are not memory, and mapped memory is counted where it was created. */
	sizes[0] = size_of("cudaMalloc", MIB, 200, 180, 20);
	sizes[0].key.kind = MEMORY_RESERVED;
	run__finds_nothing(&run);
	sizes[0].key.kind = MEMORY_HOST;
	assert_int_equal(run__count(&run, "leak-at-exit"), 1);
	run__end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leak_growing),
		cmocka_unit_test(test_grew_to_the_end),
		cmocka_unit_test(test_replaced_is_no_growth),
		cmocka_unit_test(test_nothing_leaks),
		cmocka_unit_test(test_leak_at_exit),
		cmocka_unit_test(test_leak_at_exit_of_a_burst),
		cmocka_unit_test(test_buffer_that_grew),
		cmocka_unit_test(test_leak_at_exit_not_known),
		cmocka_unit_test(test_leaks_by_size),
		cmocka_unit_test(test_leak_at_exit_by_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
