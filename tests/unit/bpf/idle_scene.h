/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of watched threads, and what the BPF program considers idle after them. Times are
 * microseconds from the process's start. Include after cmocka.h.
 */
#ifndef TESTS_IDLE_SCENE_H
#define TESTS_IDLE_SCENE_H

#include "watched_scene.h"

#define NON_BLOCKING 1
#define LEGACY 0
#define A 0xa000
#define B 0xb000
#define E 0xe000
#define MANY 0x10000 /* and more */
#define NOT_READY 600
#define OUT_OF_RESOURCES 701

static inline int end_without_losses(void **state)
{
	for (int loss = 0; loss < LOSS_COUNT; loss++)
		if (loss != LOSS_UNREADABLE) /* kernels' names */
			assert_int_equal(program__lost(loss), 0);
	return end(state);
}

/* --- calls --- */

/* ROLE_COUNT: no such argument. */
static inline struct watched_call call_of(const char *function, enum role role, uint64_t value,
					  enum role other_role, uint64_t other)
{
	struct watched_call call = {.row = (uint16_t)api__find(function, API_NEWEST)};

	if (role != ROLE_COUNT)
		call.arguments[call.count++] = (struct call_argument){role, value};
	if (other_role != ROLE_COUNT)
		call.arguments[call.count++] = (struct call_argument){other_role, other};
	return call;
}

static inline void enter_launch(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	const struct watched_call call =
		call_of("cuLaunchKernel", ROLE_STREAM, stream, ROLE_COUNT, 0);

	watched__enter(thread, at(us), &call);
}

static inline void enter_wait(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	const struct watched_call call =
		call_of("cuStreamSynchronize", ROLE_STREAM, stream, ROLE_COUNT, 0);

	watched__enter(thread, at(us), &call);
}

static inline void leave(struct watched_thread *thread, unsigned int us)
{
	watched__return(thread, at(us), 0);
}

/* A call of 5 us with these arguments. */
static inline void make(struct watched_thread *thread, unsigned int us, struct watched_call call)
{
	watched__enter(thread, at(us), &call);
	watched__return(thread, at(us + 5), 0);
}

static inline void launch(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	enter_launch(thread, us, stream);
	leave(thread, us + 5);
}

static inline void wait_for(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	enter_wait(thread, us, stream);
	leave(thread, us + 5);
}

static inline void wait_for_all(struct watched_thread *thread, unsigned int us)
{
	make(thread, us, call_of("cuCtxSynchronize", ROLE_COUNT, 0, ROLE_COUNT, 0));
}

static inline void make_stream(struct watched_thread *thread, unsigned int us, uint64_t stream,
			       uint64_t flags)
{
	make(thread, us, call_of("cuStreamCreate", ROLE_OUT, stream, ROLE_FLAGS, flags));
}

static inline void make_streams(struct scene *scene, uint64_t flags_of_a, uint64_t flags_of_b)
{
	make_stream(scene->first, 10, A, flags_of_a);
	make_stream(scene->first, 20, B, flags_of_b);
	make(scene->first, 30, call_of("cuEventCreate", ROLE_OUT, E, ROLE_FLAGS, 2));
}

static inline void record_event(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	make(thread, us, call_of("cuEventRecord", ROLE_EVENT, E, ROLE_STREAM, stream));
}

static inline void follow_event(struct watched_thread *thread, unsigned int us, uint64_t stream)
{
	make(thread, us, call_of("cuStreamWaitEvent", ROLE_EVENT, E, ROLE_STREAM, stream));
}

/* --- expectations --- */

static inline void expect_idle(struct scene *scene, size_t expected)
{
	size_t count;

	watched__idle(scene->watched, &count);
	assert_int_equal(count, expected);
}

static inline void expect_latest(struct scene *scene, unsigned int begin_us, unsigned int end_us)
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
static inline void expect_all_to_be_needed(struct scene *scene, unsigned int us)
{
	launch(scene->first, us, A);
	expect_idle(scene, 0);
	wait_for_all(scene->first, us + 10);
	launch(scene->first, us + 100, A);
	expect_idle(scene, 1);
	expect_latest(scene, us + 15, us + 100);
}

#define IN_SCENE(test) cmocka_unit_test_setup_teardown(test, begin, end_without_losses)

#endif
