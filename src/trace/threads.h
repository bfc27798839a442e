/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who the events are of: thread numbers are given anew once a thread has
 * ended, so an event that waits refers to the thread it was read with.
 */
#ifndef TRACE_THREADS_H
#define TRACE_THREADS_H

#include <stdbool.h>

#include "base/table.h"
#include "trace/line.h"

/* A context and the device that it was made on; 0 and -1: not known. */
struct context_device {
	uint64_t context;
	int16_t device;
};

#define CONTEXTS_KNOWN 64 /* of a process; a new one then takes the place of the oldest */
#define CONTEXTS_PUSHED 8 /* in a thread that are told apart */

/* A process as long as a thread refers to it. */
struct traced_process {
	struct trace_process shown; /* .cgroup is malloc'd */
	size_t references;
	struct context_device contexts[CONTEXTS_KNOWN];
	uint32_t context_count; /* ever */
	UT_hash_handle hh;	/* by shown.number */
};

struct trace_thread {
	size_t references;
	struct traced_process *process;
	pid_t tid;
	uint32_t pushed; /* contexts; those beyond CONTEXTS_PUSHED are not kept */
	/* [pushed] is the current one */
	struct context_device current[CONTEXTS_PUSHED + 1];
};

/* The number of a process that was not told. */
#define PROCESS_NOT_TOLD UINT32_MAX

struct trace_threads;

/* NULL without memory. */
struct trace_threads *trace_threads__new(bool wants_cgroup);
void trace_threads__free(struct trace_threads *threads); /* all that waits must have put its thread before */

/* A TRACE_THREAD record. 0, -EINVAL for one that cannot be, or -ENOMEM. */
int trace_threads__announce(struct trace_threads *threads, const struct trace_thread_record *record);

/*
 * Who the thread number is of now; one without pid, tid and name where that was
 * not told. With one more reference. Never NULL; `number` is below TRACE_THREADS.
 */
struct trace_thread *trace_threads__take(struct trace_threads *threads, uint32_t number);

/* One reference less. */
void trace_threads__put(struct trace_threads *threads, struct trace_thread *thread);

/* Whether a process that began at `start_ns`, by /proc or by the kernel, is this one if it has its pid. */
bool traced_process__began(const struct trace_process *process, uint64_t start_ns);

/* Whether the process that was announced is the one that has its pid now, and runs the same program. */
bool traced_process__is_there(const struct trace_process *process);

/* Whether it runs another program by now, of which may be what has just been read; not where it has ended. */
bool traced_process__is_another(const struct trace_process *process);

#endif
