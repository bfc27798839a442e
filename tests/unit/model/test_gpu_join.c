// SPDX-License-Identifier: BSD-2-Clause
// GPU work leads to the call that submitted it, in whatever order the three come, and as far as
// they come at all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/gpu_join.h"

#define BOOT 1000000 /* CLOCK_BOOTTIME is that much ahead of CUPTI's clock */

struct seen {
	size_t count;
	struct gpu_joined last; /* but for its work */
	uint32_t last_correlation;
	uint64_t last_start_ns;
	uint32_t tids[64]; /* by correlation */
};

static void take(const struct gpu_joined *joined, void *arg)
{
	struct seen *seen = arg;

	assert_true(joined->work->start_ns >= seen->last_start_ns);
	seen->last_start_ns = joined->work->start_ns;
	seen->count++;
	seen->last = *joined;
	seen->last_correlation = joined->work->correlation;
	if (joined->work->correlation < 64)
		seen->tids[joined->work->correlation] = joined->tid;
}

/* By CUPTI's clock; threads have tids of their number plus 100. */
static void add_call(struct gpu_join *join, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	gpu_join__add_call(join, &(struct gpu_call){.start_ns = start_ns + BOOT,
						    .end_ns = end_ns + BOOT,
						    .stack = start_ns,
						    .thread = thread,
						    .tid = thread + 100});
}

static void add_mark(struct gpu_join *join, uint32_t thread, uint64_t at_ns, uint32_t correlation)
{
	gpu_join__add_work(join, &(struct gpu_work){.kind = GPU_WORK_CALL,
						    .start_ns = at_ns,
						    .end_ns = at_ns,
						    .thread = thread,
						    .correlation = correlation});
}

static void add_kernel(struct gpu_join *join, uint64_t start_ns, uint32_t correlation)
{
	gpu_join__add_work(join, &(struct gpu_work){.kind = GPU_WORK_KERNEL,
						    .start_ns = start_ns,
						    .end_ns = start_ns + 10,
						    .correlation = correlation});
}

static struct gpu_join *make_join(void)
{
	struct gpu_join *join = gpu_join__new();

	assert_non_null(join);
	/* The earliest reading of the other clock is the least late one. */
	gpu_join__set_clock(join, 5000, 5000 + BOOT + 70);
	gpu_join__set_clock(join, 6000, 6000 + BOOT);
	gpu_join__set_clock(join, 7000, 7000 + BOOT + 900);
	return join;
}

static void test_clock(void **state)
{
	struct gpu_join *join = gpu_join__new();
	int64_t offset_ns = 0;

	(void)state;
	assert_non_null(join);
	assert_false(gpu_join__clock(join, &offset_ns));
	gpu_join__free(join);
	join = make_join();
	assert_true(gpu_join__clock(join, &offset_ns));
	assert_int_equal(offset_ns, BOOT);
	gpu_join__free(join);
}

static void test_threads_and_orders(void **state)
{
	struct gpu_join *join = make_join();
	struct seen seen = {.count = 0};

	(void)state;
	add_kernel(join, 300, 3);
	add_mark(join, 2, 115, 2);
	add_mark(join, 1, 105, 1);
	add_mark(join, 1, 205, 3);
	add_kernel(join, 200, 2);
	add_call(join, 1, 200, 220);
	add_call(join, 1, 100, 120);
	add_call(join, 2, 100, 120);
	add_kernel(join, 150, 1);
	gpu_join__run(join, take, &seen);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.tids[1], 101);
	assert_int_equal(seen.tids[2], 102);
	assert_int_equal(seen.tids[3], 101);
	assert_int_equal(seen.last.called_ns, 200);
	assert_int_equal(seen.last.stack, 200);
	gpu_join__run(join, take, &seen);
	assert_int_equal(seen.count, 3);
	gpu_join__free(join);
}

/* Each may come one run later than the others. */
static void test_later(void **state)
{
	struct gpu_join *join = make_join();
	struct seen seen = {.count = 0};

	(void)state;
	add_mark(join, 1, 105, 1);
	gpu_join__run(join, take, &seen);
	add_call(join, 1, 100, 120);
	gpu_join__run(join, take, &seen);
	assert_int_equal(seen.count, 0);
	add_kernel(join, 150, 1);
	gpu_join__run(join, take, &seen);
	assert_int_equal(seen.count, 1);
	add_kernel(join, 250, 2);
	gpu_join__run(join, take, &seen);
	add_call(join, 1, 200, 220);
	add_mark(join, 1, 205, 2);
	gpu_join__run(join, take, &seen);
	assert_int_equal(seen.count, 2);
	gpu_join__free(join);
}

/* What is missing on one side gives its neighbour's partner to nobody. */
static void test_missing(void **state)
{
	struct gpu_join *join = make_join();
	struct seen seen = {.count = 0};

	(void)state;
	add_call(join, 1, 100, 120); /* without a mark */
	add_call(join, 1, 300000, 300020);
	add_mark(join, 1, 200000, 2); /* without a call: the earlier one is long over */
	add_mark(join, 1, 300005, 3);
	add_mark(join, 1, 300006, 4); /* a call has one mark */
	add_mark(join, 7, 300005, 5); /* a thread without calls */
	for (uint32_t i = 1; i <= 6; i++)
		add_kernel(join, 400000 + i, i);
	gpu_join__run(join, take, &seen);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.last_correlation, 3);
	assert_int_equal(seen.last.called_ns, 300000);
	gpu_join__free(join);
}

static void test_several_pieces_of_a_call(void **state)
{
	struct gpu_join *join = make_join();
	struct seen seen = {.count = 0};

	(void)state;
	add_call(join, 1, 100, 120);
	add_mark(join, 1, 105, 1);
	add_kernel(join, 150, 1);
	add_kernel(join, 160, 1);
	gpu_join__run(join, take, &seen);
	assert_int_equal(seen.count, 2);
	gpu_join__free(join);
}

/* Much without partners leaves room for what has them, and is asked for in time. */
static void test_limits(void **state)
{
	struct gpu_join *join = make_join();
	struct seen seen = {.count = 0};
	bool due = false;

	(void)state;
	for (uint32_t i = 0; i < 3 * GPU_JOIN_ROOM; i++) {
		const struct gpu_work lonely = {.kind = GPU_WORK_KERNEL,
						.start_ns = 1 + i,
						.end_ns = 2 + i,
						.correlation = 1000000 + i};

		add_call(join, 1, 100 * i, 100 * i + 50);
		due |= gpu_join__add_work(join, &lonely);
		if (due)
			gpu_join__run(join, take, &seen);
		due = false;
	}
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t at_ns = 100ull * (4 * GPU_JOIN_ROOM + i);

		add_call(join, 2, at_ns, at_ns + 50);
		add_mark(join, 2, at_ns + 5, 100 + i);
		add_kernel(join, at_ns + 70, 100 + i);
	}
	gpu_join__run(join, take, &seen);
	assert_int_equal(seen.count, 1000);
	gpu_join__free(join);
}

static void forget(const struct gpu_work *work, void *arg)
{
	struct seen *seen = arg;

	seen->count++;
	seen->last_correlation = work->correlation;
}

/* Work whose call does not come is passed on the second time, or when there is no room. */
static void test_giving_up(void **state)
{
	struct gpu_join *join = make_join();
	struct seen seen = {.count = 0}, forgotten = {.count = 0};

	(void)state;
	gpu_join__keep_all(join, forget, &forgotten);
	add_kernel(join, 300, 1);
	add_kernel(join, 310, 2);
	gpu_join__give_up(join, false);
	assert_int_equal(forgotten.count, 0);
	add_kernel(join, 320, 3);
	add_call(join, 1, 100, 120);
	add_mark(join, 1, 105, 1);
	assert_int_equal(gpu_join__run(join, take, &seen), 1);
	assert_int_equal(seen.count, 1);
	gpu_join__give_up(join, false);
	assert_int_equal(forgotten.count, 1);
	assert_int_equal(forgotten.last_correlation, 2);
	gpu_join__give_up(join, true);
	assert_int_equal(forgotten.count, 2);
	for (uint32_t i = 0; i < 2 * GPU_JOIN_ROOM; i++)
		add_kernel(join, 400 + i, 100 + i);
	gpu_join__run(join, take, &seen);
	gpu_join__give_up(join, true);
	assert_int_equal(forgotten.count, 2 + 2 * GPU_JOIN_ROOM);
	gpu_join__free(join);
}

/* CUPTI's record may come long before its call is told. */
static void test_a_mark_ahead_of_the_calls(void **state)
{
	struct gpu_join *join = make_join();
	struct seen seen = {.count = 0};

	(void)state;
	add_mark(join, 1, 205, 1);
	add_kernel(join, 300, 1);
	add_call(join, 2, 100, 120);
	for (int i = 0; i < 10; i++)
		assert_int_equal(gpu_join__run(join, take, &seen), 0);
	add_call(join, 1, 200, 220);
	assert_int_equal(gpu_join__run(join, take, &seen), 1);
	assert_int_equal(seen.count, 1);
	gpu_join__free(join);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_threads_and_orders),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_several_pieces_of_a_call),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_giving_up),
		cmocka_unit_test(test_a_mark_ahead_of_the_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
