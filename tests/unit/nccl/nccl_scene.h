/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranks for tests of the judge: each is a process of its own with one thread, and makes calls at
 * times that the test gives. Include after cmocka.h.
 */
#ifndef NCCL_SCENE_H
#define NCCL_SCENE_H

#include <string.h>

#include "nccl/judge.h"

#define MS 1000000ULL
#define SECOND 1000000000ULL
#define SCENE_HASH 0x9f3ac1

struct scene {
	struct nccl_jobs *jobs;
	int32_t ranks;
	uint64_t now; /* time of the next calls */
	struct nccl_findings findings;
};

static inline struct nccl_event scene__event(const struct scene *scene, int32_t rank,
					     enum nccl_function function, enum nccl_phase phase)
{
	return (struct nccl_event){
		.ns = scene->now,
		.process = {.pid = 5000 + rank, .start_ns = 1},
		.tid = 5000 + rank,
		.phase = phase,
		.function = function,
		.comm = 0x1000,
		.operation = {.count = 1024, .datatype = 9},
		.device = rank,
	};
}

static inline void scene__feed(struct scene *scene, struct nccl_event event)
{
	nccl_jobs__feed(scene->jobs, &event);
}

/* Begin and end of a call that changes nothing else. */
static inline void scene__both(struct scene *scene, int32_t rank, enum nccl_function function)
{
	scene__feed(scene, scene__event(scene, rank, function, NCCL_BEGIN));
	scene__feed(scene, scene__event(scene, rank, function, NCCL_END));
}

static inline void scene__begin_init(struct scene *scene, int32_t rank, uint64_t hash, int32_t size)
{
	struct nccl_event event = scene__event(scene, rank, NCCL_INIT_RANK, NCCL_BEGIN);

	event.comm = 0;
	event.hash = hash;
	event.rank = rank;
	event.size = size;
	event.name = "dp";
	scene__feed(scene, event);
}

static inline void scene__end_init(struct scene *scene, int32_t rank, uint64_t handle)
{
	struct nccl_event event = scene__event(scene, rank, NCCL_INIT_RANK, NCCL_END);

	event.comm = 0;
	event.made = handle;
	scene__feed(scene, event);
}

/* Ranks whose communicator is at 0x1000 in each. `size` may be greater than `ranks`. */
static inline struct scene scene__of(int32_t ranks, int32_t size)
{
	struct scene scene = {.ranks = ranks, .now = 100 * SECOND};

	scene.jobs = nccl_jobs__new(NULL);
	assert_non_null(scene.jobs);
	for (int32_t rank = 0; rank < ranks; rank++)
		scene__begin_init(&scene, rank, SCENE_HASH, size);
	for (int32_t rank = 0; rank < ranks; rank++)
		scene__end_init(&scene, rank, 0x1000);
	return scene;
}

static inline void scene__free(struct scene *scene)
{
	nccl_findings__free(&scene->findings);
	nccl_jobs__free(scene->jobs);
}

/* A collective or a message of one rank, `late` ns after now. */
static inline void scene__call(struct scene *scene, int32_t rank, struct nccl_operation operation,
			       uint64_t late)
{
	struct nccl_event event = scene__event(scene, rank, operation.function, NCCL_BEGIN);

	event.ns += late;
	event.operation = operation;
	scene__feed(scene, event);
	event.phase = NCCL_END;
	scene__feed(scene, event);
}

static inline struct nccl_operation all_reduce(uint64_t count)
{
	return (struct nccl_operation){.count = count, .datatype = 9, .function = NCCL_ALL_REDUCE};
}

static inline struct nccl_operation message(enum nccl_function function, int32_t peer,
					    uint64_t count)
{
	return (struct nccl_operation){
		.function = function, .root = peer, .count = count, .datatype = 1};
}

/* All ranks make one all-reduce each, after 10 ms, `times` times. */
static inline void scene__steps(struct scene *scene, unsigned int times)
{
	for (; times; times--) {
		scene->now += 10 * MS;
		for (int32_t rank = 0; rank < scene->ranks; rank++)
			scene__call(scene, rank, all_reduce(1024), 0);
	}
}

/* All ranks but one come to the next collective. */
static inline void scene__all_but(struct scene *scene, int32_t missing)
{
	scene->now += 10 * MS;
	for (int32_t rank = 0; rank < scene->ranks; rank++)
		if (rank != missing)
			scene__call(scene, rank, all_reduce(1024), 0);
}

static inline void scene__end_process(struct scene *scene, int32_t rank)
{
	struct nccl_process_key key = {.pid = 5000 + rank, .start_ns = 1};

	nccl_jobs__process_ended(scene->jobs, &key);
}

static inline void scene__set(struct scene *scene, int32_t rank, enum nccl_activity activity)
{
	struct nccl_process_key key = {.pid = 5000 + rank, .start_ns = 1};

	nccl_jobs__set_activity(scene->jobs, &key, activity, NULL);
}

/* Time passes, and the judge looks. */
static inline void scene__judge(struct scene *scene, uint64_t after)
{
	nccl_findings__free(&scene->findings);
	scene->now += after;
	assert_int_equal(nccl_jobs__judge(scene->jobs, NULL, scene->now, &scene->findings), 0);
}

/* The only finding is this, and blames this rank only (-1: nobody). */
static inline void scene__expect(struct scene *scene, enum nccl_verdict verdict,
				 enum nccl_cause cause, int32_t rank)
{
	const struct nccl_finding *finding = scene->findings.items;

	assert_int_equal(scene->findings.count, 1);
	assert_string_equal(nccl_verdict__word(finding->verdict), nccl_verdict__word(verdict));
	assert_int_equal(finding->cause, cause);
	assert_int_equal(finding->blamed, rank >= 0);
	if (rank >= 0)
		assert_int_equal(finding->ranks[0]->rank, rank);
}

static inline void scene__expect_none(const struct scene *scene)
{
	assert_int_equal(scene->findings.count, 0);
}

#endif
