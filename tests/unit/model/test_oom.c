// SPDX-License-Identifier: BSD-2-Clause
// The likely cause of an allocation that failed for good, and what grew before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/oom.h"

#define GIB (1ull << 30)
#define MIB (1ull << 20)

static const struct stack leak = {.serial = 7}, other = {.serial = 8};

/* A full GPU of 80 GiB, of which the process has 79. */
static struct oom full(uint64_t bytes)
{
	return (struct oom){.bytes = bytes,
			    .total = 80 * GIB,
			    .used = 79 * GIB,
			    .own = 79 * GIB,
			    .tracked = 78 * GIB};
}

static void test_one_large_request(void **state)
{
	struct oom oom = full(100 * GIB);

	(void)state;
	assert_int_equal(oom__judge(&oom), OOM_LARGE_REQUEST);
	oom.bytes = 40 * GIB;
	assert_int_equal(oom__judge(&oom), OOM_LARGE_REQUEST);
	oom.bytes = 2 * GIB;
	assert_int_equal(oom__judge(&oom), OOM_OWN_MEMORY);
}

static void test_leak(void **state)
{
	static const struct live_site site = {.stack = &leak};
	struct oom oom = full(GIB);

	(void)state;
	oom.increase = (struct site_increase){.site = &site, .bytes = 20 * GIB, .count = 2000};
	assert_int_equal(oom__judge(&oom), OOM_LEAK);
	/* A cache that was filled at once is no leak. */
	oom.increase.count = 2;
	assert_int_equal(oom__judge(&oom), OOM_OWN_MEMORY);
	/* Little of what there is, and of that nothing was freed. */
	oom.increase.count = 2000;
	oom.increase.bytes = 3 * GIB;
	assert_int_equal(oom__judge(&oom), OOM_OWN_MEMORY);
	oom.increase_kept = true;
	assert_int_equal(oom__judge(&oom), OOM_LEAK);
	/* It grew by less than what was asked for. */
	oom.increase.count = 2000;
	oom.increase.bytes = GIB;
	assert_int_equal(oom__judge(&oom), OOM_OWN_MEMORY);
}

static void test_fragmentation(void **state)
{
	struct oom oom = full(GIB);

	(void)state;
	oom.of_tensors = true;
	oom.unused = 3 * GIB;
	oom.largest_hole = 100 * MIB;
	assert_int_equal(oom__judge(&oom), OOM_FRAGMENTATION);
	oom.unused = 100 * MIB;
	assert_int_equal(oom__judge(&oom), OOM_OWN_MEMORY);
}

static void test_others(void **state)
{
	struct oom oom = full(2 * GIB);

	(void)state;
	oom.own = oom.tracked = GIB;
	oom.others = 78 * GIB;
	oom.neighbour_count = 1;
	oom.neighbours[0].bytes = 78 * GIB;
	assert_int_equal(oom__judge(&oom), OOM_NEIGHBOUR);
	oom.neighbour_count = 40;
	oom.neighbours[0].bytes = 2 * GIB;
	assert_int_equal(oom__judge(&oom), OOM_MANY_PROCESSES);
	/* They hold less than what was asked for. */
	oom.others = GIB;
	assert_int_not_equal(oom__judge(&oom), OOM_MANY_PROCESSES);
}

static void test_limit_of_framework(void **state)
{
	struct oom oom = full(4 * GIB);

	(void)state;
	oom.used = 10 * GIB;
	oom.own = oom.tracked = 9 * GIB;
	assert_int_not_equal(oom__judge(&oom), OOM_LIMIT);
	oom.of_framework = true;
	assert_int_equal(oom__judge(&oom), OOM_LIMIT);
	/* NVML was too slow to see the memory that the failed call met. */
	oom.cuda_failed = true;
	assert_int_not_equal(oom__judge(&oom), OOM_LIMIT);
	oom.cuda_failed = false;
	oom.used = 78 * GIB;
	assert_int_not_equal(oom__judge(&oom), OOM_LIMIT);
	/* The process has ended: what is known to be held counts. */
	oom.used = oom.own = GPU_UNKNOWN_BYTES;
	assert_int_equal(oom__judge(&oom), OOM_LIMIT);
	oom.others = 70 * GIB;
	assert_int_not_equal(oom__judge(&oom), OOM_LIMIT);
	oom.total = GPU_UNKNOWN_BYTES;
	assert_int_equal(oom__judge(&oom), OOM_LIMIT);
}

static void test_nothing_known(void **state)
{
	const struct oom oom = {.bytes = 0,
				.total = GPU_UNKNOWN_BYTES,
				.used = GPU_UNKNOWN_BYTES,
				.own = GPU_UNKNOWN_BYTES};

	(void)state;
	assert_int_equal(oom__judge(&oom), OOM_UNKNOWN);
}

static void test_what_grew(void **state)
{
	struct live_site sites[] = {{.stack = &other, .bytes = 10 * GIB, .count = 1},
				    {.stack = &leak, .bytes = GIB, .count = 10}};
	struct process process = {
		.pid = 4, .start_ns = 1, .live_sites = sites, .live_site_count = 2};
	struct model model = {
		.now_ns = 100 * 1000000000ull, .processes = &process, .process_count = 1};
	struct site_history *history = site_history__new();
	struct site_increase increase;

	(void)state;
	assert_non_null(history);
	increase = site_history__largest(history, &process, sites, 2, model.now_ns);
	assert_null(increase.site); /* an old process without an earlier reading */
	site_history__sample(history, &model);
	/* The reading for the report itself shows no increase: what is known is from before. */
	model.now_ns += 3 * 1000000000ull;
	process.start_ns = model.now_ns - 1000000000ull;
	site_history__sample(history, &model);
	increase = site_history__largest(history, &process, sites, 2, model.now_ns);
	assert_ptr_equal(increase.site, &sites[0]);
	process.start_ns = 1;
	model.now_ns -= 3 * 1000000000ull;
	sites[1].bytes = 3 * GIB;
	sites[1].count = 30;
	increase = site_history__largest(history, &process, sites, 2,
					 model.now_ns + 10 * 1000000000ull);
	assert_ptr_equal(increase.site, &sites[1]);
	assert_int_equal(increase.bytes, 2 * GIB);
	assert_int_equal(increase.count, 20);
	assert_int_equal(increase.span_ns, 10 * 1000000000ull);
	/* One large allocation is not what grew, unless it is far larger. */
	sites[0].bytes = 20 * GIB;
	sites[0].count = 2;
	increase = site_history__largest(history, &process, sites, 2,
					 model.now_ns + 10 * 1000000000ull);
	assert_ptr_equal(increase.site, &sites[1]);
	sites[0].bytes = 30 * GIB;
	increase = site_history__largest(history, &process, sites, 2,
					 model.now_ns + 10 * 1000000000ull);
	assert_ptr_equal(increase.site, &sites[0]);
	/* A reading of more than half a minute ago does not count. */
	increase = site_history__largest(history, &process, sites, 2,
					 model.now_ns + 31 * 1000000000ull);
	assert_null(increase.site);
	site_history__free(history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_large_request),  cmocka_unit_test(test_leak),
		cmocka_unit_test(test_fragmentation),	   cmocka_unit_test(test_others),
		cmocka_unit_test(test_nothing_known),	   cmocka_unit_test(test_what_grew),
		cmocka_unit_test(test_limit_of_framework),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
