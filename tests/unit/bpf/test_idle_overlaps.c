// SPDX-License-Identifier: BSD-2-Clause
// What gpuprobe's BPF program considers idle when calls of several threads overlap: orders that a
// real program would reach only by chance, if at all.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "idle_scene.h"

/* --- threads that meet --- */

static void test_a_launch_around_the_end_of_a_wait(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	enter_wait(scene->first, 110, A);
	enter_launch(scene->second, 120, A);
	leave(scene->first, 130);
	leave(scene->second, 140);
	launch(scene->first, 200, A);
	expect_idle(scene, 0);
	wait_for(scene->first, 210, A);
	launch(scene->second, 300, A);
	expect_idle(scene, 1);
	expect_latest(scene, 215, 300);
}

/* It entered first, but may have queued its work after the wait began. */
static void test_a_launch_around_the_beginning_of_a_wait(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 90, A);
	enter_launch(scene->second, 100, A);
	enter_wait(scene->first, 110, A);
	leave(scene->second, 120);
	leave(scene->first, 130);
	launch(scene->first, 200, A);
	expect_idle(scene, 0);
}

static void test_a_launch_around_a_wait(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 90, A);
	enter_launch(scene->second, 100, B);
	wait_for(scene->first, 110, A);
	wait_for_all(scene->first, 120);
	leave(scene->second, 150);
	launch(scene->first, 200, A);
	expect_idle(scene, 0);
}

/* The GPU may have had its work since the call's entry. */
static void test_the_first_of_two_launches_returns_last(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	wait_for(scene->first, 110, A);
	enter_launch(scene->second, 150, B);
	enter_launch(scene->third, 160, A);
	leave(scene->third, 170);
	leave(scene->second, 190);
	expect_idle(scene, 1);
	expect_latest(scene, 115, 150);
}

/*
 * Two threads wait for the same stream; the work queued between the two ends does not affect the
 * second's result.
 */
static void test_waits_that_overlap(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	enter_wait(scene->first, 110, A);
	enter_wait(scene->second, 120, A);
	leave(scene->first, 130);
	launch(scene->first, 140, A);
	leave(scene->second, 160);
	launch(scene->first, 200, A);
	expect_idle(scene, 1);
	expect_latest(scene, 130, 140);
}

/* --- a wait that is handled late: its thread was preempted as it returned --- */

static void another_wait_ends(void *arg)
{
	struct scene *scene = arg;

	leave(scene->first, 400);
}

static void test_another_wait_ends_meanwhile(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	launch(scene->second, 110, B);
	enter_wait(scene->second, 120, B);
	enter_wait(scene->first, 130, A);
	watched__return_late(scene->second, at(300), 0, another_wait_ends, scene);
	launch(scene->first, 500, A);
	expect_idle(scene, 1);
	expect_latest(scene, 400, 500);
}

/* Because of the third thread's launch the first thread's wait proves nothing. */
static void work_comes_and_goes(void *arg)
{
	struct scene *scene = arg;

	launch(scene->first, 210, A);
	enter_launch(scene->third, 220, B);
	wait_for(scene->first, 230, A);
	watched__return(scene->third, at(400), OUT_OF_RESOURCES);
}

static void test_work_comes_and_goes_meanwhile(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	enter_wait(scene->second, 110, A);
	watched__return_late(scene->second, at(200), 0, work_comes_and_goes, scene);
	launch(scene->first, 500, A);
	expect_idle(scene, 1);
	expect_latest(scene, 400, 500);
}

/* --- events that another thread is recording --- */

static struct watched_call of_event(const char *function, enum role role, uint64_t stream)
{
	return call_of(function, ROLE_EVENT, E, role, stream);
}

/* The query may be about the stream that the event is being recorded in. */
static void test_a_query_while_the_event_is_recorded(void **state)
{
	struct scene *scene = *state;
	const struct watched_call record = of_event("cuEventRecord", ROLE_STREAM, B);

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	record_event(scene->first, 110, A);
	watched__enter(scene->second, at(120), &record);
	make(scene->first, 130, of_event("cuEventQuery", ROLE_COUNT, 0));
	leave(scene->second, 140);
	expect_all_to_be_needed(scene, 200);
}

static void test_an_event_that_is_recorded_during_a_wait(void **state)
{
	struct scene *scene = *state;
	const struct watched_call wait = of_event("cuEventSynchronize", ROLE_COUNT, 0);

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	record_event(scene->first, 110, A);
	watched__enter(scene->first, at(120), &wait);
	record_event(scene->second, 125, B);
	leave(scene->first, 140);
	expect_all_to_be_needed(scene, 200);
}

static void test_a_stream_follows_an_event_that_is_recorded(void **state)
{
	struct scene *scene = *state;
	const struct watched_call record = of_event("cuEventRecord", ROLE_STREAM, B);

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	record_event(scene->first, 110, A);
	watched__enter(scene->second, at(120), &record);
	follow_event(scene->first, 130, B);
	leave(scene->second, 140);
	wait_for(scene->first, 150, B);
	expect_all_to_be_needed(scene, 200);
}

/* Which of the two recordings the stream follows is unknown. */
static void test_an_event_is_recorded_while_a_stream_follows_it(void **state)
{
	struct scene *scene = *state;
	const struct watched_call follow = of_event("cuStreamWaitEvent", ROLE_STREAM, B);

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 90, LEGACY);
	launch(scene->first, 100, A);
	record_event(scene->first, 110, A);
	watched__enter(scene->first, at(120), &follow);
	record_event(scene->second, 125, LEGACY);
	leave(scene->first, 140);
	wait_for(scene->first, 150, B);
	wait_for(scene->first, 160, A);
	expect_all_to_be_needed(scene, 200);
}

/* --- calls in progress on another thread --- */

static void test_the_list_is_taken_at_a_launch(void **state)
{
	struct scene *scene = *state;
	struct device_queue *queue = &watched__profile()->queues[0];

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 80, A);
	wait_for(scene->first, 90, A);
	queue->lock = 1;
	launch(scene->first, 100, B);
	queue->lock = 0;
	expect_idle(scene, 1);
	/* The thread has made no call since: nothing is proved until its work is in the list. */
	launch(scene->second, 110, A);
	wait_for(scene->second, 120, A);
	wait_for(scene->second, 130, B);
	launch(scene->second, 150, A);
	expect_idle(scene, 1);
	wait_for(scene->first, 160, B);
	wait_for(scene->first, 170, A);
	launch(scene->first, 200, A);
	expect_idle(scene, 2);
	expect_latest(scene, 175, 200);
}

static void test_the_list_is_taken_at_a_wait(void **state)
{
	struct scene *scene = *state;
	struct device_queue *queue = &watched__profile()->queues[0];

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	queue->lock = 1;
	wait_for(scene->first, 110, A);
	queue->lock = 0;
	launch(scene->first, 200, A);
	expect_idle(scene, 0);
	wait_for(scene->first, 210, A);
	launch(scene->first, 300, A);
	expect_idle(scene, 1);
	expect_latest(scene, 215, 300);
}

/* Two streams in a row have no entry in the list: the second may be any stream. */
static void test_the_list_is_taken_twice(void **state)
{
	struct scene *scene = *state;
	struct device_queue *queue = &watched__profile()->queues[0];

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	queue->lock = 1;
	launch(scene->first, 100, A);
	launch(scene->first, 110, B);
	queue->lock = 0;
	wait_for(scene->first, 120, A);
	wait_for(scene->first, 130, B);
	expect_all_to_be_needed(scene, 200);
}

static void test_the_list_of_threads_is_taken(void **state)
{
	struct scene *scene = *state;
	struct process_profile *profile = watched__profile();

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 80, A);
	profile->submitter_lock = 1;
	enter_launch(scene->second, 100, B);
	profile->submitter_lock = 0;
	wait_for(scene->first, 110, A);
	leave(scene->second, 120);
	wait_for(scene->first, 130, B);
	launch(scene->first, 150, A);
	expect_idle(scene, 0);
	launch(scene->second, 160, B);
	wait_for(scene->first, 170, A);
	wait_for(scene->first, 180, B);
	launch(scene->first, 200, A);
	expect_idle(scene, 1);
	expect_latest(scene, 185, 200);
}

/* Work of a thread that could not be listed may have been there before another launch began. */
static void test_a_launch_that_is_in_no_list(void **state)
{
	struct process_profile *profile = watched__profile();
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	wait_for(scene->first, 110, A);
	profile->submitter_lock = 1;
	enter_launch(scene->second, 150, B);
	profile->submitter_lock = 0;
	launch(scene->first, 160, A);
	leave(scene->second, 170);
	expect_idle(scene, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCENE(test_a_launch_around_the_end_of_a_wait),
		IN_SCENE(test_a_launch_around_the_beginning_of_a_wait),
		IN_SCENE(test_a_launch_around_a_wait),
		IN_SCENE(test_the_first_of_two_launches_returns_last),
		IN_SCENE(test_waits_that_overlap),
		IN_SCENE(test_another_wait_ends_meanwhile),
		IN_SCENE(test_work_comes_and_goes_meanwhile),
		IN_SCENE(test_a_query_while_the_event_is_recorded),
		IN_SCENE(test_an_event_that_is_recorded_during_a_wait),
		IN_SCENE(test_a_stream_follows_an_event_that_is_recorded),
		IN_SCENE(test_an_event_is_recorded_while_a_stream_follows_it),
		IN_SCENE(test_the_list_is_taken_at_a_launch),
		IN_SCENE(test_the_list_is_taken_at_a_wait),
		IN_SCENE(test_the_list_is_taken_twice),
		IN_SCENE(test_the_list_of_threads_is_taken),
		IN_SCENE(test_a_launch_that_is_in_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
