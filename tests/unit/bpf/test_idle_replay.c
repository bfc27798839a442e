// SPDX-License-Identifier: BSD-2-Clause
// Idle times that gpuprobe's BPF program finds in recorded runs, compared with when the GPU was
// really busy.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "recorded_run.h"

/* How long before the first call the process begins. */
#define BEFORE_NS 1000000000ull

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Time from `begin` to `end` that was called idle, the part of it in which the GPU was busy, and
 * all busy time.
 */
struct found {
	uint64_t ns, idle_ns, false_ns, busy_ns;
};

static void add_false(struct found *found, const struct recorded_run *run, uint64_t begin,
		      uint64_t end)
{
	for (size_t i = 0; i < run->busy_count && run->busy[i].begin_ns < end; i++)
		if (run->busy[i].end_ns > begin)
			found->false_ns += earlier(run->busy[i].end_ns, end) -
					   later(run->busy[i].begin_ns, begin);
}

static struct found look(const struct recorded_run *run, struct watched *watched, uint64_t begin,
			 uint64_t end)
{
	struct found found = {.ns = end - begin};
	const struct idle_time *idle;
	uint64_t from, to;
	size_t count;

	idle = watched__idle(watched, &count);
	for (size_t i = 0; i < count; i++) {
		from = later(idle[i].begin_ns, begin);
		to = earlier(idle[i].end_ns, end);
		if (from >= to)
			continue;
		found.idle_ns += to - from;
		add_false(&found, run, from, to);
	}
	for (size_t i = 0; i < run->busy_count; i++)
		if (run->busy[i].end_ns > begin && run->busy[i].begin_ns < end)
			found.busy_ns += earlier(run->busy[i].end_ns, end) -
					 later(run->busy[i].begin_ns, begin);
	return found;
}

static void expect_nothing_lost(void)
{
	for (int loss = 0; loss < LOSS_COUNT; loss++)
		if (loss != LOSS_UNREADABLE) /* kernels' names */
			assert_int_equal(program__lost(loss), 0);
}

/* The sums match the idle times that were reported one by one. */
static void expect_sums(struct watched *watched)
{
	struct process_profile *profile = watched__profile();
	uint64_t reported_ns = 0, ns = 0, times = 0;
	const struct idle_time *idle;
	size_t count;

	idle = watched__idle(watched, &count);
	for (size_t i = 0; i < count; i++)
		reported_ns += idle[i].end_ns - idle[i].begin_ns;
	for (size_t i = 0; i < PROFILE_DEVICES; i++) {
		ns += profile->queues[i].idle_ns;
		times += profile->queues[i].idle_times;
	}
	assert_int_equal(ns, reported_ns);
	assert_int_equal(times, count);
}

/*
 * Replays the run. Returns the findings in its second half, from the GPU's first work to its last.
 */
static struct found replay(const char *name)
{
	struct recorded_run *run = recorded_run__read(name);
	struct watched *watched = watched__new(run->calls[0].entry_ns - BEFORE_NS, run->context);
	uint64_t first_ns = run->busy[0].begin_ns, last_ns = run->busy[run->busy_count - 1].end_ns;
	struct found whole, half;

	recorded_run__replay(run, watched);
	expect_nothing_lost();
	expect_sums(watched);
	whole = look(run, watched, 0, UINT64_MAX);
	half = look(run, watched, first_ns + (last_ns - first_ns) / 2, last_ns);
	assert_true(half.busy_ns);
	assert_int_equal(whole.false_ns, 0);
	print_message("%s: of %.3f s idle %.1f %%, proved %.1f %%\n", name, (double)half.ns / 1e9,
		      100. * (double)(half.ns - half.busy_ns) / (double)half.ns,
		      100. * (double)half.idle_ns / (double)half.ns);
	watched__free(watched);
	recorded_run__free(run);
	return half;
}

/* The program waits once a step. */
static void test_eager_sync_loop(void **state)
{
	struct found half = replay("eager_sync_loop");

	(void)state;
	assert_true(half.idle_ns >= half.ns / 100 * 70);
}

/* Programs that rarely wait prove almost no idle time; it is found by other means there. */
static void test_launch_bound_training(void **state)
{
	struct found half = replay("launch_bound_training");

	(void)state;
	assert_true(half.idle_ns <= half.ns / 100);
}

static void test_gpu_bound_training(void **state)
{
	struct found half = replay("gpu_bound_training");

	(void)state;
	assert_true(half.idle_ns <= half.ns - half.busy_ns);
	assert_true(half.idle_ns <= half.ns / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eager_sync_loop),
		cmocka_unit_test(test_launch_bound_training),
		cmocka_unit_test(test_gpu_bound_training),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
