/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a dump's text and JSON, each in its file: dump_NAME__verb is in NAME.c. */
#ifndef OUTPUT_DUMP_PARTS_H
#define OUTPUT_DUMP_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "model/dump.h"
#include "model/dump_before.h"
#include "output/dump/dump.h"

/*
 * The first line of a process: its identity, its GPUs with the memory it has there, and its number
 * of threads. A long command line is cut on a terminal.
 */
void dump_head__print(FILE *out, const struct model *model, const struct dump_process *process,
		      const struct dump_view *view);

/* --- words for states and waits of threads --- */

const char *dump_words__run(enum dump_run run);	    /* "on the CPU" */
const char *dump_words__run_key(enum dump_run run); /* "running" */

/* "waits for a lock", or "wait for a lock" if `several`. Not for DUMP_WAIT_NONE. */
const char *dump_words__wait(enum dump_wait kind, bool several);
const char *dump_words__wait_key(enum dump_wait kind); /* "lock"; NULL: DUMP_WAIT_NONE */

/* --- one thread: its call, its state and what it waits for --- */

static inline bool dump_thread__in_cuda(const struct dump_thread *thread)
{
	return thread->call || thread->by;
}

/* Whether the wait says more than the state: the thread sleeps and the reason is known. */
static inline bool dump_thread__waits(const struct dump_thread *thread)
{
	return thread->run == DUMP_SLEEPS && thread->waiting.kind != DUMP_WAIT_NONE;
}

/*
 *   in cudaEventSynchronize, on the CPU
 *   in ncclAllReduce: cuLaunchKernel, asleep, waits for a lock
 *   waits for one of several files: poll
 *
 * Prints no newline.
 */
void dump_thread__print(FILE *out, const struct dump_thread *thread);

/* --- summary of the threads without their own line, by what they wait for --- */

struct dump_rest {
	size_t threads;
	size_t stand; /* threads that have not moved */
	size_t waits[DUMP_WAITS];
	size_t runs[DUMP_RUN_STATES]; /* threads about which only the state is known */
};

void dump_rest__add(struct dump_rest *rest, const struct dump_thread *thread,
		    enum dump_motion motion);

/*
 * Prints "14 other threads: 12 wait for a lock, 2 sleep for a time" with the largest group first,
 * and a newline. Prints nothing if there are no threads.
 */
void dump_rest__print(FILE *out, const struct dump_rest *rest, int indent);

#endif
