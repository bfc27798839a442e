// SPDX-License-Identifier: BSD-2-Clause
// What gpuprobe's BPF program considers idle after a sequence of calls: orders that a real program
// would reach only by chance, if at all. Times are microseconds from the process's start.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "idle_scene.h"

/* --- one thread --- */

static void test_a_stream(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	for (unsigned int us = 100; us < 1000; us += 100) {
		launch(scene->first, us, A);
		wait_for(scene->first, us + 20, A);
	}
	expect_idle(scene, 8);
	expect_latest(scene, 825, 900);
}

static void test_another_stream_has_work(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	launch(scene->first, 110, B);
	wait_for(scene->first, 120, A);
	launch(scene->first, 200, A);
	expect_idle(scene, 0);
	wait_for(scene->first, 210, A);
	wait_for(scene->first, 220, B);
	launch(scene->first, 300, A);
	expect_idle(scene, 1);
	expect_latest(scene, 225, 300);
}

static void test_queries(void **state)
{
	struct scene *scene = *state;
	const struct watched_call query = call_of("cuStreamQuery", ROLE_STREAM, A, ROLE_COUNT, 0);

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	watched__enter(scene->first, at(110), &query);
	watched__return(scene->first, at(115), NOT_READY);
	watched__enter(scene->first, at(120), &query);
	watched__return(scene->first, at(125), 0);
	launch(scene->first, 200, A);
	expect_idle(scene, 1);
	expect_latest(scene, 125, 200);
}

static void test_a_launch_that_fails(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	wait_for(scene->first, 110, A);
	enter_launch(scene->first, 150, A);
	watched__return(scene->first, at(155), OUT_OF_RESOURCES);
	launch(scene->first, 200, A);
	expect_idle(scene, 1);
	expect_latest(scene, 115, 200);
}

static void test_an_event_of_another_stream(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	record_event(scene->first, 110, A);
	follow_event(scene->first, 120, B);
	launch(scene->first, 130, B);
	wait_for(scene->first, 140, B);
	launch(scene->first, 200, B);
	expect_idle(scene, 1);
	expect_latest(scene, 145, 200);
}

static void test_work_behind_an_event(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	record_event(scene->first, 110, A);
	launch(scene->first, 120, A);
	follow_event(scene->first, 130, B);
	launch(scene->first, 140, B);
	wait_for(scene->first, 150, B);
	expect_all_to_be_needed(scene, 200);
}

/* The stream waits for the work that the event stood for at that time. */
static void test_an_event_recorded_anew(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, A);
	record_event(scene->first, 110, A);
	follow_event(scene->first, 120, B);
	launch(scene->first, 130, A);
	record_event(scene->first, 140, A);
	launch(scene->first, 150, B);
	wait_for(scene->first, 160, B);
	expect_all_to_be_needed(scene, 200);
}

/* --- the legacy default stream and threads' own --- */

static void test_legacy_after_a_blocking_stream(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, 0, NON_BLOCKING);
	launch(scene->first, 100, A);
	launch(scene->first, 110, LEGACY);
	wait_for(scene->first, 120, LEGACY);
	launch(scene->first, 200, A);
	expect_idle(scene, 1);
	expect_latest(scene, 125, 200);
}

static void test_legacy_after_a_stream_apart(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, 0, NON_BLOCKING);
	launch(scene->first, 100, B);
	launch(scene->first, 110, LEGACY);
	wait_for(scene->first, 120, LEGACY);
	expect_all_to_be_needed(scene, 200);
}

/* Blocking streams are not ordered after each other. */
static void test_a_blocking_stream_beside_another(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, 0, 0);
	launch(scene->first, 100, A);
	launch(scene->first, 110, B);
	wait_for(scene->first, 120, B);
	expect_all_to_be_needed(scene, 200);
}

static void test_own_streams_of_threads(void **state)
{
	struct scene *scene = *state;
	const struct watched_call work =
		call_of("cuLaunchKernel_ptsz", ROLE_STREAM, 0, ROLE_COUNT, 0);
	const struct watched_call wait =
		call_of("cuStreamSynchronize_ptsz", ROLE_STREAM, 0, ROLE_COUNT, 0);

	make(scene->first, 100, work);
	make(scene->second, 110, work);
	make(scene->first, 120, wait);
	make(scene->first, 200, work);
	expect_idle(scene, 0);
	make(scene->first, 210, wait);
	make(scene->second, 220, wait);
	make(scene->first, 300, work);
	expect_idle(scene, 1);
	expect_latest(scene, 225, 300);
}

static void test_legacy_after_own_streams(void **state)
{
	struct scene *scene = *state;
	const struct watched_call work =
		call_of("cuLaunchKernel_ptsz", ROLE_STREAM, 0, ROLE_COUNT, 0);

	make(scene->first, 100, work);
	make(scene->second, 110, work);
	launch(scene->third, 120, LEGACY);
	wait_for(scene->third, 130, LEGACY);
	launch(scene->third, 200, LEGACY);
	expect_idle(scene, 1);
	expect_latest(scene, 135, 200);
}

static void test_a_thread_that_ends_with_work(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	make(scene->second, 100, call_of("cuLaunchKernel_ptsz", ROLE_STREAM, 0, ROLE_COUNT, 0));
	watched__thread_ends(scene->second, at(110));
	launch(scene->first, 120, A);
	wait_for(scene->first, 130, A);
	expect_all_to_be_needed(scene, 200);
}

/* --- streams that have no entry, or are gone --- */

/* The wait is for the stream without an entry, */
static void test_more_streams_than_the_list_has(void **state)
{
	struct scene *scene = *state;
	unsigned int us = 100;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	for (uint64_t i = 0; i <= QUEUE_STREAMS; i++, us += 10)
		make_stream(scene->first, us, MANY + 16 * i, NON_BLOCKING);
	for (uint64_t i = 0; i <= QUEUE_STREAMS; i++, us += 10)
		launch(scene->first, us, MANY + 16 * i);
	for (uint64_t i = 0; i <= QUEUE_STREAMS; i++, us += 10)
		wait_for(scene->first, us, MANY + 16 * i);
	expect_all_to_be_needed(scene, us);
}

/* or the first stream is not waited for. */
static void test_a_stream_of_a_full_list(void **state)
{
	struct scene *scene = *state;
	unsigned int us = 100;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	for (uint64_t i = 0; i <= QUEUE_STREAMS; i++, us += 10)
		make_stream(scene->first, us, MANY + 16 * i, NON_BLOCKING);
	for (uint64_t i = 0; i <= QUEUE_STREAMS; i++, us += 10)
		launch(scene->first, us, MANY + 16 * i);
	for (uint64_t i = 1; i <= QUEUE_STREAMS; i++, us += 10)
		wait_for(scene->first, us, MANY + 16 * i);
	launch(scene->first, us, A);
	wait_for(scene->first, us + 10, A);
	wait_for(scene->first, us + 20, B);
	expect_all_to_be_needed(scene, us + 50);
}

static void destroy(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	make(thread, us, call_of("cuStreamDestroy_v2", ROLE_HANDLE, stream, ROLE_COUNT, 0));
}

static void test_a_handle_that_comes_back(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, B);
	destroy(scene->first, 110, B);
	make_stream(scene->first, 120, B, NON_BLOCKING);
	launch(scene->first, 130, B);
	wait_for(scene->first, 140, B);
	expect_all_to_be_needed(scene, 200);
}

/*
 * Nothing read the list between the end of the first stream and the work of the second, and another
 * thread has the same handle.
 */
static void test_a_handle_that_comes_back_elsewhere(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, B);
	launch(scene->second, 110, A);
	destroy(scene->first, 120, B);
	make_stream(scene->second, 130, B, NON_BLOCKING);
	launch(scene->second, 140, B);
	wait_for(scene->second, 150, B);
	wait_for(scene->second, 160, A);
	expect_all_to_be_needed(scene, 200);
}

static void test_a_handle_of_a_stream_that_was_done(void **state)
{
	struct scene *scene = *state;

	make_streams(scene, NON_BLOCKING, NON_BLOCKING);
	launch(scene->first, 100, B);
	wait_for(scene->first, 110, B);
	destroy(scene->first, 120, B);
	make_stream(scene->first, 130, B, NON_BLOCKING);
	launch(scene->first, 200, B);
	expect_idle(scene, 1);
	expect_latest(scene, 115, 200);
	wait_for(scene->first, 210, B);
	launch(scene->first, 300, B);
	expect_idle(scene, 2);
	expect_latest(scene, 215, 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCENE(test_a_stream),
		IN_SCENE(test_another_stream_has_work),
		IN_SCENE(test_queries),
		IN_SCENE(test_a_launch_that_fails),
		IN_SCENE(test_an_event_of_another_stream),
		IN_SCENE(test_work_behind_an_event),
		IN_SCENE(test_an_event_recorded_anew),
		IN_SCENE(test_legacy_after_a_blocking_stream),
		IN_SCENE(test_legacy_after_a_stream_apart),
		IN_SCENE(test_a_blocking_stream_beside_another),
		IN_SCENE(test_own_streams_of_threads),
		IN_SCENE(test_legacy_after_own_streams),
		IN_SCENE(test_a_thread_that_ends_with_work),
		IN_SCENE(test_more_streams_than_the_list_has),
		IN_SCENE(test_a_stream_of_a_full_list),
		IN_SCENE(test_a_handle_that_comes_back),
		IN_SCENE(test_a_handle_that_comes_back_elsewhere),
		IN_SCENE(test_a_handle_of_a_stream_that_was_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
