/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the threads that submit work did besides (model/host.h) in the process's steady time (model/steady.h), by kind and by
 * the program's own line (model/user_line.h). What several places of a library took for one line of the program is one reason. Whom a thread waits
 * for stands with the reason: who holds the lock, feeds the queue or has the CPU, and what that one does.
 */
#ifndef FINDING_HOST_REASONS_H
#define FINDING_HOST_REASONS_H

#include <stddef.h>
#include <stdint.h>

#include "finding/host_kind.h"
#include "finding/step_cost.h"
#include "model/host.h"
#include "model/model.h"

#define HOST_HOPS 3 /* from a thread that waits to those that it waits for */

/* Whom a thread waits for. */
struct host_other {
	const struct host_partner *who;
	const struct host_thread *thread; /* NULL: it is not followed, and the rest is not known */
	/* What it does the most of its time; of the GIL's holder where it runs. .stack NULL: its place is not known */
	uint8_t kind;
	double share;
	const struct stack *stack;
	const char *file; /* of HOST_DISK: the one it waits for the most; NULL: not known */
};

struct host_reason {
	uint8_t kind; /* enum host_kind */
	uint64_t ns, times;
	uint64_t calls;			/* how often it blocked or was called; 0: not known */
	uint64_t kind_ns;		/* of all reasons of this kind; of HOST_CPU its own */
	uint64_t rank_ns, line_ns;	/* by which they are ordered */
	const struct stack_frame *line; /* the program's own; NULL where the stack has none */
	/* Of the place with most of it */
	const struct stack *stack; /* NULL: not known */
	uint64_t place_ns;
	enum host_activity activity;
	const char *call_name;		  /* of the system call of HOST_OFF; NULL: not known */
	const struct host_thread *thread; /* whose place that is */
};

struct host_reasons {
	const struct host_process *process; /* NULL: nothing is known */
	struct host_reason *items;	    /* those with a line first; the kind of most time first, and of it the line of most time; on the CPU with its launches */
	size_t count;
	uint64_t ns;		     /* of all */
	uint64_t known_ns;	     /* of those with a stack */
	uint64_t stopped_ns;	     /* of HOST_STOPPED */
	uint64_t stopped_waiting_ns; /* of these, inside of waits for the GPU */
	struct step_cost cost;	     /* of the part of the steady time in which they were followed */
};

/* As of `now_ns`. 0 or -ENOMEM. Valid until what threads did is told anew. host_reasons__clear releases it. */
int host_reasons__of(const struct process *process, uint64_t now_ns, struct host_reasons *out);
void host_reasons__clear(struct host_reasons *reasons);

/*
 * Whom the reason's thread waits for: of HOST_LOCK, HOST_GIL, HOST_QUEUE and HOST_OUTPUT the thread that ends most of its waits, then
 * whom that one waits for in turn, and so on. Returns how many; 0 of other kinds.
 */
size_t host_reasons__hops(const struct host_reasons *reasons, const struct host_reason *reason,
			  struct host_other hops[HOST_HOPS]);

/* The reason of a wait for other threads or processes that takes most of the threads' time; NULL: none does. */
const struct host_reason *host_reasons__main_wait(const struct host_reasons *reasons);

/*
 * Whether a server waits for its clients: its threads wait most of their time in a queue, and they or the threads that they wait for
 * are at a socket.
 */
bool host_reasons__awaits_requests(const struct host_reasons *reasons);

/* The processes that had the CPU of a HOST_READY's thread, most time first: HOST_PARTNERS at most. Sets *list, returns how many. */
size_t host_reasons__rivals(const struct host_reason *reason, const struct host_partner **list);

/* The file that a HOST_DISK's thread waits for the most; NULL: not known. */
const char *host_reasons__file(const struct host_reason *reason);

#endif
