// SPDX-License-Identifier: BSD-2-Clause
// Communicators made from another one: their hashes as NCCL computes them, where that is possible,
// and which ranks meet in them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nccl_scene.h"

#define ID_MAGIC 0x1122334455667788

/* A rank makes a child from the communicator at 0x1000; `made` is its address. */
static void make_child(struct scene *scene, int32_t rank, struct nccl_event event, uint64_t made)
{
	struct nccl_event begin = scene__event(scene, rank, event.function, NCCL_BEGIN);

	event.ns = begin.ns;
	event.process = begin.process;
	event.tid = begin.tid;
	event.device = begin.device;
	scene__feed(scene, event);
	event.phase = NCCL_END;
	event.made = made;
	scene__feed(scene, event);
}

static struct nccl_event split(int32_t color)
{
	return (struct nccl_event){.function = NCCL_SPLIT, .comm = 0x1000, .color = color};
}

static struct nccl_event shrink(const int32_t *excluded, size_t count)
{
	return (struct nccl_event){.function = NCCL_SHRINK,
				   .comm = 0x1000,
				   .excluded = excluded,
				   .excluded_count = count};
}

/* `magic` of those that join; 0: ranks of the parent. */
static struct nccl_event grow(uint64_t magic, int32_t rank, int32_t size)
{
	return (struct nccl_event){.function = NCCL_GROW,
				   .comm = magic ? 0 : 0x1000,
				   .magic = magic,
				   .rank = rank,
				   .size = size};
}

/* The communicator that was made as the `number`th, from 0. */
static const struct nccl_comm *comm_at(const struct scene *scene, unsigned int number)
{
	const struct nccl_comm *comm = nccl_jobs__next(scene->jobs, NULL);

	while (number-- && comm)
		comm = nccl_jobs__next(scene->jobs, comm);
	assert_non_null(comm);
	return comm;
}

static void shrinks_do_not_count(void **state)
{
	const int32_t excluded[] = {1};
	struct scene scene = scene__of(3, 3);

	(void)state;
	for (int32_t rank = 0; rank < 3; rank += 2) {
		make_child(&scene, rank, shrink(excluded, 1), 0x2000);
		make_child(&scene, rank, shrink(excluded, 1), 0x3000);
		make_child(&scene, rank, split(5), 0x4000);
	}
	assert_true(comm_at(&scene, 1)->hash == nccl_hash__shrink(SCENE_HASH));
	/* The second has the same hash, and is another one. */
	assert_true(comm_at(&scene, 2)->hash == nccl_hash__shrink(SCENE_HASH));
	assert_int_equal(comm_at(&scene, 1)->seen, 2);
	assert_int_equal(comm_at(&scene, 2)->seen, 2);
	assert_int_equal(nccl_comm__rank(comm_at(&scene, 2), 1)->handle, 0x3000);
	assert_true(comm_at(&scene, 3)->hash ==
		    nccl_hash__split(NCCL_HASHING_MIXER, SCENE_HASH, 1, 5));
	assert_false(comm_at(&scene, 3)->guessed);
	scene__free(&scene);
}

/* Ranks 0 and 1 have a communicator, and rank 2 joins. */
static struct scene grown(uint64_t id_magic, uint64_t join_magic)
{
	struct scene scene = {.ranks = 3, .now = SECOND, .jobs = nccl_jobs__new(NULL)};

	for (int32_t rank = 0; rank < 2; rank++) {
		struct nccl_event init = {.function = NCCL_INIT_RANK,
					  .hash = SCENE_HASH,
					  .magic = id_magic,
					  .rank = rank,
					  .size = 2};

		make_child(&scene, rank, init, 0x1000);
		make_child(&scene, rank, split(NCCL_NO_COLOR), 0); /* counts, too */
		make_child(&scene, rank, grow(0, -1, 3), 0x2000);
	}
	make_child(&scene, 2, grow(join_magic, 2, 3), 0x2000);
	return scene;
}

static void all_ranks_meet_in_a_grown_one(void **state)
{
	uint64_t magic = nccl_hash__grown_magic(ID_MAGIC, 2);
	struct scene scene = grown(ID_MAGIC, magic);
	const struct nccl_comm *comm = comm_at(&scene, 1);

	(void)state;
	assert_true(comm->hash == nccl_hash__grow(magic, 3));
	assert_false(comm->guessed);
	assert_int_equal(comm->size, 3);
	assert_int_equal(comm->seen, 3);
	for (int32_t rank = 0; rank < 3; rank++)
		assert_int_equal(nccl_comm__rank(comm, (size_t)rank)->process->key.pid,
				 5000 + rank);
	assert_null(nccl_jobs__next(scene.jobs, comm));
	scene__free(&scene);
}

/* Those of the parent meet all the same, under a number that is not NCCL's. */
static void grown_from_an_unknown_id(void **state)
{
	struct scene scene = grown(0, ID_MAGIC);
	const struct nccl_comm *comm = comm_at(&scene, 1);

	(void)state;
	assert_true(comm->guessed);
	assert_int_equal(comm->seen, 2);
	assert_int_equal(nccl_jobs__next(scene.jobs, comm)->seen, 1);
	scene__free(&scene);
}

static void found(struct scene *scene, int32_t rank, uint64_t handle, uint64_t hash)
{
	struct nccl_event event = scene__event(scene, rank, NCCL_FOUND, NCCL_END);

	event.made = handle;
	event.hash = hash;
	event.rank = rank;
	event.size = 2;
	event.sequence = NCCL_SEQUENCE_UNKNOWN;
	scene__feed(scene, event);
}

/* Splits from before the attach were not counted. Older versions do not use the count. */
static void children_of_a_parent_found_later(void **state)
{
	struct scene scene = {.ranks = 2, .now = SECOND, .jobs = nccl_jobs__new(NULL)};
	struct nccl_event older = split(6);

	(void)state;
	older.hashing = NCCL_HASHING_DJB2;
	for (int32_t rank = 0; rank < 2; rank++) {
		found(&scene, rank, 0x1000, SCENE_HASH);
		make_child(&scene, rank, older, 0x2000);
		make_child(&scene, rank, split(7), 0x3000);
	}
	assert_false(comm_at(&scene, 1)->guessed);
	assert_true(comm_at(&scene, 1)->hash ==
		    nccl_hash__split(NCCL_HASHING_DJB2, SCENE_HASH, 1, 6));
	assert_true(comm_at(&scene, 2)->guessed);
	assert_int_equal(comm_at(&scene, 2)->seen, 2);
	/* The child's memory says what it is, also after its first collective. */
	for (int32_t rank = 0; rank < 2; rank++) {
		struct nccl_event call = scene__event(&scene, rank, NCCL_ALL_REDUCE, NCCL_BEGIN);

		call.comm = 0x3000;
		scene__feed(&scene, call);
		found(&scene, rank, 0x3000, 0x77);
	}
	assert_true(comm_at(&scene, 2)->hash == 0x77);
	assert_false(comm_at(&scene, 2)->guessed);
	assert_int_equal(comm_at(&scene, 2)->seen, 2);
	scene__free(&scene);
}

static void shrunk_from_one_of_unknown_size(void **state)
{
	const int32_t excluded[] = {1};
	struct scene scene = {.ranks = 1, .now = SECOND, .jobs = nccl_jobs__new(NULL)};

	(void)state;
	scene__call(&scene, 0, all_reduce(1), 0);
	make_child(&scene, 0, shrink(excluded, 1), 0x2000);
	assert_int_equal(comm_at(&scene, 1)->size, 0);
	assert_int_equal(nccl_comm__rank(comm_at(&scene, 1), 0)->rank, NCCL_RANK_UNKNOWN);
	assert_int_equal(nccl_jobs__losses(scene.jobs).invalid, 0);
	scene__free(&scene);
}

/* The end of a group says nothing about what goes on in NCCL's or another thread. */
static void creations_that_a_group_does_not_end(void **state)
{
	struct scene scene = {.ranks = 1, .now = SECOND, .jobs = nccl_jobs__new(NULL)};
	struct nccl_event init = scene__event(&scene, 0, NCCL_INIT_RANK, NCCL_BEGIN);

	(void)state;
	init.hash = 7;
	init.size = 2;
	init.nonblocking = true;
	scene__feed(&scene, init);
	init.phase = NCCL_END;
	init.made = 0x1000;
	init.result = NCCL_IN_PROGRESS;
	scene__feed(&scene, init);
	scene__both(&scene, 0, NCCL_GROUP_START);
	scene__both(&scene, 0, NCCL_GROUP_END);
	assert_int_equal(nccl_comm__rank(comm_at(&scene, 0), 0)->state, NCCL_RANK_CREATING);
	/* A blocking one of another thread, in its group. */
	for (int i = 0; i < 2; i++) {
		struct nccl_event event = scene__event(&scene, 0, NCCL_GROUP_START, i);

		event.tid++;
		scene__feed(&scene, event);
	}
	for (int i = 0; i < 2; i++) {
		struct nccl_event event = scene__event(&scene, 0, NCCL_INIT_RANK, i);

		event.tid++;
		event.hash = 8;
		event.size = 2;
		event.made = 0x2000;
		scene__feed(&scene, event);
	}
	scene__both(&scene, 0, NCCL_GROUP_START);
	scene__both(&scene, 0, NCCL_GROUP_END);
	assert_int_equal(nccl_comm__rank(comm_at(&scene, 1), 0)->state, NCCL_RANK_CREATING);
	for (int i = 0; i < 2; i++) {
		struct nccl_event event = scene__event(&scene, 0, NCCL_GROUP_END, i);

		event.tid++;
		scene__feed(&scene, event);
	}
	assert_int_equal(nccl_comm__rank(comm_at(&scene, 1), 0)->state, NCCL_RANK_LIVE);
	assert_int_equal(nccl_comm__rank(comm_at(&scene, 0), 0)->state, NCCL_RANK_CREATING);
	scene__free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shrinks_do_not_count),
		cmocka_unit_test(all_ranks_meet_in_a_grown_one),
		cmocka_unit_test(grown_from_an_unknown_id),
		cmocka_unit_test(children_of_a_parent_found_later),
		cmocka_unit_test(shrunk_from_one_of_unknown_size),
		cmocka_unit_test(creations_that_a_group_does_not_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
