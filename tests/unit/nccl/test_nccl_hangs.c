// SPDX-License-Identifier: BSD-2-Clause
// Hangs, and what is none: the cause, and the rank that is blamed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nccl_scene.h"

/* All ranks but one come to the next collective. */
static void all_but(struct scene *scene, int32_t missing)
{
	scene->now += 10 * MS;
	for (int32_t rank = 0; rank < scene->ranks; rank++)
		if (rank != missing)
			scene__call(scene, rank, all_reduce(1024), 0);
}

static void missing_rank(void **state)
{
	const int32_t sizes[] = {2, 3, 8, 16};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (int32_t missing = 0; missing < sizes[i]; missing++) {
			struct scene scene = scene__of(sizes[i], sizes[i]);

			scene__steps(&scene, 5);
			all_but(&scene, missing);
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

static void dead_rank(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__steps(&scene, 5);
	scene__end_process(&scene, 2);
	scene__judge(&scene, 20 * SECOND);
	scene__expect_none(&scene); /* nobody waits for it yet */
	all_but(&scene, 2);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 2);
	assert_int_equal(scene.findings.items->ranks[0]->state, NCCL_RANK_DEAD);
	scene__free(&scene);
}

static void dead_before_the_first_collective(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	all_but(&scene, 1);
	scene__end_process(&scene, 1);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 1);
	scene__free(&scene);
}

static void aborted_rank(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__steps(&scene, 5);
	scene__both(&scene, 0, NCCL_ABORT);
	all_but(&scene, 0);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 0);
	assert_int_equal(scene.findings.items->ranks[0]->state, NCCL_RANK_ABORTED);
	scene__free(&scene);
}

static void stopped_rank(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	all_but(&scene, 3);
	scene__set(&scene, 3, NCCL_STOPPED);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 3);
	scene__free(&scene);
}

static void stopped_job(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__steps(&scene, 3);
	all_but(&scene, 3);
	for (int32_t rank = 0; rank < 4; rank++)
		scene__set(&scene, rank, NCCL_STOPPED);
	scene__judge(&scene, 100 * SECOND);
	scene__expect_none(&scene);
	scene__free(&scene);
}

static void ranks_that_will_come(void **state)
{
	const enum nccl_activity activities[] = {NCCL_WRITES_FILE, NCCL_AWAITS_REQUESTS,
						 NCCL_TRACED};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct scene scene = scene__of(4, 4);

		scene__steps(&scene, 3);
		all_but(&scene, 0);
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

static void one_of_two_missing_ranks_will_come(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__steps(&scene, 3);
	scene.now += 10 * MS;
	scene__call(&scene, 0, all_reduce(1024), 0);
	scene__call(&scene, 1, all_reduce(1024), 0);
	scene__set(&scene, 2, NCCL_WRITES_FILE);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 3);
	scene__free(&scene);
}

static void idle_server_and_watchdogs(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__steps(&scene, 30);
	for (unsigned int i = 0; i < 1000; i++) {
		scene.now += 100 * MS;
		scene__both(&scene, (int32_t)(i % 4), NCCL_GET_ASYNC_ERROR);
	}
	scene__judge(&scene, 3600 * SECOND);
	scene__expect_none(&scene);
	scene__free(&scene);
}

static void first_collective_takes_minutes(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	all_but(&scene, 1);
	scene__judge(&scene, 299 * SECOND);
	scene__expect_none(&scene);
	scene__judge(&scene, 1 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 1);
	scene__free(&scene);
}

static void extra_collective(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__steps(&scene, 5);
	scene__call(&scene, 2, all_reduce(1024), 0);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_EXTRA, 2);
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

static void death_in_the_init(void **state)
{
	struct scene scene = {.ranks = 2, .now = SECOND, .jobs = nccl_jobs__new(NULL)};

	(void)state;
	scene__begin_init(&scene, 0, 7, 2);
	scene__begin_init(&scene, 1, 7, 2);
	scene__end_process(&scene, 1);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_STUCK_INIT, 1);
	scene__free(&scene);
}

static void stuck_in_the_call(void **state)
{
	struct scene scene = scene__of(3, 3);

	(void)state;
	scene__steps(&scene, 5);
	scene__call(&scene, 0, all_reduce(1024), 0);
	scene__call(&scene, 1, all_reduce(1024), 0);
	scene__feed(&scene, scene__event(&scene, 2, NCCL_ALL_REDUCE, NCCL_BEGIN));
	scene__judge(&scene, 10 * SECOND);
	/* The operands of the event are those of all_reduce(1024). */
	scene__expect(&scene, NCCL_HANG, NCCL_STUCK_CALL, 2);
	scene__free(&scene);
}

static void stuck_in_the_group(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	scene__steps(&scene, 5);
	for (int32_t rank = 0; rank < 2; rank++) {
		scene__both(&scene, rank, NCCL_GROUP_START);
		scene__call(&scene, rank, all_reduce(8), 0);
	}
	scene__both(&scene, 0, NCCL_GROUP_END);
	scene__feed(&scene, scene__event(&scene, 1, NCCL_GROUP_END, NCCL_BEGIN));
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_STUCK_CALL, 1);
	scene__free(&scene);
}

static void group_that_does_not_end(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	scene__steps(&scene, 5);
	for (int32_t rank = 0; rank < 2; rank++) {
		scene__both(&scene, rank, NCCL_GROUP_START);
		scene__call(&scene, rank, all_reduce(8), 0);
	}
	scene__both(&scene, 0, NCCL_GROUP_END);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 1);
	scene__free(&scene);
}

static void wait_begins(struct scene *scene)
{
	for (int32_t rank = 0; rank < scene->ranks; rank++)
		scene__feed(scene, scene__event(scene, rank, NCCL_WAIT, NCCL_BEGIN));
}

static void all_here_have_come(void **state)
{
	struct scene scene = scene__of(4, 8);

	(void)state;
	scene__steps(&scene, 5);
	scene__judge(&scene, 1000 * SECOND);
	scene__expect_none(&scene); /* nobody waits */
	wait_begins(&scene);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_ALL_HERE, -1);
	for (int32_t rank = 0; rank < 4; rank++)
		scene__feed(&scene, scene__event(&scene, rank, NCCL_WAIT, NCCL_END));
	wait_begins(&scene);
	scene__judge(&scene, 1000 * SECOND);
	scene__expect_none(&scene); /* for something else: the collectives were done */
	scene__free(&scene);
}

/* Another thread waits since before the collective: not for it. */
static void earlier_waits_say_nothing(void **state)
{
	struct scene scene = scene__of(4, 8);
	struct nccl_event event;

	(void)state;
	for (int32_t rank = 0; rank < 4; rank++) {
		event = scene__event(&scene, rank, NCCL_WAIT, NCCL_BEGIN);
		event.tid += 100;
		scene__feed(&scene, event);
	}
	scene__steps(&scene, 5);
	scene__judge(&scene, 1000 * SECOND);
	scene__expect_none(&scene);
	scene__free(&scene);
}

static void waits_explained_by_a_missing_rank(void **state)
{
	struct scene scene = scene__of(2, 2);
	struct nccl_event event;

	(void)state;
	scene__steps(&scene, 5);
	/* A second communicator, in which all have come. */
	for (int32_t rank = 0; rank < 2; rank++) {
		scene__begin_init(&scene, rank, 77, 2);
		scene__end_init(&scene, rank, 0x2000);
	}
	for (int32_t rank = 0; rank < 4; rank++) {
		event = scene__event(&scene, rank / 2, NCCL_ALL_REDUCE, NCCL_BEGIN);
		event.comm = 0x2000;
		scene__feed(&scene, event);
		event.phase = NCCL_END;
		scene__feed(&scene, event);
	}
	all_but(&scene, 1);
	wait_begins(&scene);
	scene__judge(&scene, 400 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 1);
	scene__free(&scene);
}

/* Rank 2 is stuck; rank 1 waits for it in another communicator than rank 0 waits for rank 1. */
static void only_the_cause_is_blamed(void **state)
{
	struct scene scene = scene__of(2, 2);
	struct nccl_event event;

	(void)state;
	for (int32_t rank = 0; rank < 2; rank++) {
		struct nccl_event init = scene__event(&scene, rank + 1, NCCL_INIT_RANK, NCCL_BEGIN);

		init.hash = 77;
		init.rank = rank;
		init.size = 2;
		scene__feed(&scene, init);
		init.phase = NCCL_END;
		init.made = 0x2000;
		scene__feed(&scene, init);
	}
	scene__steps(&scene, 5);
	for (int32_t i = 0; i < 3; i++) { /* once both, then rank 1 alone */
		event = scene__event(&scene, i == 1 ? 2 : 1, NCCL_ALL_REDUCE, NCCL_BEGIN);
		event.comm = 0x2000;
		scene__feed(&scene, event);
		event.phase = NCCL_END;
		scene__feed(&scene, event);
	}
	scene__call(&scene, 0, all_reduce(1024), 0);
	scene__judge(&scene, 20 * SECOND);
	assert_int_equal(scene.findings.count, 1);
	assert_int_equal(scene.findings.items->ranks[0]->process->key.pid, 5002);
	scene__free(&scene);
}

/* gpuprobe came late: ranks are counted from different moments. */
static void found_later(void **state)
{
	struct scene scene = {.ranks = 2, .now = SECOND, .jobs = nccl_jobs__new(NULL)};
	struct nccl_event event;

	(void)state;
	for (int32_t rank = 0; rank < 2; rank++) {
		event = scene__event(&scene, rank, NCCL_FOUND, NCCL_END);
		event.made = 0x1000;
		event.hash = 7;
		event.rank = rank;
		event.size = 2;
		event.sequence = NCCL_SEQUENCE_UNKNOWN;
		scene__feed(&scene, event);
	}
	scene__call(&scene, 0, all_reduce(1), 0);
	for (unsigned int i = 2; i < 60; i++) {
		scene__call(&scene, 0, all_reduce(i), 0);
		scene__call(&scene, 1, all_reduce(i), 0);
	}
	scene__judge(&scene, 1000 * SECOND);
	scene__expect_none(&scene);
	/* But a wait that does not end proves that somebody is missing. */
	scene__call(&scene, 0, all_reduce(60), 0);
	scene__feed(&scene, scene__event(&scene, 0, NCCL_WAIT, NCCL_BEGIN));
	scene__judge(&scene, 1000 * SECOND);
	assert_int_equal(scene.findings.items->verdict, NCCL_HANG);
	scene__free(&scene);
}

static void normal_end(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__steps(&scene, 30);
	for (int32_t rank = 0; rank < 4; rank++) {
		scene__both(&scene, rank, rank % 2 ? NCCL_ABORT : NCCL_DESTROY);
		scene__judge(&scene, 100 * SECOND);
		scene__expect_none(&scene);
		scene__end_process(&scene, rank);
	}
	scene__judge(&scene, 100 * SECOND);
	scene__expect_none(&scene);
	scene__free(&scene);
}

/* Each waits for the other, in different communicators. */
static void circle(void **state)
{
	struct scene scene = scene__of(2, 2);
	struct nccl_event event;

	(void)state;
	scene__steps(&scene, 3);
	for (int32_t rank = 0; rank < 2; rank++) {
		scene__begin_init(&scene, rank, 77, 2);
		scene__end_init(&scene, rank, 0x2000);
	}
	for (unsigned int i = 0; i < 3; i++) {
		event = scene__event(&scene, i == 1, NCCL_ALL_REDUCE, NCCL_BEGIN);
		event.comm = 0x2000;
		scene__feed(&scene, event);
		event.phase = NCCL_END;
		scene__feed(&scene, event);
	}
	all_but(&scene, 0);
	scene__judge(&scene, 20 * SECOND);
	assert_int_equal(scene.findings.count, 2);
	scene__free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_rank),
		cmocka_unit_test(dead_rank),
		cmocka_unit_test(dead_before_the_first_collective),
		cmocka_unit_test(aborted_rank),
		cmocka_unit_test(stopped_rank),
		cmocka_unit_test(stopped_job),
		cmocka_unit_test(ranks_that_will_come),
		cmocka_unit_test(one_of_two_missing_ranks_will_come),
		cmocka_unit_test(idle_server_and_watchdogs),
		cmocka_unit_test(first_collective_takes_minutes),
		cmocka_unit_test(extra_collective),
		cmocka_unit_test(init_without_all_ranks),
		cmocka_unit_test(nonblocking_init),
		cmocka_unit_test(death_in_the_init),
		cmocka_unit_test(stuck_in_the_call),
		cmocka_unit_test(stuck_in_the_group),
		cmocka_unit_test(group_that_does_not_end),
		cmocka_unit_test(all_here_have_come),
		cmocka_unit_test(earlier_waits_say_nothing),
		cmocka_unit_test(waits_explained_by_a_missing_rank),
		cmocka_unit_test(only_the_cause_is_blamed),
		cmocka_unit_test(found_later),
		cmocka_unit_test(normal_end),
		cmocka_unit_test(circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
