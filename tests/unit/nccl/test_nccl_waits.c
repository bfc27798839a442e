// SPDX-License-Identifier: BSD-2-Clause
// Waits for the GPU, and ranks that wait for one another in several communicators.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nccl_scene.h"

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

/* --- two communicators --- */

/* Two ranks, from this one on, have a second communicator at 0x2000. */
static void second_comm(struct scene *scene, int32_t first)
{
	for (int32_t i = 0; i < 2; i++) {
		struct nccl_event init = scene__event(scene, first + i, NCCL_INIT_RANK, NCCL_BEGIN);

		init.hash = 77;
		init.rank = i;
		init.size = 2;
		scene__feed(scene, init);
		init.phase = NCCL_END;
		init.made = 0x2000;
		scene__feed(scene, init);
	}
}

/* A collective there. */
static void second_call(struct scene *scene, int32_t rank)
{
	struct nccl_event event = scene__event(scene, rank, NCCL_ALL_REDUCE, NCCL_BEGIN);

	event.comm = 0x2000;
	scene__feed(scene, event);
	event.phase = NCCL_END;
	scene__feed(scene, event);
}

/* All have come in the second communicator: their waits are explained by the first one. */
static void waits_explained_by_a_missing_rank(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	scene__steps(&scene, 5);
	second_comm(&scene, 0);
	for (int32_t i = 0; i < 4; i++)
		second_call(&scene, i / 2);
	scene__all_but(&scene, 1);
	wait_begins(&scene);
	scene__judge(&scene, 400 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_RANK_MISSING, 1);
	scene__free(&scene);
}

/* Rank 2 is stuck; rank 1 waits for it in another communicator than rank 0 waits for rank 1. */
static void only_the_cause_is_blamed(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	second_comm(&scene, 1);
	scene__steps(&scene, 5);
	second_call(&scene, 1);
	second_call(&scene, 2);
	second_call(&scene, 1);
	scene__call(&scene, 0, all_reduce(1024), 0);
	scene__judge(&scene, 20 * SECOND);
	assert_int_equal(scene.findings.count, 1);
	assert_int_equal(scene.findings.items->ranks[0]->process->key.pid, 5002);
	scene__free(&scene);
}

/* Each waits for the other, in different communicators. */
static void circle(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	scene__steps(&scene, 3);
	second_comm(&scene, 0);
	second_call(&scene, 0);
	second_call(&scene, 1);
	second_call(&scene, 0);
	scene__all_but(&scene, 0);
	scene__judge(&scene, 20 * SECOND);
	assert_int_equal(scene.findings.count, 2);
	scene__free(&scene);
}

/* --- late --- */

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_here_have_come),
		cmocka_unit_test(waits_explained_by_a_missing_rank),
		cmocka_unit_test(only_the_cause_is_blamed),
		cmocka_unit_test(circle),
		cmocka_unit_test(found_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
