// SPDX-License-Identifier: BSD-2-Clause
// Findings about memory that is churned or left unused, and similar healthy cases.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "finding_memory.h"

/* --- alloc-churn --- */

static void test_churn(void **state)
{
	struct profile_size sizes[] = {size_of("cudaMalloc", GIB, 1000, 1000, 1)};
	struct profile profile = {.sizes = sizes, .size_count = 1};
	struct process process = PROCESS(&profile);
	struct run run;
	const struct finding *finding;

	(void)state;
	run__begin(&run, &process, 1);
	run.model.now_ns = RUN_BEGAN + 2 * NS_PER_S;
	finding = run__only(&run, "alloc-churn");
	assert_int_equal(run.list.count, 1);
	assert_int_equal(finding->pid, 12);
	assert_string_equal(finding->comm, "train");
	assert_string_equal(finding->subject, "cudaMalloc of 1.0 GiB");
	assert_string_equal(
		finding->evidence,
		"1,000 allocations of 1.0 GiB by cudaMalloc (412 us each) and 1,000 frees "
		"(23.0 us each), at most 1 live at a time; that took 435 ms, 21.7 % of the 2.0 s "
		"that were "
		"watched");
	/* All but the first allocation. */
	assert_int_equal(finding->cost_ns, 435000000 - 412000);
	assert_true(fabs(finding->share - 0.217294) < 1e-9);
	/* All but the first pair. */
	assert_int_equal(finding->saving_ns, 435000000 - 435000);
	assert_int_equal((int)number_of(finding, "allocations"), 1000);
	assert_true(number_of(finding, "size") == (double)GIB);
	assert_true(number_of(finding, "free_mean") == 23000);
	/* The first allocation created the context: that is not churn. */
	sizes[0].record.allocation_ns += 220 * NS_PER_MS;
	sizes[0].record.first_took_ns += 220 * NS_PER_MS;
	finding = run__only(&run, "alloc-churn");
	assert_int_equal(finding->cost_ns, 435000000 - 412000);
	assert_int_equal(finding->saving_ns, 435000000 - 435000);
	run__end(&run);
}

/* One finding per function; with several sizes it shows the one that took most time. */
static void test_churn_of_several_sizes(void **state)
{
	struct profile_size sizes[] = {
		size_of("cudaMalloc", MIB, 100, 100, 2),
		size_of("cudaMalloc", 2 * MIB, 300, 300, 4),
		size_of("cudaMallocHost", MIB, 50, 50, 1),
		/* Not churned: kept, made once, or all live at once. */
		size_of("cudaMalloc", 3 * MIB, 500, 0, 500),
		size_of("cudaMalloc", 4 * MIB, 1, 1, 1),
		size_of("cudaMalloc", 5 * MIB, 700, 700, 700),
	};
	struct profile profile = {.sizes = sizes, .size_count = sizeof(sizes) / sizeof(*sizes)};
	struct process process = PROCESS(&profile);
	struct run run;
	const struct finding *finding;

	(void)state;
	run__begin(&run, &process, 1);
	run.model.now_ns = RUN_BEGAN + NS_PER_S;
	assert_int_equal(run__count(&run, "alloc-churn"), 2);
	finding = &run.list.items[0];
	assert_string_equal(finding->subject, "cudaMalloc of 2.0 MiB");
	assert_int_equal(finding->cost_ns, 400 * 435000 - 2 * 412000);
	assert_int_equal(finding->saving_ns, (400 - 2 - 4) * 435000);
	assert_int_equal((int)number_of(finding, "sizes"), 2);
	assert_true(number_of(finding, "all_bytes") == (double)(700 * MIB));
	assert_non_null(
		strstr(finding->evidence, "that took 173 ms, with 1 other size, 17.3 % of"));
	assert_string_equal(run.list.items[1].subject, "cudaMallocHost of 1.0 MiB");
	run__end(&run);
}

static void test_no_churn(void **state)
{
	struct profile_size sizes[100];
	struct profile profile = {.sizes = sizes, .size_count = 100};
	struct process process = PROCESS(&profile);
	struct run run;

	(void)state;
	/* A hundred sizes, each allocated once and freed at the end. */
	for (size_t i = 0; i < 100; i++)
		sizes[i] = size_of("cudaMalloc", MIB + i, 1, 1, 1);
	run__begin(&run, &process, 1);
	run.model.now_ns = RUN_BEGAN + NS_PER_S / 10;
	run__finds_nothing(&run);
	/* A hundred buffers of one size, all live at once. */
	sizes[0] = size_of("cudaMalloc", MIB, 100, 100, 100);
	profile.size_count = 1;
	run__finds_nothing(&run);
	/* The same in nine steps: each buffer is refilled nine times. With ten it is churn. */
	sizes[0] = size_of("cudaMalloc", MIB, 900, 900, 100);
	run__finds_nothing(&run);
	sizes[0] = size_of("cudaMalloc", MIB, 1000, 1000, 100);
	assert_int_equal(run__count(&run, "alloc-churn"), 1);
	/* It costs almost nothing. */
	run.model.now_ns = RUN_BEGAN + 60 * NS_PER_S;
	run__finds_nothing(&run);
	run__set(&run, "alloc-churn=0.1%");
	assert_int_equal(run__count(&run, "alloc-churn"), 1);
	run__set(&run, "alloc-churn.pairs=11");
	run__finds_nothing(&run);
	run__end(&run);
}

/* The call site is named if it allocated only this size, with its share. */
static void test_churn_has_a_call_site(void **state)
{
	static const struct stack stacks[2] = {{.serial = 1}, {.serial = 2}};
	struct profile_size sizes[] = {size_of("cudaMalloc", MIB, 1000, 1000, 1)};
	struct call_site sites[] = {
		{.stack = &stacks[0],
		 .kind = SITE_ALLOCATION,
		 .row = row_of("cudaMalloc"),
		 .calls = 10,
		 .amount = GIB},
		{
			.stack = &stacks[1],
			.kind = SITE_ALLOCATION,
			.row = row_of("cudaMalloc"),
			.calls = 990,
			.amount = 990 * MIB,
		},
	};
	struct profile profile = {.sizes = sizes, .size_count = 1};
	struct process process = PROCESS(&profile);
	struct run run;

	(void)state;
	process.sites = sites;
	process.site_count = 2;
	run__begin(&run, &process, 1);
	run.model.now_ns = RUN_BEGAN + NS_PER_S;
	assert_ptr_equal(run__only(&run, "alloc-churn")->stack, &stacks[1]);
	assert_true(number_of(run__only(&run, "alloc-churn"), "allocations_here") == 990);
	sites[1].amount++;
	assert_null(run__only(&run, "alloc-churn")->stack);
	run__end(&run);
}

/* --- fragmentation --- */

static void test_unused_pool(void **state)
{
	struct pool_totals pool = {.handle = 0x10, .used = GIB, .reserved = 10 * GIB};
	struct process process = PROCESS(NULL);
	struct run run;
	const struct finding *finding;

	(void)state;
	process.pools = &pool;
	process.pool_count = 1;
	run__begin(&run, &process, 1);
	for (int t = 0; t <= 39; t++) {
		pool.used = t % 2 ? GIB : 2 * GIB;
		run__sample(&run, t);
	}
	run__finds_nothing(&run);
	expect_trend(&run, "fragmentation", 1, 1, 39);
	/* The lowest value already decides it. */
	run__set(&run, "fragmentation=90%");
	run__finds_nothing(&run);
	expect_trend(&run, "fragmentation", 1, 0, 0);
	run__set(&run, "fragmentation=50%");
	for (int t = 40; t <= 60; t++)
		run__sample(&run, t);
	finding = run__only(&run, "fragmentation");
	assert_int_equal(run.list.count, 1);
	assert_string_equal(finding->subject, "memory pool 0x10 of device 0");
	assert_string_equal(finding->evidence, "of 10.0 GiB that the pool has reserved at least "
					       "8.0 GiB (80.0 %) were not used for 60.0 s, "
					       "at each of 61 readings");
	assert_true(number_of(finding, "unused") == 8.0 * GIB);
	run__set(&run, "fragmentation=90%");
	run__finds_nothing(&run);
	run__set(&run, "fragmentation=50%");
	run__set(&run, "fragmentation.bytes=9G");
	run__finds_nothing(&run);
	run__end(&run);
}

/* A pool that each step fills and empties: it is in use at some readings. */
static void test_pool_in_use(void **state)
{
	struct pool_totals pool = {.handle = 0x10, .reserved = 10 * GIB};
	struct process process = PROCESS(NULL);
	struct run run;

	(void)state;
	process.pools = &pool;
	process.pool_count = 1;
	run__begin(&run, &process, 1);
	for (int t = 0; t <= 120; t++) {
		pool.used = t % 30 == 29 ? 8 * GIB : 0;
		run__sample(&run, t);
	}
	run__finds_nothing(&run);
	/* It is no longer in use. */
	for (int t = 121; t <= 181; t++) {
		pool.used = 0;
		run__sample(&run, t);
	}
	assert_int_equal(run__count(&run, "fragmentation"), 1);
	run__end(&run);
}

static void test_unmapped(void **state)
{
	struct process process = PROCESS(NULL);
	struct run run;
	const struct finding *finding;

	(void)state;
	process.memory[MEMORY_PHYSICAL] =
		(struct memory_totals){.allocations = 512, .live_bytes = GIB};
	process.memory[MEMORY_MAPPED].live_bytes = GIB / 4;
	run__begin(&run, &process, 1);
	for (int t = 0; t <= 60; t++)
		run__sample(&run, t);
	finding = run__only(&run, "fragmentation");
	assert_string_equal(finding->subject, "physical memory that is mapped nowhere");
	assert_string_equal(finding->evidence,
			    "of 1.0 GiB that were created at least 768.0 MiB (75.0 %) were mapped "
			    "nowhere and so not used for 60.0 s, at each of 61 readings");
	/* PyTorch's expandable segments: everything is mapped. */
	process.memory[MEMORY_MAPPED].live_bytes = GIB;
	run__sample(&run, 61);
	run__finds_nothing(&run);
	run__end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_churn),	    cmocka_unit_test(test_churn_of_several_sizes),
		cmocka_unit_test(test_no_churn),    cmocka_unit_test(test_churn_has_a_call_site),
		cmocka_unit_test(test_unused_pool), cmocka_unit_test(test_pool_in_use),
		cmocka_unit_test(test_unmapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
