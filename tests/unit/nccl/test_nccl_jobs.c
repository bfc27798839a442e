// SPDX-License-Identifier: BSD-2-Clause
// Counting: groups, nested calls, captures, splits, late attach; and the bounds of what hostile
// processes can take. A random run is compared with a naive count.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "nccl_scene.h"

static const struct nccl_rank *rank_of(const struct scene *scene, size_t comm, size_t rank)
{
	const struct nccl_comm *at = nccl_jobs__next(scene->jobs, NULL);

	for (; comm; comm--)
		at = nccl_jobs__next(scene->jobs, at);
	assert_non_null(at);
	assert_non_null(nccl_comm__rank(at, rank));
	return nccl_comm__rank(at, rank);
}

static void groups_count_at_their_end(void **state)
{
	struct scene scene = scene__of(2, 2);
	struct nccl_event event;

	(void)state;
	scene__both(&scene, 0, NCCL_GROUP_START);
	scene__both(&scene, 0, NCCL_GROUP_START);
	scene__call(&scene, 0, all_reduce(1), 0);
	scene__call(&scene, 0, all_reduce(2), 0);
	scene__both(&scene, 0, NCCL_GROUP_END);
	assert_int_equal(rank_of(&scene, 0, 0)->sequence, 0);
	scene__both(&scene, 0, NCCL_GROUP_END);
	assert_int_equal(rank_of(&scene, 0, 0)->sequence, 2);
	/* What is only simulated does not count. */
	scene__both(&scene, 0, NCCL_GROUP_START);
	scene__call(&scene, 0, all_reduce(1), 0);
	scene__both(&scene, 0, NCCL_GROUP_SIMULATE_END);
	assert_int_equal(rank_of(&scene, 0, 0)->sequence, 2);
	/* A group that fails has done nothing. */
	scene__both(&scene, 0, NCCL_GROUP_START);
	scene__call(&scene, 0, all_reduce(1), 0);
	scene__call(&scene, 0, all_reduce(1), 0);
	event = scene__event(&scene, 0, NCCL_GROUP_END, NCCL_BEGIN);
	scene__feed(&scene, event);
	event.phase = NCCL_END;
	event.result = 3;
	scene__feed(&scene, event);
	assert_int_equal(rank_of(&scene, 0, 0)->sequence, 2);
	assert_int_equal(rank_of(&scene, 0, 0)->failed, 2);
	assert_int_equal(nccl_jobs__next(scene.jobs, NULL)->sequence, 2);
	scene__free(&scene);
}

static void nested_calls_count_once(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	scene__feed(&scene, scene__event(&scene, 0, NCCL_BCAST, NCCL_BEGIN));
	scene__both(&scene, 0, NCCL_BROADCAST);
	scene__feed(&scene, scene__event(&scene, 0, NCCL_BCAST, NCCL_END));
	/* The other rank calls the newer function: it is the same. */
	scene__both(&scene, 1, NCCL_BROADCAST);
	assert_int_equal(rank_of(&scene, 0, 0)->sequence, 1);
	assert_int_equal(nccl_jobs__next(scene.jobs, NULL)->collectives[NCCL_BROADCAST], 1);
	scene__judge(&scene, 0);
	scene__expect_none(&scene);
	scene__free(&scene);
}

static void captured_ones_are_apart(void **state)
{
	struct scene scene = scene__of(2, 2);
	struct nccl_event event = scene__event(&scene, 0, NCCL_ALL_REDUCE, NCCL_BEGIN);

	(void)state;
	event.captured = true;
	scene__feed(&scene, event);
	event.phase = NCCL_END;
	scene__feed(&scene, event);
	assert_int_equal(rank_of(&scene, 0, 0)->sequence, 0);
	assert_int_equal(rank_of(&scene, 0, 0)->captured, 1);
	scene__free(&scene);
}

static void split(struct scene *scene, int32_t rank, int32_t color, int32_t key, uint64_t made,
		  enum nccl_hashing hashing)
{
	struct nccl_event event = scene__event(scene, rank, NCCL_SPLIT, NCCL_BEGIN);

	event.color = color;
	event.key = key;
	event.hashing = hashing;
	scene__feed(scene, event);
	event.phase = NCCL_END;
	event.made = made;
	scene__feed(scene, event);
}

static void ranks_of_a_split(void **state)
{
	struct scene scene = scene__of(6, 6);
	const struct nccl_comm *child;

	(void)state;
	/* Even ones in the other order; rank 5 gets none. */
	for (int32_t rank = 0; rank < 6; rank++) {
		split(&scene, rank, rank == 5 ? NCCL_NO_COLOR : rank % 2, -rank, 0x2000, 0);
		if (rank < 5)
			assert_int_equal(rank_of(&scene, 1, 0)->rank, NCCL_RANK_UNKNOWN);
	}
	child = nccl_jobs__next(scene.jobs, nccl_jobs__next(scene.jobs, NULL));
	assert_true(child->hash == nccl_hash__split(0, SCENE_HASH, 1, 0));
	assert_int_equal(child->size, 3);
	assert_int_equal(nccl_comm__rank(child, 0)->process->key.pid, 5004);
	assert_int_equal(nccl_comm__rank(child, 2)->process->key.pid, 5000);
	child = nccl_jobs__next(scene.jobs, child);
	assert_int_equal(child->size, 2);
	assert_int_equal(nccl_comm__rank(child, 0)->process->key.pid, 5003);
	assert_null(nccl_jobs__next(scene.jobs, child));
	scene__free(&scene);
}

/* Two splits of a colour have one hash in older versions. They are two all the same. */
static void older_splits_of_a_colour(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	split(&scene, 0, 7, 0, 0x2000, NCCL_HASHING_DJB2);
	split(&scene, 0, 7, 0, 0x3000, NCCL_HASHING_DJB2);
	split(&scene, 1, 7, 0, 0x2000, NCCL_HASHING_DJB2);
	split(&scene, 1, 7, 0, 0x3000, NCCL_HASHING_DJB2);
	for (size_t comm = 1; comm < 3; comm++)
		for (size_t rank = 0; rank < 2; rank++)
			assert_int_equal(rank_of(&scene, comm, rank)->handle, 0x1000 * (comm + 1));
	scene__free(&scene);
}

static void shrink_keeps_the_order(void **state)
{
	const int32_t excluded[] = {1, 2};
	struct scene scene = scene__of(4, 4);

	(void)state;
	for (int32_t rank = 0; rank < 4; rank += 3) {
		struct nccl_event event = scene__event(&scene, rank, NCCL_SHRINK, NCCL_BEGIN);

		event.excluded = excluded;
		event.excluded_count = 2;
		scene__feed(&scene, event);
		event.phase = NCCL_END;
		event.made = 0x2000;
		scene__feed(&scene, event);
	}
	assert_int_equal(rank_of(&scene, 1, 0)->process->key.pid, 5000);
	assert_int_equal(rank_of(&scene, 1, 1)->process->key.pid, 5003);
	assert_int_equal(rank_of(&scene, 1, 1)->rank, 1);
	scene__free(&scene);
}

/* An address comes again: the earlier communicator there has ended. */
static void addresses_come_again(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	scene__begin_init(&scene, 0, 77, 2);
	scene__end_init(&scene, 0, 0x1000);
	scene__call(&scene, 0, all_reduce(1), 0);
	assert_int_equal(rank_of(&scene, 0, 0)->state, NCCL_RANK_DESTROYED);
	assert_int_equal(rank_of(&scene, 0, 0)->sequence, 0);
	assert_int_equal(rank_of(&scene, 1, 0)->sequence, 1);
	scene__free(&scene);
}

static void strangers_with_an_equal_hash(void **state)
{
	struct scene scene = scene__of(2, 2);
	struct nccl_event event = scene__event(&scene, 0, NCCL_INIT_RANK, NCCL_BEGIN);

	(void)state;
	/* Another process claims rank 0, one of another user rank 1, one a size of its own. */
	event.hash = SCENE_HASH;
	event.size = 2;
	event.process.pid = 7000;
	scene__feed(&scene, event);
	event.process.pid = 7001;
	event.process.uid = 1000;
	event.rank = 1;
	scene__feed(&scene, event);
	event.process.uid = 0;
	event.process.pid = 7002;
	event.size = 3;
	scene__feed(&scene, event);
	assert_int_equal(nccl_jobs__next(scene.jobs, NULL)->seen, 2);
	assert_int_equal(rank_of(&scene, 1, 0)->process->key.pid, 7000);
	assert_int_equal(rank_of(&scene, 2, 0)->process->key.pid, 7001);
	assert_int_equal(rank_of(&scene, 3, 0)->process->key.pid, 7002);
	scene__free(&scene);
}

static void impossible_ranks(void **state)
{
	struct scene scene = scene__of(2, 2);
	const struct {
		int32_t rank, size;
	} claims[] = {{2, 2}, {INT32_MAX, 2}, {-2, 2}, {INT32_MIN, 2}, {0, -1}};
	struct nccl_event event = scene__event(&scene, 0, NCCL_INIT_RANK, NCCL_BEGIN);

	(void)state;
	event.hash = 77;
	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		event.tid++;
		event.rank = claims[i].rank;
		event.size = claims[i].size;
		scene__feed(&scene, event);
	}
	assert_int_equal(nccl_jobs__losses(scene.jobs).invalid, 5);
	assert_null(nccl_jobs__next(scene.jobs, nccl_jobs__next(scene.jobs, NULL)));
	scene__free(&scene);
}

/* A process makes communicators without end; another one is not harmed. */
static void bounded_by_process(void **state)
{
	struct scene scene = scene__of(2, 2);
	struct nccl_event event = scene__event(&scene, 0, NCCL_INIT_RANK, NCCL_BEGIN);
	size_t most = 0;

	(void)state;
	event.process.pid = 7000;
	event.size = 2;
	for (unsigned int i = 0; i < 100000; i++) {
		event.hash = i;
		event.phase = NCCL_BEGIN;
		scene__feed(&scene, event);
		event.phase = NCCL_END;
		event.made = 0x100000 + i;
		scene__feed(&scene, event);
		if (nccl_jobs__bytes(scene.jobs) > most)
			most = nccl_jobs__bytes(scene.jobs);
	}
	assert_true(most < (1U << 20) + 40000);
	assert_true(nccl_jobs__losses(scene.jobs).no_room > 90000);
	scene__steps(&scene, 5);
	assert_int_equal(rank_of(&scene, 0, 1)->sequence, 5);
	scene__free(&scene);
}

/* Communicators that have ended make room. */
static void ended_ones_are_forgotten(void **state)
{
	struct scene scene = scene__of(2, 2);
	struct nccl_event event;

	(void)state;
	for (unsigned int i = 0; i < 5000; i++) {
		scene__begin_init(&scene, 0, 1000 + i, 2);
		scene__end_init(&scene, 0, 0x2000);
		event = scene__event(&scene, 0, NCCL_DESTROY, NCCL_BEGIN);
		event.comm = 0x2000;
		scene__feed(&scene, event);
		event.phase = NCCL_END;
		scene__feed(&scene, event);
	}
	assert_int_equal(nccl_jobs__losses(scene.jobs).no_room, 0);
	assert_true(nccl_jobs__losses(scene.jobs).forgotten > 4000);
	scene__free(&scene);
}

static void bounded_over_all(void **state)
{
	const struct nccl_limits limits = {.bytes = 1U << 20};
	struct scene scene = {.ranks = 1, .now = SECOND, .jobs = nccl_jobs__new(&limits)};
	uint64_t lost;

	(void)state;
	for (int32_t rank = 0; rank < 5000; rank++) {
		scene__begin_init(&scene, rank, (uint64_t)rank / 16, 5000);
		scene__end_init(&scene, rank, 0x1000);
		assert_true(nccl_jobs__bytes(scene.jobs) <= 1U << 20);
	}
	lost = nccl_jobs__losses(scene.jobs).no_room;
	assert_true(lost > 1000);
	/* When all have ended, there is room again. */
	for (int32_t rank = 0; rank < 5000; rank++)
		scene__end_process(&scene, rank);
	for (int32_t rank = 6000; rank < 6400; rank++) {
		scene__begin_init(&scene, rank, 7, 7000);
		scene__end_init(&scene, rank, 0x1000);
	}
	assert_int_equal(nccl_jobs__losses(scene.jobs).no_room, lost);
	assert_true(nccl_jobs__losses(scene.jobs).forgotten > 0);
	scene__free(&scene);
}

static void ends_without_begins_and_the_reverse(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	scene__feed(&scene, scene__event(&scene, 0, NCCL_ALL_REDUCE, NCCL_END));
	assert_int_equal(nccl_jobs__losses(scene.jobs).stray_ends, 1);
	scene__feed(&scene, scene__event(&scene, 0, NCCL_ALL_REDUCE, NCCL_BEGIN));
	scene__feed(&scene, scene__event(&scene, 0, NCCL_ALL_REDUCE, NCCL_BEGIN));
	assert_int_equal(nccl_jobs__losses(scene.jobs).unended, 1);
	assert_int_equal(rank_of(&scene, 0, 0)->sequence, 2);
	scene__free(&scene);
}

static void waits_bound_the_bandwidth(void **state)
{
	struct scene scene = scene__of(1, 1);
	const struct nccl_comm *comm = nccl_jobs__next(scene.jobs, NULL);

	(void)state;
	scene__call(&scene, 0, all_reduce(1000000), 0); /* 2 MB */
	scene__feed(&scene, scene__event(&scene, 0, NCCL_WAIT, NCCL_BEGIN));
	scene.now += MS;
	scene__feed(&scene, scene__event(&scene, 0, NCCL_WAIT, NCCL_END));
	assert_true(comm->at_least > 1.99e9 && comm->at_least < 2.01e9);
	assert_int_equal(rank_of(&scene, 0, 0)->done, 1);
	scene__free(&scene);
}

static uint64_t random_state = 1;

static uint32_t any(uint32_t below)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)(random_state >> 33) % below;
}

/* What a naive reader counts, for 4 ranks and 3 communicators. */
struct naive {
	uint64_t sequence[3][4], bytes[3], grouped[3][4];
	bool group[4];
};

static void random_calls_are_counted_exactly(void **state)
{
	struct scene scene = {.ranks = 4, .now = SECOND, .jobs = nccl_jobs__new(NULL)};
	struct naive naive = {0};

	(void)state;
	for (uint32_t comm = 0; comm < 3; comm++) {
		for (int32_t rank = 0; rank < 4; rank++) {
			scene__begin_init(&scene, rank, 100 + comm, 4);
			scene__end_init(&scene, rank, 0x1000 + comm);
		}
	}
	for (unsigned int i = 0; i < 50000; i++) {
		uint32_t rank = any(4), comm = any(3), what = any(10);
		struct nccl_event event =
			scene__event(&scene, (int32_t)rank, NCCL_ALL_GATHER, NCCL_BEGIN);

		if (what == 0 && !naive.group[rank]) {
			scene__both(&scene, (int32_t)rank, NCCL_GROUP_START);
			naive.group[rank] = true;
		} else if (what == 1 && naive.group[rank]) {
			scene__both(&scene, (int32_t)rank, NCCL_GROUP_END);
			naive.group[rank] = false;
			for (uint32_t j = 0; j < 3; j++) {
				naive.sequence[j][rank] += naive.grouped[j][rank];
				naive.grouped[j][rank] = 0;
			}
		} else if (what > 1) {
			bool fails = what == 2;

			event.comm = 0x1000 + comm;
			scene__feed(&scene, event);
			event.phase = NCCL_END;
			event.result = fails ? 4 : 0;
			scene__feed(&scene, event);
			if (naive.group[rank])
				naive.grouped[comm][rank] += !fails;
			else
				naive.sequence[comm][rank] += !fails;
		}
	}
	for (uint32_t comm = 0; comm < 3; comm++)
		for (uint32_t rank = 0; rank < 4; rank++)
			assert_int_equal(rank_of(&scene, comm, rank)->sequence,
					 naive.sequence[comm][rank]);
	scene__free(&scene);
}

/* Any event at all: nothing breaks, and the room is kept. */
static void nonsense(void **state)
{
	const struct nccl_limits limits = {.process_bytes = 1U << 16, .bytes = 1U << 18};
	struct scene scene = {.ranks = 4, .now = SECOND, .jobs = nccl_jobs__new(&limits)};
	const int32_t excluded[] = {-1, 0, 1, INT32_MAX};

	(void)state;
	for (unsigned int i = 0; i < 300000; i++) {
		struct nccl_event event = {
			.ns = any(1000),
			.process = {.pid = (int32_t)any(9), .uid = any(2)},
			.tid = (int32_t)any(3),
			.phase = any(2),
			.function = any(NCCL_FUNCTIONS + 1),
			.comm = any(6),
			.made = any(6),
			.operation = {.count = any(2) ? UINT64_MAX : any(4),
				      .datatype = (int32_t)any(14) - 1,
				      .op = (int32_t)any(8),
				      .root = (int32_t)any(6) - 1},
			.captured = !any(8),
			.queue = any(3),
			.hash = any(8),
			.rank = (int32_t)any(6) - 1,
			.size = (int32_t)any(5),
			.name = any(2) ? "\x1b[31m a name that is longer than what is kept" : NULL,
			.nonblocking = any(2),
			.sequence = any(2) ? NCCL_SEQUENCE_UNKNOWN : any(100),
			.hashing = any(2),
			.color = (int32_t)any(3) - 1,
			.key = (int32_t)any(3),
			.excluded = excluded,
			.excluded_count = any(5),
			.result = any(3) ? 0 : (int32_t)any(9),
			.async_error = (int32_t)any(9),
		};

		scene__feed(&scene, event);
		if (!any(50))
			nccl_jobs__process_ended(scene.jobs, &event.process);
		if (!any(200))
			scene__judge(&scene, any(100) * SECOND);
		assert_true(nccl_jobs__bytes(scene.jobs) <= 1U << 18);
	}
	scene__free(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_count_at_their_end),
		cmocka_unit_test(nested_calls_count_once),
		cmocka_unit_test(captured_ones_are_apart),
		cmocka_unit_test(ranks_of_a_split),
		cmocka_unit_test(older_splits_of_a_colour),
		cmocka_unit_test(shrink_keeps_the_order),
		cmocka_unit_test(addresses_come_again),
		cmocka_unit_test(strangers_with_an_equal_hash),
		cmocka_unit_test(impossible_ranks),
		cmocka_unit_test(bounded_by_process),
		cmocka_unit_test(ended_ones_are_forgotten),
		cmocka_unit_test(bounded_over_all),
		cmocka_unit_test(ends_without_begins_and_the_reverse),
		cmocka_unit_test(waits_bound_the_bandwidth),
		cmocka_unit_test(random_calls_are_counted_exactly),
		cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
