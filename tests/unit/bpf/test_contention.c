// SPDX-License-Identifier: BSD-2-Clause
// Which calls gpuprobe's BPF program considers held up by another thread's. Times are microseconds
// from the process's start.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watched_scene.h"

#define US 1000ull

static void enter(struct watched_thread *thread, unsigned int us, const char *function)
{
	const struct watched_call call = {.row = (uint16_t)api__find(function, API_NEWEST)};

	watched__enter(thread, at(us), &call);
}

static void leave(struct watched_thread *thread, unsigned int us)
{
	watched__return(thread, at(us), 0);
}

static const struct contention *pair(unsigned int number)
{
	return &watched__profile()->contentions[number];
}

static void assert_held(unsigned int number, uint64_t calls, uint64_t us, uint64_t beside)
{
	assert_int_equal(pair(number)->held.calls, calls);
	assert_int_equal(pair(number)->held.ns, us * US);
	assert_int_equal(pair(number)->beside.calls, beside);
}

static void nothing_is_held(void)
{
	for (unsigned int i = 0; i < CONTENTIONS; i++)
		assert_held(i, 0, 0, 0);
}

/* The second thread launches while the first is in that call; both end at about the same time. */
static void hold_up(struct scene *scene, const char *holder, const char *held)
{
	enter(scene->first, 1000, holder);
	enter(scene->second, 2000, held);
	leave(scene->first, 6000);
	leave(scene->second, 6050);
}

static void launches_wait_for_what_holds_the_driver(void **state)
{
	static const char *const holders[] = {
		"cuMemAlloc_v2",  "cuMemFree_v2",     "cuModuleLoadData", "cuLibraryLoadData",
		"cuModuleUnload", "cuCtxSynchronize", "cuMemMap"};
	struct scene *scene;

	for (size_t i = 0; i < sizeof(holders) / sizeof(*holders); i++) {
		end(state);
		begin(state);
		scene = *state;
		hold_up(scene, holders[i], "cuLaunchKernel");
		assert_held(0, 1, 4000, 0);
		assert_int_equal(pair(0)->row, api__find("cuLaunchKernel", API_NEWEST));
		assert_int_equal(pair(0)->holder_row, api__find(holders[i], API_NEWEST));
		assert_int_equal(pair(0)->tid, WATCHED_PID + 1);
		assert_int_equal(pair(0)->holder_tid, WATCHED_PID);
		assert_int_equal(pair(0)->max_ns, 4000 * US);
	}
}

static void others_hold_nothing(void **state)
{
	static const char *const others[] = {"cuMemAllocAsync",	    "cuMemFreeAsync",
					     "cuStreamSynchronize", "cuStreamCreate",
					     "cuLaunchKernel",	    "cuMemcpyHtoD_v2"};
	struct scene *scene;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		end(state);
		begin(state);
		scene = *state;
		hold_up(scene, others[i], "cuLaunchKernel");
		nothing_is_held();
	}
}

static void copies_wait_too_but_not_those_that_wait_anyway(void **state)
{
	hold_up(*state, "cuMemAlloc_v2", "cuMemcpyHtoD_v2");
	nothing_is_held();
	end(state);
	begin(state);
	hold_up(*state, "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2");
	assert_held(0, 1, 4000, 0);
}

/* The return of the held-up call is seen before the holder's. */
static void whoever_returns_first(void **state)
{
	struct scene *scene = *state;

	enter(scene->first, 1000, "cuMemAlloc_v2");
	enter(scene->second, 2000, "cuLaunchKernel");
	leave(scene->second, 6000);
	nothing_is_held();
	leave(scene->first, 6040);
	assert_held(0, 1, 4000, 0);
}

static void short_calls_are_left_alone(void **state)
{
	struct scene *scene = *state;

	enter(scene->first, 1000, "cuMemAlloc_v2");
	enter(scene->second, 2000, "cuLaunchKernel");
	leave(scene->second, 2999);
	leave(scene->first, 3000);
	nothing_is_held();
	enter(scene->second, 4000, "cuLaunchKernel");
	enter(scene->first, 4500, "cuMemAlloc_v2");
	leave(scene->first, 5400);
	leave(scene->second, 5400);
	nothing_is_held();
}

/* A full queue makes launches take long, whatever another thread waits for. */
static void what_ends_at_another_time_was_not_held(void **state)
{
	struct scene *scene = *state;

	enter(scene->first, 1000, "cuCtxSynchronize");
	for (unsigned int us = 2000; us < 10000; us += 2000) {
		enter(scene->second, us, "cuLaunchKernel");
		leave(scene->second, us + 1900);
	}
	leave(scene->first, 11000);
	assert_held(0, 0, 0, 4);
	assert_int_equal(pair(0)->beside.ns, 4 * 1900 * US);
	/* Most of the launch was before the load. */
	enter(scene->second, 20000, "cuLaunchKernel");
	enter(scene->first, 26000, "cuCtxSynchronize");
	leave(scene->first, 30000);
	leave(scene->second, 30000);
	assert_held(0, 0, 0, 4);
}

/*
 * Two threads waited for the lock that a third held: both count for the third, in whatever order
 * they return.
 */
static void who_began_first_holds_the_lock(void **state)
{
	struct scene *scene = *state;

	enter(scene->first, 1000, "cuModuleLoadData");
	enter(scene->third, 2000, "cuMemAlloc_v2");
	enter(scene->second, 3000, "cuLaunchKernel");
	leave(scene->third, 9000);
	leave(scene->second, 9010);
	assert_held(0, 1, 6000, 0);
	assert_int_equal(pair(0)->holder_row, api__find("cuMemAlloc_v2", API_NEWEST));
	leave(scene->first, 9020);
	assert_held(0, 0, 0, 0);
	assert_held(1, 1, 6010, 0);
	assert_int_equal(pair(1)->holder_row, api__find("cuModuleLoadData", API_NEWEST));
	/* A call that began later does not take them over. */
	enter(scene->first, 21000, "cuModuleLoadData");
	enter(scene->third, 22000, "cuMemAlloc_v2");
	enter(scene->second, 23000, "cuLaunchKernel");
	leave(scene->first, 29000);
	leave(scene->second, 29010);
	leave(scene->third, 29020);
	assert_held(0, 0, 0, 0);
	assert_held(1, 2, 12010, 0);
}

/* The launch overlapped one call and then ended with another. */
static void held_counts_once(void **state)
{
	struct scene *scene = *state;

	enter(scene->third, 500, "cuMemFree_v2");
	enter(scene->first, 1000, "cuMemAlloc_v2");
	enter(scene->second, 2000, "cuLaunchKernel");
	leave(scene->third, 7000);
	leave(scene->second, 9000);
	assert_held(0, 0, 0, 1);
	leave(scene->first, 9000);
	assert_held(0, 0, 0, 0);
	assert_held(1, 1, 7000, 0);
}

static void a_thread_does_not_hold_itself(void **state)
{
	struct scene *scene = *state;

	/* A load inside a launch. */
	enter(scene->first, 1000, "cuLaunchKernel");
	enter(scene->first, 1010, "cuLibraryLoadData");
	leave(scene->first, 8000);
	leave(scene->first, 8010);
	nothing_is_held();
	/* The launch holds up another. */
	enter(scene->first, 21000, "cuLaunchKernel");
	enter(scene->first, 21010, "cuLibraryLoadData");
	enter(scene->second, 22000, "cuLaunchKernel");
	leave(scene->first, 28000);
	leave(scene->first, 28010);
	leave(scene->second, 28020);
	assert_held(0, 1, 6000, 0);
}

/* A copy inside a load: the thread waits for the load. */
static void only_outermost_calls_are_held_up(void **state)
{
	struct scene *scene = *state;

	enter(scene->first, 1000, "cuMemAlloc_v2");
	enter(scene->second, 1500, "cuLibraryLoadData");
	enter(scene->second, 2000, "cuMemcpyHtoDAsync_v2");
	leave(scene->first, 6000);
	leave(scene->second, 6050);
	leave(scene->second, 20000);
	nothing_is_held();
}

static void pairs_have_bounds(void **state)
{
	static const char *const holders[] = {"cuMemAlloc_v2", "cuMemFree_v2", "cuModuleLoadData",
					      "cuLibraryLoadData", "cuModuleUnload"};
	static const char *const held[] = {"cuLaunchKernel", "cuMemcpyHtoDAsync_v2"};
	struct scene *scene = *state;
	unsigned int us = 0;

	for (size_t i = 0; i < sizeof(holders) / sizeof(*holders); i++)
		for (size_t n = 0; n < sizeof(held) / sizeof(*held); n++) {
			us += 100000;
			enter(scene->first, us, holders[i]);
			enter(scene->second, us + 1, held[n]);
			leave(scene->first, us + 2000);
			leave(scene->second, us + 2001);
		}
	for (unsigned int i = 0; i < CONTENTIONS; i++)
		assert_held(i, 1, 1999, 0);
	assert_int_equal(watched__profile()->contentions_left, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(launches_wait_for_what_holds_the_driver, begin,
						end),
		cmocka_unit_test_setup_teardown(others_hold_nothing, begin, end),
		cmocka_unit_test_setup_teardown(copies_wait_too_but_not_those_that_wait_anyway,
						begin, end),
		cmocka_unit_test_setup_teardown(whoever_returns_first, begin, end),
		cmocka_unit_test_setup_teardown(short_calls_are_left_alone, begin, end),
		cmocka_unit_test_setup_teardown(what_ends_at_another_time_was_not_held, begin, end),
		cmocka_unit_test_setup_teardown(who_began_first_holds_the_lock, begin, end),
		cmocka_unit_test_setup_teardown(held_counts_once, begin, end),
		cmocka_unit_test_setup_teardown(a_thread_does_not_hold_itself, begin, end),
		cmocka_unit_test_setup_teardown(only_outermost_calls_are_held_up, begin, end),
		cmocka_unit_test_setup_teardown(pairs_have_bounds, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
