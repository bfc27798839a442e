// SPDX-License-Identifier: BSD-2-Clause
// Messages without a partner, and ranks that call different things, come late, have uneven loads
// or fail: the verdict and the rank.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nccl_scene.h"

static void mismatch_of_each_operand(void **state)
{
	const struct nccl_operation usual = {.count = 8, .datatype = 7, .function = NCCL_REDUCE};
	struct nccl_operation odd[5];

	(void)state;
	for (size_t i = 0; i < 5; i++)
		odd[i] = usual;
	odd[0].count = 9;
	odd[1].datatype = 6;
	odd[2].op = 2;
	odd[3].root = 1;
	odd[4].function = NCCL_BROADCAST;
	for (size_t i = 0; i < 5; i++) {
		for (int32_t blamed = 0; blamed < 4; blamed++) {
			struct scene scene = scene__of(4, 4);

			scene__steps(&scene, 3);
			for (int32_t rank = 0; rank < 4; rank++)
				scene__call(&scene, rank, rank == blamed ? odd[i] : usual, 0);
			scene__steps(&scene, 3);
			scene__judge(&scene, SECOND);
			scene__expect(&scene, NCCL_MISMATCH, NCCL_DIFFERENT, blamed);
			assert_int_equal(scene.findings.items->sequence, 4);
			assert_int_equal(scene.findings.items->operation.count, 8);
			scene__free(&scene);
		}
	}
}

/* Four ranks make collectives of 1, 2, ... 8 elements; rank 1 those of `own`. */
static struct scene numbered(const unsigned int own[8])
{
	struct scene scene = scene__of(4, 4);

	for (unsigned int i = 0; i < 8; i++) {
		scene.now += MS;
		for (int32_t rank = 0; rank < 4; rank++)
			if (rank != 1 || own[i])
				scene__call(&scene, rank, all_reduce(rank == 1 ? own[i] : i + 1),
					    0);
	}
	scene__judge(&scene, SECOND);
	return scene;
}

static void order(void **state)
{
	static const struct {
		unsigned int own[8];
		enum nccl_cause cause;
	} runs[] = {
		{{1, 2, 4, 5, 6, 7, 8, 0}, NCCL_SKIPPED},
		{{1, 2, 99, 3, 4, 5, 6, 7}, NCCL_INSERTED},
		{{1, 2, 4, 3, 5, 6, 7, 8}, NCCL_SWAPPED},
		/* 4 comes before 3, and once more at its place */
		{{1, 2, 4, 3, 4, 5, 6, 7}, NCCL_INSERTED},
		{{1, 2, 99, 4, 5, 6, 7, 8}, NCCL_DIFFERENT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct scene scene = numbered(runs[i].own);

		scene__expect(&scene, NCCL_MISMATCH, runs[i].cause, 1);
		assert_int_equal(scene.findings.items->sequence, 3);
		scene__free(&scene);
	}
}

/* Two kinds of calls take turns; the sound ranks are at the second one after the mismatch. */
static void one_more_of_calls_in_turn(void **state)
{
	static const unsigned int usual[] = {1, 2, 1, 2}, own[] = {1, 2, 2, 1, 2};
	struct scene scene = scene__of(4, 4);

	(void)state;
	for (unsigned int i = 0; i < sizeof(own) / sizeof(*own); i++) {
		scene.now += MS;
		for (int32_t rank = 0; rank < 4; rank++)
			if (rank == 1 || i < sizeof(usual) / sizeof(*usual))
				scene__call(&scene, rank, all_reduce(rank == 1 ? own[i] : usual[i]),
					    0);
	}
	scene__judge(&scene, SECOND);
	scene__expect(&scene, NCCL_MISMATCH, NCCL_INSERTED, 1);
	assert_int_equal(scene.findings.items->sequence, 3);
	scene__free(&scene);
}

static void own_reductions_have_own_numbers(void **state)
{
	struct nccl_operation operation = all_reduce(8);
	struct scene scene = scene__of(2, 2);

	(void)state;
	operation.op = 5;
	scene__call(&scene, 0, operation, 0);
	operation.op = 9;
	scene__call(&scene, 1, operation, 0);
	scene__judge(&scene, SECOND);
	scene__expect_none(&scene);
	scene__free(&scene);
}

static void send_without_receive(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__call(&scene, 0, message(NCCL_SEND, 1, 8), 0);
	scene__call(&scene, 1, message(NCCL_RECV, 0, 8), 0);
	scene__call(&scene, 0, message(NCCL_SEND, 1, 8), 0);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_PEER_MISSING, 1);
	assert_int_equal(scene.findings.items->sequence, 2);
	scene__free(&scene);
}

static void receive_without_send(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	scene__call(&scene, 3, message(NCCL_RECV, 2, 8), 0);
	scene__set(&scene, 2, NCCL_STOPPED);
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_PEER_MISSING, 2);
	scene__free(&scene);
}

/* A pipeline of four ranks: the second is stuck, so the third and fourth wait too. */
static void pipeline(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	for (unsigned int step = 0; step < 5; step++) {
		scene.now += 10 * MS;
		for (int32_t rank = 0; rank < 4; rank++) {
			if (rank)
				scene__call(&scene, rank, message(NCCL_RECV, rank - 1, 8), 0);
			if (rank < 3 && (rank != 1 || step < 4))
				scene__call(&scene, rank, message(NCCL_SEND, rank + 1, 8), 0);
		}
	}
	scene__judge(&scene, 10 * SECOND);
	scene__expect(&scene, NCCL_HANG, NCCL_PEER_MISSING, 1);
	scene__free(&scene);
}

static void message_of_two_sizes(void **state)
{
	struct scene scene = scene__of(2, 2);

	(void)state;
	scene__call(&scene, 0, message(NCCL_SEND, 1, 8), 0);
	scene__call(&scene, 1, message(NCCL_RECV, 0, 16), 0);
	scene__judge(&scene, SECOND);
	assert_int_equal(scene.findings.count, 1);
	assert_int_equal(scene.findings.items->cause, NCCL_DIFFERENT_PAIR);
	assert_int_equal(scene.findings.items->pair->sent_bytes, 8);
	assert_int_equal(scene.findings.items->pair->received_bytes, 16);
	scene__free(&scene);
}

/* Steps of 20 ms in which ranks come up to `jitter` ns late, and one of them `late` ns more. */
static void jittered(struct scene *scene, unsigned int steps, uint64_t jitter, int32_t slow,
		     unsigned int every, uint64_t late, enum nccl_queue queue)
{
	uint64_t random = 42;

	for (unsigned int step = 0; step < steps; step++) {
		scene->now += 20 * MS;
		for (int32_t rank = 0; rank < scene->ranks; rank++) {
			struct nccl_event event =
				scene__event(scene, rank, NCCL_ALL_REDUCE, NCCL_BEGIN);

			random = random * 6364136223846793005 + 1442695040888963407;
			event.ns += (random >> 33) % (jitter + 1);
			event.ns += rank == slow && step % every == 0 ? late : 0;
			event.queue = queue;
			scene__feed(scene, event);
			event.phase = NCCL_END;
			scene__feed(scene, event);
		}
	}
}

static void stragglers(void **state)
{
	(void)state;
	for (int32_t slow = 0; slow < 8; slow++) {
		struct scene scene = scene__of(8, 8);

		jittered(&scene, 100, MS, slow, 1 + (unsigned int)slow % 3, 8 * MS,
			 NCCL_QUEUE_UNKNOWN);
		scene__judge(&scene, SECOND);
		scene__expect(&scene, NCCL_STRAGGLER, NCCL_CAUSE_NONE, slow);
		assert_int_equal(scene.findings.items->compared, 99);
		scene__free(&scene);
	}
}

static void hosts_that_run_ahead_are_not_late(void **state)
{
	struct scene scene = scene__of(8, 8);

	(void)state;
	jittered(&scene, 100, MS, 3, 1, 8 * MS, NCCL_QUEUE_BUSY);
	scene__judge(&scene, SECOND);
	scene__expect_none(&scene);
	scene__free(&scene);
}

static void jitter_is_sound(void **state)
{
	const int32_t sizes[] = {2, 3, 4, 8, 16};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct scene scene = scene__of(sizes[i], sizes[i]);

		jittered(&scene, 300, 3 * MS, -1, 1, 0, NCCL_QUEUE_EMPTY);
		scene__judge(&scene, 100 * SECOND);
		scene__expect_none(&scene);
		scene__free(&scene);
	}
}

static void uneven_times(void **state)
{
	struct scene scene = scene__of(8, 8);

	(void)state;
	jittered(&scene, 100, 15 * MS, -1, 1, 0, NCCL_QUEUE_UNKNOWN);
	scene__judge(&scene, SECOND);
	scene__expect(&scene, NCCL_IMBALANCE, NCCL_UNEVEN_TIMES, -1);
	scene__free(&scene);
}

/* All-to-all by messages; one rank receives `factor` times as much. */
static struct scene exchange(int32_t popular, uint64_t factor)
{
	struct scene scene = scene__of(4, 4);

	for (unsigned int step = 0; step < 30; step++) {
		for (int32_t from = 0; from < 4; from++) {
			for (int32_t to = 0; to < 4; to++) {
				uint64_t count = to == popular ? 100000 * factor : 100000;

				if (from == to)
					continue;
				scene__call(&scene, from, message(NCCL_SEND, to, count), 0);
				scene__call(&scene, to, message(NCCL_RECV, from, count), 0);
			}
		}
	}
	scene__judge(&scene, 1000 * SECOND);
	return scene;
}

static void uneven_bytes(void **state)
{
	struct scene scene = exchange(2, 3);

	(void)state;
	scene__expect(&scene, NCCL_IMBALANCE, NCCL_UNEVEN_BYTES, 2);
	scene__free(&scene);
	scene = exchange(2, 1);
	scene__expect_none(&scene);
	scene__free(&scene);
}

/* A rank that hands out data sends more than others, and one receives more: that is its part. */
static void one_way_traffic_is_even(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	for (unsigned int step = 0; step < 30; step++) {
		scene__call(&scene, 0, message(NCCL_SEND, 1, 1000000), 0);
		scene__call(&scene, 1, message(NCCL_RECV, 0, 1000000), 0);
	}
	scene__judge(&scene, 1000 * SECOND);
	scene__expect_none(&scene);
	scene__free(&scene);
}

/* Three of four come late: none of them is the late one. */
static void most_ranks_late(void **state)
{
	struct scene scene = scene__of(4, 4);

	(void)state;
	for (unsigned int step = 0; step < 50; step++) {
		scene.now += 20 * MS;
		for (int32_t rank = 0; rank < 4; rank++)
			scene__call(&scene, rank, all_reduce(8), rank ? 8 * MS : 0);
	}
	scene__judge(&scene, SECOND);
	scene__expect(&scene, NCCL_IMBALANCE, NCCL_UNEVEN_TIMES, -1);
	scene__free(&scene);
}

static void errors(void **state)
{
	struct scene scene = scene__of(4, 4);
	struct nccl_event event = scene__event(&scene, 1, NCCL_ALL_REDUCE, NCCL_BEGIN);

	(void)state;
	scene__steps(&scene, 3);
	scene__feed(&scene, event);
	event.phase = NCCL_END;
	event.result = 4;
	scene__feed(&scene, event);
	scene__steps(&scene, 3);
	scene__judge(&scene, 100 * SECOND);
	/* The call that failed is no collective: nobody is ahead. */
	scene__expect(&scene, NCCL_ERROR, NCCL_CAUSE_NONE, 1);
	assert_int_equal(scene.findings.items->error, 4);
	scene__free(&scene);
}

static void asynchronous_errors(void **state)
{
	struct scene scene = scene__of(4, 4);
	struct nccl_event event = scene__event(&scene, 2, NCCL_GET_ASYNC_ERROR, NCCL_BEGIN);

	(void)state;
	scene__feed(&scene, event);
	event.phase = NCCL_END;
	event.async_error = NCCL_IN_PROGRESS;
	scene__feed(&scene, event);
	scene__judge(&scene, 0);
	scene__expect_none(&scene);
	event.phase = NCCL_BEGIN;
	scene__feed(&scene, event);
	event.phase = NCCL_END;
	event.async_error = 6;
	scene__feed(&scene, event);
	scene__judge(&scene, 0);
	scene__expect(&scene, NCCL_ERROR, NCCL_CAUSE_NONE, 2);
	assert_int_equal(scene.findings.items->error, 6);
	scene__free(&scene);
}

/* What ranks called is known long after it. Of two ranks, the one that repeats itself is right. */
static void late_judgement_of_two(void **state)
{
	(void)state;
	for (int32_t odd = 0; odd < 2; odd++) {
		struct scene scene = scene__of(2, 2);

		for (unsigned int step = 0; step < 200; step++) {
			scene.now += 10 * MS;
			for (int32_t rank = 0; rank < 2; rank++) {
				if (rank != odd || step != 50)
					scene__call(&scene, rank, all_reduce(1024), 0);
				scene__call(&scene, rank, all_reduce(2048), 0);
				scene__call(&scene, rank, all_reduce(4096), 0);
			}
		}
		scene__judge(&scene, 0);
		scene__expect(&scene, NCCL_MISMATCH, NCCL_SKIPPED, odd);
		scene__free(&scene);
	}
}

/* A call with other operands that fails is none. */
static void failed_call_is_no_mismatch(void **state)
{
	struct scene scene = scene__of(2, 2);
	struct nccl_event event;

	(void)state;
	scene__steps(&scene, 3);
	scene__call(&scene, 0, all_reduce(1024), 0);
	event = scene__event(&scene, 1, NCCL_ALL_REDUCE, NCCL_BEGIN);
	event.operation.count = 7;
	scene__feed(&scene, event);
	event.phase = NCCL_END;
	event.result = 4;
	scene__feed(&scene, event);
	scene__call(&scene, 1, all_reduce(1024), 0);
	scene__judge(&scene, 0);
	scene__expect(&scene, NCCL_ERROR, NCCL_CAUSE_NONE, 1);
	scene__free(&scene);
}

/* With the need for a proof, lateness counts only while another rank waits for the GPU. */
static void lateness_needs_a_proof(void **state)
{
	const struct nccl_limits limits = {.proven_late = true};

	(void)state;
	for (int waits = 0; waits < 2; waits++) {
		struct scene scene = scene__of(2, 2);

		nccl_jobs__free(scene.jobs);
		scene.jobs = nccl_jobs__new(&limits);
		for (int32_t rank = 0; rank < 2; rank++)
			scene__begin_init(&scene, rank, SCENE_HASH, 2);
		for (int32_t rank = 0; rank < 2; rank++)
			scene__end_init(&scene, rank, 0x1000);
		for (unsigned int step = 0; step < 100; step++) {
			scene.now += 100 * MS;
			scene__call(&scene, 0, all_reduce(1024), 0);
			if (waits)
				scene__feed(&scene, scene__event(&scene, 0, NCCL_WAIT, NCCL_BEGIN));
			scene__call(&scene, 1, all_reduce(1024), 30 * MS);
			if (waits)
				scene__feed(&scene, scene__event(&scene, 0, NCCL_WAIT, NCCL_END));
		}
		scene__judge(&scene, 0);
		if (waits)
			scene__expect(&scene, NCCL_STRAGGLER, NCCL_CAUSE_NONE, 1);
		else
			scene__expect_none(&scene);
		scene__free(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mismatch_of_each_operand),
		cmocka_unit_test(order),
		cmocka_unit_test(one_more_of_calls_in_turn),
		cmocka_unit_test(own_reductions_have_own_numbers),
		cmocka_unit_test(send_without_receive),
		cmocka_unit_test(receive_without_send),
		cmocka_unit_test(pipeline),
		cmocka_unit_test(message_of_two_sizes),
		cmocka_unit_test(stragglers),
		cmocka_unit_test(hosts_that_run_ahead_are_not_late),
		cmocka_unit_test(jitter_is_sound),
		cmocka_unit_test(uneven_times),
		cmocka_unit_test(uneven_bytes),
		cmocka_unit_test(one_way_traffic_is_even),
		cmocka_unit_test(most_ranks_late),
		cmocka_unit_test(errors),
		cmocka_unit_test(asynchronous_errors),
		cmocka_unit_test(late_judgement_of_two),
		cmocka_unit_test(failed_call_is_no_mismatch),
		cmocka_unit_test(lateness_needs_a_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
