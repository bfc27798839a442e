// SPDX-License-Identifier: BSD-2-Clause
/* Which time a followed thread's counts cover: since a mark, or since it is followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "host/followed.h"

#define S NS_PER_S
#define MARK 1

static struct code_locations_budget budget = {1 << 20};

/* It runs on a CPU from 1 s on; it was last read at `at_ns`. */
static void read_at(struct followed_thread *thread, uint64_t at_ns)
{
	thread->counts = (struct host_counts){.at_ns = at_ns, .began = true};
	thread->counts.ns[ACTIVITY_CPU][HOST_OUTSIDE] = at_ns - thread->began_ns;
}

static uint64_t covered_s(const struct followed_thread *thread)
{
	struct host_counts counts;

	followed_thread__count(thread, &counts);
	return counts.ns[ACTIVITY_CPU][HOST_OUTSIDE] / S;
}

/* The process is steady from 3 s on, by a mark that the thread gets at `marked_ns`. */
static uint64_t covered_at_the_end(uint64_t marked_ns, uint64_t end_ns)
{
	struct followed_thread thread = {.used = true, .began_ns = S, .steady.mark = -1};
	struct steady_marks steady = {.ns[MARK] = 3 * S, .mark = -1, .end_ns = marked_ns};
	uint64_t covered;

	thread.locations = code_locations__new(&budget);
	read_at(&thread, marked_ns);
	followed_thread__mark(&thread, &steady);
	read_at(&thread, end_ns);
	steady.mark = MARK;
	steady.end_ns = end_ns;
	followed_thread__mark(&thread, &steady);
	covered = covered_s(&thread);
	code_locations__free(thread.locations);
	return covered;
}

static void counts_since_the_mark(void **state)
{
	(void)state;
	assert_int_equal(covered_at_the_end(3 * S, 10 * S), 7);
	/* gpuprobe was late, and enough is left. */
	assert_int_equal(covered_at_the_end(6 * S, 10 * S), 4);
}

/* Too little is left after a late mark to show how the thread goes on. */
static void a_mark_just_before_the_end_is_not_used(void **state)
{
	(void)state;
	assert_int_equal(covered_at_the_end(9 * S, 10 * S), 9);
	assert_int_equal(covered_at_the_end(8 * S, 10 * S), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_since_the_mark),
		cmocka_unit_test(a_mark_just_before_the_end_is_not_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
