/* SPDX-License-Identifier: BSD-2-Clause */
/* Children of the test that wait, and what is reported about them. */
#ifndef TESTS_WAITING_SCENE_H
#define TESTS_WAITING_SCENE_H

#include <unistd.h>

#include "dump/look_of_child.h"
#include "dump/waiting.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static inline void wait_forever(void)
{
	for (;;)
		pause();
}

static inline struct dump_waiting find_by(pid_t pid, const struct thread_look *look)
{
	struct dump_thread thread = {.tid = pid};

	waiting__find(NULL, pid, &look, &thread, 1);
	return thread.waiting;
}

#endif
