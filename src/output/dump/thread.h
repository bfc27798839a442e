/* SPDX-License-Identifier: BSD-2-Clause */
/* One thread in words: its call, its state and what it waits for. */
#ifndef OUTPUT_DUMP_THREAD_H
#define OUTPUT_DUMP_THREAD_H

#include <stdbool.h>
#include <stdio.h>

#include "model/dump.h"

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

#endif
