// SPDX-License-Identifier: BSD-2-Clause
// What gpuprobe's BPF program considers idle: call orders that a real program would reach only by
// chance, if at all. Times are microseconds from the process's start.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "watched_scene.h"

#define NON_BLOCKING 1
#define LEGACY 0
#define A 0xa000
#define B 0xb000
#define E 0xe000
#define MANY 0x10000 /* and more */
#define NOT_READY 600
#define OUT_OF_RESOURCES 701

static int end_without_losses(void **state)
{
	for (int loss = 0; loss < LOSS_COUNT; loss++)
		if (loss != LOSS_UNREADABLE) /* kernels' names */
			assert_int_equal(program__lost(loss), 0);
	return end(state);
}

/* --- calls --- */

/* ROLE_COUNT: no such argument. */
static struct watched_call call_of(const char *function, enum role role, uint64_t value,
				   enum role other_role, uint64_t other)
{
	struct watched_call call = {.row = (uint16_t)api__find(function, API_NEWEST)};

	if (role != ROLE_COUNT)
		call.arguments[call.count++] = (struct call_argument){role, value};
	if (other_role != ROLE_COUNT)
		call.arguments[call.count++] = (struct call_argument){other_role, other};
	return call;
}

static void enter_launch(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	const struct watched_call call =
		call_of("cuLaunchKernel", ROLE_STREAM, stream, ROLE_COUNT, 0);

	watched__enter(thread, at(us), &call);
}

static void enter_wait(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	const struct watched_call call =
		call_of("cuStreamSynchronize", ROLE_STREAM, stream, ROLE_COUNT, 0);

	watched__enter(thread, at(us), &call);
}

static void leave(struct watched_thread *thread, unsigned int us)
{
	watched__return(thread, at(us), 0);
}

/* A call of 5 us with these arguments. */
static void make(struct watched_thread *thread, unsigned int us, struct watched_call call)
{
	watched__enter(thread, at(us), &call);
	watched__return(thread, at(us + 5), 0);
}

static void launch(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	enter_launch(thread, us, stream);
	leave(thread, us + 5);
}

static void wait_for(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	enter_wait(thread, us, stream);
	leave(thread, us + 5);
}

static void wait_for_all(struct watched_thread *thread, unsigned int us)
{
	make(thread, us, call_of("cuCtxSynchronize", ROLE_COUNT, 0, ROLE_COUNT, 0));
}

static void make_stream(struct watched_thread *thread, unsigned int us, uint64_t stream,
			uint64_t flags)
{
	make(thread, us, call_of("cuStreamCreate", ROLE_OUT, stream, ROLE_FLAGS, flags));
}

static void make_streams(struct scene *scene, uint64_t flags_of_a, uint64_t flags_of_b)
{
	make_stream(scene->first, 10, A, flags_of_a);
	make_stream(scene->first, 20, B, flags_of_b);
	make(scene->first, 30, call_of("cuEventCreate", ROLE_OUT, E, ROLE_FLAGS, 2));
}

static void record_event(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	make(thread, us, call_of("cuEventRecord", ROLE_EVENT, E, ROLE_STREAM, stream));
}

static void follow_event(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	make(thread, us, call_of("cuStreamWaitEvent", ROLE_EVENT, E, ROLE_STREAM, stream));
}

/* --- expectations --- */

static void expect_idle(struct scene *scene, size_t expected)
{
	size_t count;

	watched__idle(scene->watched, &count);
	assert_int_equal(count, expected);
}

static void expect_latest(struct scene *scene, unsigned int begin_us, unsigned int end_us)
{
	const struct idle_time *idle;
	size_t count;

	idle = watched__idle(scene->watched, &count);
	assert_true(count);
	assert_int_equal(idle[count - 1].begin_ns, at(begin_us));
	assert_int_equal(idle[count - 1].end_ns, at(end_us));
	assert_int_equal(idle[count - 1].device, 0);
}

/* Nothing was proved up to here. A wait for everything, made now, proves it. */
static void expect_all_to_be_needed(struct scene *scene, unsigned int us)
{
	launch(scene->first, us, A);
	expect_idle(scene, 0);
	wait_for_all(scene->first, us + 10);
	launch(scene->first, us + 100, A);
	expect_idle(scene, 1);
	expect_latest(scene, us + 15, us + 100);
}

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

#define IN_SCENE(test) cmocka_unit_test_setup_teardown(test, begin, end_without_losses)

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
