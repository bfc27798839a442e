// SPDX-License-Identifier: BSD-2-Clause
// Many threads, any interleaving of BPF's small steps: the stream emits their calls in the order of
// their times, nothing is missing, and nothing is there twice.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace_stream_scene.h"

#define ACTORS 12
#define CALLS 60000

enum step {
	IDLE = 0,
	ENTERING,
	RUNNING,
	WRITING
};

struct actor {
	enum step step;
	char *record; /* that it is writing */
};

struct play {
	struct test *test;
	struct actor actors[ACTORS];
	uint64_t next, lost;
	uint64_t *starts; /* by serial */
	bool *reported;	  /* by serial: its event was put into the ring */
};

static void begin_call(struct play *play, uint32_t thread)
{
	play->starts[play->next] = play->test->fake->clock;
	play->reported[play->next] = true;
	fake__begin(play->test->fake, play->test->functions, thread, rand() % 2 ? SIMPLE : DRIVER,
		    play->next++);
}

static void end_call(struct play *play, uint32_t thread)
{
	struct fake *fake = play->test->fake;
	struct fake_call ended = fake__end(fake, thread, 0);

	play->actors[thread].record =
		rand() % 50 ? fake__reserve(fake, &ended.event, ended.size) : NULL;
	if (!play->actors[thread].record) {
		fake__lose(fake, TRACE_LOST_RING);
		play->reported[ended.payload[0]] = false;
		play->lost++;
	}
	play->actors[thread].step = WRITING;
}

/* The next of BPF's small steps for a thread, any of which may be followed by an interruption. */
static void step(struct play *play, uint32_t thread)
{
	struct fake *fake = play->test->fake;
	struct actor *actor = &play->actors[thread];

	switch (actor->step) {
	case IDLE:
		fake->began[thread] = TRACE_ENTERING;
		actor->step = ENTERING;
		break;
	case ENTERING:
		begin_call(play, thread);
		fake->began[thread] = fake->calls[thread][0].event.start_ns;
		actor->step = RUNNING;
		break;
	case RUNNING:
		if (fake->depth[thread] < TRACE_DEPTH && rand() % 3 == 0)
			begin_call(play, thread);
		else if (rand() % 4 == 0)
			end_call(play, thread);
		break;
	case WRITING:
		if (actor->record)
			fake__commit(actor->record);
		actor->record = NULL;
		actor->step = fake->depth[thread] ? RUNNING : IDLE;
		if (!fake->depth[thread])
			fake->began[thread] = 0;
		break;
	}
}

static void play(struct play *play)
{
	struct fake *fake = play->test->fake;

	while (play->next < CALLS) {
		step(play, (uint32_t)rand() % ACTORS);
		/* Some calls of different threads begin at the same time, some are long. */
		fake->clock += rand() % 3 ? (uint64_t)(rand() % 2000) : 0;
		if (rand() % 5000 == 0)
			fake->clock += 300 * MS;
		if (rand() % 200 == 0)
			assert_true(trace_stream__drain(play->test->stream) >= 0);
	}
	for (uint32_t i = 0; i < ACTORS; i++) {
		while (play->actors[i].step != IDLE) {
			if (play->actors[i].step == ENTERING) {
				fake->began[i] = 0;
				break;
			}
			step(play, i);
			fake->clock += 100;
		}
	}
}

/* Each reported call appears once, and after the calls that enclose it. */
static void check_calls(const struct play *play)
{
	const struct test *test = play->test;
	unsigned int *seen = calloc(play->next, sizeof(*seen));
	uint64_t lost = 0;

	for (size_t i = 0; i < test->count; i++) {
		const struct got *got = &test->got[i];

		lost += got->lost;
		if (got->kind == LINE_LOST || got->kind == LINE_IN_PROGRESS)
			continue;
		assert_true(got->serial < play->next);
		assert_int_equal(got->start, play->starts[got->serial]);
		assert_int_equal(got->tid, 100 + got->process);
		seen[got->serial]++;
	}
	for (uint64_t serial = 0; serial < play->next; serial++)
		assert_int_equal(seen[serial], play->reported[serial]);
	assert_int_equal(lost, play->lost);
	assert_int_equal(counts_of(test).calls + counts_of(test).lost, play->next);
	free(seen);
}

/* A call inside another has the later line, even if both began at once. */
static void check_depths(const struct test *test)
{
	uint64_t began[ACTORS][TRACE_DEPTH] = {0};

	for (size_t i = 0; i < test->count; i++) {
		const struct got *got = &test->got[i];

		if (got->kind != LINE_CALL)
			continue;
		for (uint32_t depth = got->depth + 1u; depth < TRACE_DEPTH; depth++)
			assert_true(began[got->process][depth] < got->start || !got->start);
		began[got->process][got->depth] = got->start;
	}
}

static void any_interleaving(struct test *test, unsigned int seed, uint64_t hold_ns)
{
	struct play play_state = {.test = test};

	srand(seed);
	test->options.hold_ns = hold_ns;
	open_stream(test);
	play_state.starts = calloc(2 * CALLS, sizeof(*play_state.starts));
	play_state.reported = calloc(2 * CALLS, sizeof(*play_state.reported));
	for (uint32_t i = 0; i < ACTORS; i++)
		fake__announce(test->fake, i, i, 50, (pid_t)(100 + i), "actor");
	play(&play_state);
	finish(test);
	for (size_t i = 1; i < test->count; i++)
		assert_true(test->got[i].time >= test->got[i - 1].time ||
			    test->got[i].kind == LINE_RESUMED);
	check_calls(&play_state);
	if (hold_ns > 1000000 * MS)
		check_depths(test);
	free(play_state.starts);
	free(play_state.reported);
}

static void any_interleaving_is_in_order_and_whole(void **state)
{
	struct test *test = *state;

	for (unsigned int seed = 1; seed <= 4; seed++) {
		any_interleaving(test, seed, 1000000000 * MS);
		assert_sorted(test);
		for (size_t i = 0; i < test->count; i++)
			assert_true(test->got[i].kind == LINE_CALL ||
				    test->got[i].kind == LINE_LOST);
	}
}

static void calls_that_are_not_waited_for_are_whole_too(void **state)
{
	struct test *test = *state;
	size_t resumed = 0;

	any_interleaving(test, 5, MS / 2);
	for (size_t i = 0; i < test->count; i++)
		resumed += test->got[i].kind == LINE_RESUMED;
	assert_true(resumed > 10);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(any_interleaving_is_in_order_and_whole),
		TEST(calls_that_are_not_waited_for_are_whole_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
