// SPDX-License-Identifier: BSD-2-Clause
// What the repair of the main reason saves: which statement of the loop it belongs to, what remains
// of a step, causes that are everywhere, several threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "finding/repair.h"

#define MS 1000000ull
#define PYTHON(name, number) \
	{ \
		.kind = FRAME_PYTHON, .function = name, .file = "/home/user/train.py", \
		.line = number \
	}
#define STACK(name, ...) \
	static const struct stack_frame name##_frames[] = {__VA_ARGS__}; \
	static const struct stack name = {.count = sizeof(name##_frames) / sizeof(*name##_frames), \
					  .frames = name##_frames}
#define MODULE PYTHON("<module>", 80)
#define LIBRARY \
	{ \
		.kind = FRAME_PYTHON, .function = "norm", \
		.file = "/usr/lib/python3/dist-packages/torch/functional.py", .line = 5 \
	}

/* for step in loop: loss.backward() [34]; show_norms() [37]; optimizer.step() [40] */
STACK(backward, PYTHON("train", 34), MODULE);
STACK(gradient, LIBRARY, PYTHON("show_norms", 18), PYTHON("train", 37), MODULE);
STACK(weight, LIBRARY, PYTHON("show_norms", 19), PYTHON("train", 37), MODULE);
STACK(optimizer, LIBRARY, PYTHON("train", 40), MODULE);
STACK(elsewhere, PYTHON("serve", 90));
STACK(of_a_library, {.function = "read", .object = "libc.so.6"});

#define PLACE(in, doing, ms, at) \
	{ \
		.activity = doing, .class = in, .ns = (ms)*MS, .times = 1, .stack = &(at) \
	}

static struct repair repair_of(struct host_thread *threads, size_t count)
{
	struct host_process host = {.threads = threads, .thread_count = count};
	const struct process process = {.host = &host};
	struct host_reasons reasons;
	struct repair repair;

	assert_int_equal(host_reasons__of(&process, 0, &reasons), 0);
	assert_true(repair__of_main_reason(&reasons, &repair));
	host_reasons__clear(&reasons);
	return repair;
}

static struct host_thread thread(struct host_location *locations, size_t count)
{
	return (struct host_thread){
		.submits = true, .locations = locations, .location_count = count};
}

/* Both lines of the function that the loop calls, and the copies there; not what else is done. */
static void sums_the_statement_of_the_loop(void **state)
{
	struct host_location locations[] = {
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 20, gradient),
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 18, weight),
		PLACE(HOST_COPIES, ACTIVITY_CPU, 2, gradient),
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 19, backward),
		PLACE(HOST_LAUNCHES, ACTIVITY_CPU, 1, backward),
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 10, optimizer),
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 30, of_a_library),
	};
	struct host_thread threads[] = {thread(locations, sizeof(locations) / sizeof(*locations))};
	struct repair repair = repair_of(threads, 1);

	(void)state;
	assert_false(repair.everywhere);
	assert_true(repair.share > 0.399 && repair.share < 0.401);
}

/* However short launches are, they show the loop's function. What is rare elsewhere does not. */
static void finds_the_loop_by_its_launches(void **state)
{
	struct host_location locations[] = {
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 500, gradient),
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 495, weight),
		PLACE(HOST_LAUNCHES, ACTIVITY_CPU, 1, backward),
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 4, elsewhere),
	};
	struct host_thread threads[] = {thread(locations, 4)};

	(void)state;
	assert_true(repair_of(threads, 1).share > 0.994);
	/* Without them nothing tells where the loop is. */
	locations[2].class = HOST_OUTSIDE;
	assert_int_equal(repair_of(threads, 1).share, 1);
}

/* Nothing in common: all may belong to one statement. */
static void promises_no_less_than_may_be_saved(void **state)
{
	struct host_location locations[] = {
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 60, gradient),
		PLACE(HOST_LAUNCHES, ACTIVITY_CPU, 40, elsewhere),
	};
	struct host_thread threads[] = {thread(locations, 2)};

	(void)state;
	assert_int_equal(repair_of(threads, 1).share, 1);
	locations[0].stack = &of_a_library;
	locations[1].stack = &of_a_library;
	assert_int_equal(repair_of(threads, 1).share, 1);
}

/* A slow disk at two statements is one cause. */
static void causes_may_be_everywhere(void **state)
{
	struct host_location locations[] = {
		PLACE(HOST_OUTSIDE, ACTIVITY_DISK, 40, gradient),
		PLACE(HOST_OUTSIDE, ACTIVITY_DISK, 30, optimizer),
		PLACE(HOST_LAUNCHES, ACTIVITY_CPU, 30, backward),
	};
	struct host_thread threads[] = {thread(locations, 3)};
	struct repair repair = repair_of(threads, 1);

	(void)state;
	assert_true(repair.everywhere);
	assert_true(repair.share > 0.699 && repair.share < 0.701);
}

/*
 * In turn: the other thread's time at the same statement counts. An idle thread beside it does not
 * make the share smaller.
 */
static void counts_all_submitting_threads(void **state)
{
	struct host_location main_places[] = {
		PLACE(HOST_OUTSIDE, ACTIVITY_CPU, 40, gradient),
		PLACE(HOST_LAUNCHES, ACTIVITY_CPU, 20, backward),
		PLACE(HOST_OUTSIDE, ACTIVITY_TEAM, 40, gradient),
	};
	struct host_location other_places[] = {
		PLACE(HOST_LAUNCHES, ACTIVITY_CPU, 40, weight),
		PLACE(HOST_OUTSIDE, ACTIVITY_TEAM, 60, weight),
	};
	struct host_thread threads[] = {thread(main_places, 3), thread(other_places, 2)};
	double share = repair_of(threads, 2).share;

	(void)state;
	assert_true(share > 0.799 && share < 0.801);
	main_places[2].activity = ACTIVITY_CPU;
	other_places[0] = (struct host_location)PLACE(HOST_OUTSIDE, ACTIVITY_SLEEP, 79, elsewhere);
	other_places[1].ns = 0;
	share = repair_of(threads, 2).share;
	assert_true(share > 0.799 && share < 0.801);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_the_statement_of_the_loop),
		cmocka_unit_test(finds_the_loop_by_its_launches),
		cmocka_unit_test(promises_no_less_than_may_be_saved),
		cmocka_unit_test(causes_may_be_everywhere),
		cmocka_unit_test(counts_all_submitting_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
