// SPDX-License-Identifier: BSD-2-Clause
// When records are on: the share of the time, whole short steps, and every part of long ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bursts.h"

#define MS 1000000ull

/* A program that launches every `launch_ns`, and waits after `launches` of them. */
struct program {
	struct bursts bursts;
	uint64_t now_ns, launch_ns;
	unsigned int launches;
	unsigned int bursts_seen;
	uint64_t on_ns;	  /* that records were on */
	uint64_t on[100]; /* launches that were recorded, by hundredths of the step */
};

static bool is_on(const struct program *program)
{
	return program->bursts.phase == BURSTS_ON;
}

static void ask(struct program *program, bool is_wait)
{
	bool was_on = is_on(program);
	enum bursts_action action = bursts__ask(&program->bursts, is_wait, program->now_ns);

	assert_int_equal(action == BURSTS_BEGIN, !was_on && is_on(program));
	assert_int_equal(action == BURSTS_END, was_on && !is_on(program));
	program->bursts_seen += action == BURSTS_BEGIN;
}

/* Launches ask only if they have been told to. */
static void run_step(struct program *program)
{
	for (unsigned int i = 0; i < program->launches; i++) {
		program->now_ns += program->launch_ns;
		program->on[i * 100ull / program->launches] += is_on(program);
		program->on_ns += is_on(program) ? program->launch_ns : 0;
		if (program->bursts.phase != BURSTS_OFF)
			ask(program, false);
	}
	ask(program, true);
}

static struct program begin(double share, unsigned int launches, uint64_t launch_ns)
{
	struct program program = {.now_ns = 1, .launch_ns = launch_ns, .launches = launches};

	bursts__begin(&program.bursts, share, 12345);
	return program;
}

static void test_short_steps_are_whole(void **state)
{
	struct program program = begin(0.05, 10, 100000);

	(void)state;
	while (program.now_ns < 60000 * MS)
		run_step(&program);
	for (unsigned int i = 1; i < 10; i++)
		assert_int_equal(program.on[10 * i], program.on[0]);
	assert_in_range(program.bursts_seen, 200, 400);
	assert_in_range(program.on_ns, 60000 * MS / 25, 60000 * MS / 17);
}

/* Steps of 100 ms: bursts have a part of a step each, and all parts alike. */
static void test_long_steps_are_seen_evenly(void **state)
{
	struct program program = begin(0.1, 1000, 100000);
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	while (program.now_ns < 4000000 * MS)
		run_step(&program);
	for (unsigned int i = 0; i < 100; i++) {
		least = program.on[i] < least ? program.on[i] : least;
		most = program.on[i] > most ? program.on[i] : most;
	}
	assert_in_range(most, 1, least + least / 5);
	assert_in_range(program.on_ns, 4000000 * MS / 40, 4000000 * MS / 10);
}

/* Without a wait nothing asks for another burst than the first. */
static void test_no_waits(void **state)
{
	struct program program = begin(0.05, 1000000, 2000);

	(void)state;
	run_step(&program);
	assert_int_equal(program.bursts_seen, 1); /* at the wait at last */
	assert_in_range(program.on_ns, 2 * BURST_NS, 2 * BURST_NS + 10000);
}

/* A burst that nothing ends by a wait has some launches, however long they take. */
static void test_slow_launches(void **state)
{
	struct program program = begin(0.05, 1000, 5 * MS);

	(void)state;
	run_step(&program);
	assert_int_equal(program.on_ns, BURST_LAUNCHES * 5 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_steps_are_whole),
		cmocka_unit_test(test_long_steps_are_seen_evenly),
		cmocka_unit_test(test_no_waits),
		cmocka_unit_test(test_slow_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
