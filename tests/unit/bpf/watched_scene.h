/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process with three threads (watched.h), for tests that set the time of each call, in
 * microseconds from its start.
 */
#ifndef TESTS_BPF_WATCHED_SCENE_H
#define TESTS_BPF_WATCHED_SCENE_H

#include "watched.h"

#define START_NS 10000000000ull

struct scene {
	struct watched *watched;
	struct watched_thread *first, *second, *third;
};

static inline uint64_t at(unsigned int us)
{
	return START_NS + 1000ull * us;
}

static inline int begin(void **state)
{
	struct scene *scene = test_calloc(1, sizeof(*scene));

	scene->watched = watched__new(START_NS, 0);
	scene->first = watched__thread(scene->watched, WATCHED_PID, 0);
	scene->second = watched__thread(scene->watched, WATCHED_PID + 1, at(1));
	scene->third = watched__thread(scene->watched, WATCHED_PID + 2, at(2));
	*state = scene;
	return 0;
}

static inline int end(void **state)
{
	struct scene *scene = *state;

	watched__free(scene->watched);
	test_free(scene);
	return 0;
}

#endif
