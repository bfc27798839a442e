/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a dump's text and JSON, each in a file of its own: dump_NAME__verb is in NAME.c. */
#ifndef OUTPUT_DUMP_PARTS_H
#define OUTPUT_DUMP_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "model/dump.h"
#include "model/dump_before.h"

/* The line that a process begins with: who it is, its GPUs with the memory it has there, and how many threads it has. */
void dump_head__print(FILE *out, const struct model *model, const struct dump_process *process);

/* --- words for what a thread does and waits for --- */

const char *dump_words__run(enum dump_run run);	    /* "on the CPU" */
const char *dump_words__run_key(enum dump_run run); /* "running" */

/* "waits for a lock", or, of several threads, "wait for a lock". Not for DUMP_WAIT_NONE. */
const char *dump_words__wait(enum dump_wait kind, bool several);
const char *dump_words__wait_key(enum dump_wait kind); /* "lock"; NULL: DUMP_WAIT_NONE */

/* --- one thread: its call, its state and what it waits for --- */

static inline bool dump_thread__in_cuda(const struct dump_thread *thread)
{
	return thread->call || thread->by;
}

/* Whether what it waits for says more than its state: a thread that sleeps, and it is known for what. */
static inline bool dump_thread__waits(const struct dump_thread *thread)
{
	return thread->run == DUMP_SLEEPS && thread->waiting.kind != DUMP_WAIT_NONE;
}

/*
 *   in cudaEventSynchronize, on the CPU
 *   in ncclAllReduce: cuLaunchKernel, asleep, waits for a lock
 *   waits for one of several files: poll
 *
 * Without a newline.
 */
void dump_thread__print(FILE *out, const struct dump_thread *thread);

/* --- the threads that have no line of their own, summed up by what they wait for --- */

struct dump_rest {
	size_t threads;
	size_t stand; /* those that have not moved */
	size_t waits[DUMP_WAITS];
	size_t runs[DUMP_RUN_STATES]; /* those whose state says all that is known */
};

void dump_rest__add(struct dump_rest *rest, const struct dump_thread *thread, enum dump_motion motion);

/* "14 other threads: 12 wait for a lock, 2 sleep for a time", most first, and a newline; nothing where there are none. */
void dump_rest__print(FILE *out, const struct dump_rest *rest, int indent);

#endif
