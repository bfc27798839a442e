/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of one process as they were taken, before they are named. */
#ifndef DUMP_TAKEN_H
#define DUMP_TAKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "dump/thread_reader.h"

struct taken_thread {
	pid_t tid;
	bool approximate;	  /* it was on a CPU and could not be sampled */
	struct thread_look *look; /* NULL if it had ended */
};

struct taken_threads {
	struct taken_thread *list; /* the main thread first, then by ascending tid */
	size_t count;
	size_t unseen;
};

/*
 * Takes at most `max` threads of the process. Returns 0, -ESRCH if it has ended, or another
 * negative errno. The caller clears `threads` in any case.
 */
int taken_threads__take(struct taken_threads *threads, struct thread_reader *reader, pid_t pid,
			size_t max);

/* Samples the threads that were on a CPU; see dump/running.h. */
void taken_threads__sample(struct taken_threads *threads);

void taken_threads__clear(struct taken_threads *threads);

#endif
