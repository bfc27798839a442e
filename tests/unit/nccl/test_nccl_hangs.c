// SPDX-License-Identifier: BSD-2-Clause
// Hangs, and what is none: the cause, and the rank that is blamed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nccl_scene.h"

static void missing_rank(void **state)
{
	const int32_t sizes[] = {2, 3, 8, 16};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (int32_t missing = 0; missing < sizes[i]; missing++) {
			struct scene scene = scene__of(sizes[i], sizes[i]);

			scene__steps(&scene, 5);
			scene__all_but(&scene, missing);
			scene__judge(&scene, 9999 * MS);
			scene__expect_none(&scene);
			scene__judge(&scene, 1 * MS);
			scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, missing);
			assert_int_equal(scene.findings.items->sequence, 6);
			assert_int_equal(scene.findings.items->waiting, sizes[i] - 1);
			assert_int_equal(scene.findings.items->ranks[0]->sequence, 5);
			scene__free(&scene);
		}
	}
}

/* --- one rank is to blame --- */

static struct scene dead_rank(void)
{
	struct scene scene = scene__of(4, 4);

	scene__steps(&scene, 5);
	scene__end_process(&scene, 2);
	scene__judge(&scene, 20 * SECOND);
	scene__expect_none(&scene); /* nobody waits for it yet */
	scene__all_but(&scene, 2);
	return scene;
}

static struct scene dead_before_the_first_collective(void)
{
	struct scene scene = scene__of(4, 4);

	scene__all_but(&scene, 2);
	scene__end_process(&scene, 2);
	return scene;
}

static struct scene aborted_rank(void)
{
	struct scene scene = scene__of(4, 4);

	scene__steps(&scene, 5);
	scene__both(&scene, 2, NCCL_ABORT);
	scene__all_but(&scene, 2);
	return scene;
}

static struct scene stopped_rank(void)
{
	struct scene scene = scene__of(4, 4);

	scene__all_but(&scene, 2);
	scene__set(&scene, 2, NCCL_STOPPED);
	return scene;
}

static struct scene one_of_two_missing_ranks_will_come(void)
{
	struct scene scene = scene__of(4, 4);

	scene__steps(&scene, 3);
	scene.now += 10 * MS;
	scene__call(&scene, 0, all_reduce(1024), 0);
	scene__call(&scene, 1, all_reduce(1024), 0);
	scene__set(&scene, 3, NCCL_WRITES_FILE);
	return scene;
}

static struct scene extra_collective(void)
{
	struct scene scene = scene__of(4, 4);

	scene__steps(&scene, 5);
	scene__call(&scene, 2, all_reduce(1024), 0);
	return scene;
}

static struct scene death_in_the_init(void)
{
	struct scene scene = {.ranks = 3, .now = SECOND, .jobs = nccl_jobs__new(NULL)};

	for (int32_t rank = 0; rank < 3; rank++)
		scene__begin_init(&scene, rank, 7, 3);
	scene__end_process(&scene, 2);
	return scene;
}

static struct scene stuck_in_the_call(void)
{
	struct scene scene = scene__of(3, 3);

	scene__steps(&scene, 5);
	scene__call(&scene, 0, all_reduce(1024), 0);
	scene__call(&scene, 1, all_reduce(1024), 0);
	/* The operands of the event are those of all_reduce(1024). */
	scene__feed(&scene, scene__event(&scene, 2, NCCL_ALL_REDUCE, NCCL_BEGIN));
	return scene;
}

/* All ranks make a collective in a group. */
static struct scene grouped(void)
{
	struct scene scene = scene__of(3, 3);

	scene__steps(&scene, 5);
	for (int32_t rank = 0; rank < 3; rank++) {
		scene__both(&scene, rank, NCCL_GROUP_START);
		scene__call(&scene, rank, all_reduce(8), 0);
	}
	return scene;
}

static struct scene stuck_in_the_group(void)
{
	struct scene scene = grouped();

	scene__both(&scene, 0, NCCL_GROUP_END);
	scene__both(&scene, 1, NCCL_GROUP_END);
	scene__feed(&scene, scene__event(&scene, 2, NCCL_GROUP_END, NCCL_BEGIN));
	return scene;
}

static struct scene group_that_does_not_end(void)
{
	struct scene scene = grouped();

	scene__both(&scene, 0, NCCL_GROUP_END);
	scene__both(&scene, 1, NCCL_GROUP_END);
	return scene;
}

static void rank_2_is_to_blame(void **state)
{
	static const struct {
		const char *name;
		struct scene (*make)(void);
		enum nccl_cause cause;
		enum nccl_rank_state state;
	} cases[] = {
		{"dead", dead_rank, NCCL_RANK_MISSING, NCCL_RANK_DEAD},
		{"dead before the first collective", dead_before_the_first_collective,
		 NCCL_RANK_MISSING, NCCL_RANK_DEAD},
		{"aborted", aborted_rank, NCCL_RANK_MISSING, NCCL_RANK_ABORTED},
		{"stopped", stopped_rank, NCCL_RANK_MISSING, NCCL_RANK_LIVE},
		{"another one will come", one_of_two_missing_ranks_will_come, NCCL_RANK_MISSING,
		 NCCL_RANK_LIVE},
		{"group without an end", group_that_does_not_end, NCCL_RANK_MISSING,
		 NCCL_RANK_LIVE},
		{"extra collective", extra_collective, NCCL_RANK_EXTRA, NCCL_RANK_LIVE},
		{"dead in the init", death_in_the_init, NCCL_STUCK_INIT, NCCL_RANK_DEAD},
		{"stuck in the call", stuck_in_the_call, NCCL_STUCK_CALL, NCCL_RANK_LIVE},
		{"stuck in the group", stuck_in_the_group, NCCL_STUCK_CALL, NCCL_RANK_LIVE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene = cases[i].make();

		print_message("%s\n", cases[i].name);
		scene__judge(&scene, 9999 * MS);
		scene__expect_none(&scene);
		scene__judge(&scene, 1 * MS);
		scene__expect(&scene, NCCL_HANG, cases[i].cause, 2);
		assert_int_equal(scene.findings.items->ranks[0]->state, cases[i].state);
		scene__free(&scene);
	}
}

/* --- no hang --- */

static struct scene stopped_job(void)
{
	struct scene scene = scene__of(4, 4);

	scene__steps(&scene, 3);
	scene__all_but(&scene, 3);
	for (int32_t rank = 0; rank < 4; rank++)
		scene__set(&scene, rank, NCCL_STOPPED);
	return scene;
}

static struct scene idle_server_and_watchdogs(void)
{
	struct scene scene = scene__of(4, 4);

	scene__steps(&scene, 30);
	for (unsigned int i = 0; i < 1000; i++) {
		scene.now += 100 * MS;
		scene__both(&scene, (int32_t)(i % 4), NCCL_GET_ASYNC_ERROR);
	}
	return scene;
}

/* Another thread waits since before the collective: not for it. */
static struct scene earlier_waits(void)
{
	struct scene scene = scene__of(4, 8);

	for (int32_t rank = 0; rank < 4; rank++) {
		struct nccl_event event = scene__event(&scene, rank, NCCL_WAIT, NCCL_BEGIN);

		event.tid += 100;
		scene__feed(&scene, event);
	}
	scene__steps(&scene, 5);
	return scene;
}

static struct scene some_have_ended(void)
{
	struct scene scene = scene__of(4, 4);

	scene__steps(&scene, 30);
	scene__both(&scene, 0, NCCL_DESTROY);
	scene__both(&scene, 1, NCCL_ABORT);
	scene__end_process(&scene, 1);
	return scene;
}

static struct scene all_have_ended(void)
{
	struct scene scene = some_have_ended();

	scene__both(&scene, 2, NCCL_DESTROY);
	for (int32_t rank = 0; rank < 4; rank++)
		scene__end_process(&scene, rank);
	return scene;
}

static void no_hang(void **state)
{
	static const struct {
		const char *name;
		struct scene (*make)(void);
	} cases[] = {
		{"stopped job", stopped_job},	    {"idle server", idle_server_and_watchdogs},
		{"earlier waits", earlier_waits},   {"some have ended", some_have_ended},
		{"all have ended", all_have_ended},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene scene = cases[i].make();

		print_message("%s\n", cases[i].name);
		scene__judge(&scene, 3600 * SECOND);
		scene__expect_none(&scene);
		scene__free(&scene);
	}
}

static void ranks_that_will_come(void **state)
{
	const enum nccl_activity activities[] = {NCCL_WRITES_FILE, NCCL_AWAITS_REQUESTS,
						 NCCL_TRACED};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct scene scene = scene__of(4, 4);

		scene__steps(&scene, 3);
		scene__all_but(&scene, 0);
		scene__set(&scene, 0, activities[i]);
		scene__judge(&scene, 100 * SECOND);
		scene__expect_none(&scene);
		/* Somebody who holds a waiting rank with a debugger wants to know. */
		scene__set(&scene, 0, NCCL_WAITS_GIL);
		scene__set(&scene, 1, NCCL_TRACED);
		scene__judge(&scene, 0);
		scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 0);
		scene__free(&scene);
	}
}

/* --- in time --- */

static void first_collective_takes_minutes(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__all_but(&scene, 1);
	scene__judge(&scene, 299 * SECOND);
	scene__expect_none(&scene);
	scene__judge(&scene, 1 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 1);
	scene__free(&scene);
}

static void init_without_all_ranks(void **state)
{
	struct scene scene = {.ranks = 3, .now = SECOND, .jobs = nccl_jobs__new(NULL)};

	(void)state;
	for (int32_t rank = 0; rank < 3; rank++)
		scene__begin_init(&scene, rank == 2 ? 3 : rank, 7, 4);
	scene__judge(&scene, 59 * SECOND);
	scene__expect_none(&scene);
	scene__judge(&scene, 1 * SECOND);
	assert_int_equal(scene.findings.count, 1);
	assert_int_equal(scene.findings.items->cause, NCCL_STUCK_INIT);
	assert_int_equal(scene.findings.items->waiting, 3);
	assert_int_equal(scene.findings.items->absent_count, 1);
	assert_int_equal(scene.findings.items->absent[0], 2);
	scene__free(&scene);
}

/* The call has returned, and the creation goes on in NCCL's own thread. */
static void nonblocking_init(void **state)
{
	struct scene scene = {.ranks = 1, .now = SECOND, .jobs = nccl_jobs__new(NULL)};
	struct nccl_event event = scene__event(&scene, 0, NCCL_INIT_RANK, NCCL_BEGIN);

	(void)state;
	event.hash = 7;
	event.size = 2;
	event.nonblocking = true;
	scene__feed(&scene, event);
	event.phase = NCCL_END;
	event.made = 0x1000;
	event.result = NCCL_IN_PROGRESS;
	scene__feed(&scene, event);
	scene__judge(&scene, 60 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_STUCK_INIT, 0);
	assert_int_equal(scene.findings.items->absent[0], 1);
	scene__both(&scene, 0, NCCL_GET_ASYNC_ERROR);
	scene__judge(&scene, 60 * SECOND);
	scene__expect_none(&scene);
	scene__free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_rank),
		cmocka_unit_test(rank_2_is_to_blame),
		cmocka_unit_test(no_hang),
		cmocka_unit_test(ranks_that_will_come),
		cmocka_unit_test(first_collective_takes_minutes),
		cmocka_unit_test(init_without_all_ranks),
		cmocka_unit_test(nonblocking_init),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
