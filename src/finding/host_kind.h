/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a thread that is followed (model/host.h) does or waits for: by what the kernel saw, the CUDA call that it is in, and by its
 * stack, where the kernel's view is the same for several things.
 */
#ifndef FINDING_HOST_KIND_H
#define FINDING_HOST_KIND_H

#include <stdbool.h>

#include "model/host.h"

enum host_kind {
	HOST_CPU = 0, /* on a CPU, outside of CUDA calls */
	/* inside of a CUDA call, on a CPU or off it, by what the innermost one does */
	HOST_IN_LAUNCH,
	HOST_IN_MEMORY, /* allocates or frees */
	HOST_IN_COPY,	/* copies and sets */
	HOST_IN_WAIT,
	HOST_IN_MODULE, /* loads or unloads code */
	HOST_IN_GRAPH,	/* captures, makes or changes graphs */
	HOST_IN_OTHER,
	/* off the CPU, outside of CUDA calls */
	HOST_LOCK,	/* a futex that is not the GIL's */
	HOST_GIL,	/* Python's global interpreter lock: a futex inside the interpreter's own data */
	HOST_QUEUE,	/* a pipe, socket, poll or child, or one of Python's queues between threads */
	HOST_OUTPUT,	/* a pipe or socket that is full: whoever reads it does not keep up */
	HOST_DISK,	/* a file */
	HOST_FAULT,	/* a page fault */
	HOST_SLEEP,	/* a sleep that was asked for */
	HOST_READY,	/* it could run and did not: others had the CPU */
	HOST_THROTTLED, /* the same, since its control group had used up its share */
	HOST_STOPPED,	/* by a signal, a debugger or the freezer, inside of CUDA calls, too */
	HOST_OFF,	/* whatever else it waits for */
	HOST_KINDS,
};

/* `limited`: what is ready and does not run is kept from it by the limit of its control group. */
enum host_kind host_kind__of(const struct host_place *place, bool limited);

/* Whether it waits for connections or for what comes by one, and not at a pipe or file. */
bool host_kind__is_at_a_socket(const struct stack *stack);

/* "on the CPU", "waiting for a lock". */
const char *host_kind__doing(enum host_kind kind);

/* What usually helps against it, a sentence without its end; NULL: nothing is known to. */
const char *host_kind__advice(enum host_kind kind);

#endif
