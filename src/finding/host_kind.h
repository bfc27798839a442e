/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a followed thread (model/host.h) does or waits for: from the kernel's view, the CUDA call it
 * is in, and its stack if the kernel's view is ambiguous.
 */
#ifndef FINDING_HOST_KIND_H
#define FINDING_HOST_KIND_H

#include <stdbool.h>

#include "model/host.h"

enum host_kind {
	HOST_CPU = 0, /* on a CPU, outside CUDA calls */
	/* inside a CUDA call, on or off a CPU, by what the innermost call does */
	HOST_IN_LAUNCH,
	HOST_IN_MEMORY, /* allocates or frees */
	HOST_IN_COPY,	/* copies and sets */
	HOST_IN_WAIT,
	HOST_IN_MODULE, /* loads or unloads code */
	HOST_IN_GRAPH,	/* captures, creates or changes graphs */
	HOST_IN_OTHER,
	/* off the CPU, outside CUDA calls */
	HOST_LOCK, /* a futex other than the GIL */
	/* Python's global interpreter lock: a futex inside the interpreter's own data */
	HOST_GIL,
	HOST_QUEUE,  /* a pipe, socket, poll or child, or one of Python's queues between threads */
	HOST_OUTPUT, /* a full pipe or socket: its reader does not keep up */
	HOST_DISK,   /* a file */
	HOST_FAULT,  /* a page fault */
	HOST_SLEEP,  /* a requested sleep */
	HOST_READY,  /* runnable but not running: others had the CPU */
	/* the same, because its cgroup had used up its CPU quota */
	HOST_THROTTLED,
	HOST_STOPPED, /* stopped by a signal, a debugger or the freezer; also inside CUDA calls */
	HOST_OFF,     /* any other wait */
	HOST_KINDS,
};

/* `limited`: runnable threads are held back by their cgroup's limit. */
enum host_kind host_kind__of(const struct host_location *location, bool limited);

/* Whether it waits for connections or for data from one, rather than for a pipe or file. */
bool host_kind__is_at_a_socket(const struct stack *stack);

/* "on the CPU", "waiting for a lock". */
const char *host_kind__doing(enum host_kind kind);

/* The usual remedy, a sentence without its end; NULL: none known. */
const char *host_kind__advice(enum host_kind kind);

#endif
