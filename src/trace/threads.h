/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread of each event. Thread numbers are reused once a thread has ended, so a pending event
 * holds a reference to the thread it was read with.
 */
#ifndef TRACE_THREADS_H
#define TRACE_THREADS_H

#include <stdbool.h>

#include "base/table.h"
#include "trace/line.h"

/* A context and the device on which it was created; 0 and -1 if unknown. */
struct context_device {
	uint64_t context;
	int16_t device;
};

#define CONTEXTS_KNOWN 64 /* per process; a new one then replaces the oldest */
#define CONTEXTS_PUSHED 8 /* per thread that are kept apart */

/* A process, kept as long as a thread refers to it. */
struct traced_process {
	struct trace_process shown; /* .cgroup is malloc'd */
	size_t references;
	struct context_device contexts[CONTEXTS_KNOWN];
	uint32_t context_count; /* ever seen */
	UT_hash_handle hh;	/* by shown.number */
};

struct trace_thread {
	size_t references;
	struct traced_process *process;
	pid_t tid;
	pid_t namespace_tid; /* in the process's own pid namespace */
	char comm[COMM_SIZE]; /* "": unknown, or the leader's, which the process has */
	uint32_t pushed;      /* number of contexts; those beyond CONTEXTS_PUSHED are not kept */
	/* [pushed] is the current one */
	struct context_device current[CONTEXTS_PUSHED + 1];
};

/* The number of a process that was not announced. */
#define PROCESS_NOT_TOLD UINT32_MAX

struct trace_threads;

/* What to look up of new threads and processes. */
struct trace_thread_options {
	bool cgroups;
	bool names; /* of threads: as they are when the record of their first call is read */
};

/* Returns NULL if out of memory. */
struct trace_threads *trace_threads__new(const struct trace_thread_options *options);
void trace_threads__free(struct trace_threads *threads); /* pending events must have put theirs */

/* Takes a TRACE_THREAD record. Returns 0, -EINVAL if it is malformed, or -ENOMEM. */
int trace_threads__announce(struct trace_threads *threads,
			    const struct trace_thread_record *record);

/*
 * Returns the thread that has the number now, with one more reference; one without pid, tid and
 * name if it was not announced. Never NULL; `number` is below TRACE_THREADS.
 */
struct trace_thread *trace_threads__take(struct trace_threads *threads, uint32_t number);

/* Drops one reference. */
void trace_threads__put(struct trace_threads *threads, struct trace_thread *thread);

/*
 * Whether a process that has this one's pid and began at `start_ns`, by /proc or by the kernel, is
 * this one.
 */
bool traced_process__began(const struct trace_process *process, uint64_t start_ns);

/* Whether the announced process still has its pid and runs the same program. */
bool traced_process__is_there(const struct trace_process *process);

/*
 * Whether it runs another program by now, from which the data that was just read may come; false if
 * it has ended.
 */
bool traced_process__is_another(const struct trace_process *process);

#endif
