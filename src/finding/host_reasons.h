/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What submitting threads did otherwise (model/host.h) in the process's steady time
 * (model/steady.h), by kind and by the program's own line (model/user_line.h). Times at several
 * locations in a library that belong to one line of the program are one reason. A reason also names
 * the threads waited for: who holds the lock, feeds the queue or has the CPU, and what that thread
 * does.
 */
#ifndef FINDING_HOST_REASONS_H
#define FINDING_HOST_REASONS_H

#include <stddef.h>
#include <stdint.h>

#include "finding/host_kind.h"
#include "finding/step_cost.h"
#include "model/host.h"
#include "model/model.h"

#define HOST_HOPS 3 /* longest chain of threads waiting for one another */

/* A thread that is waited for. */
struct host_other {
	const struct host_partner *who;
	const struct host_thread *thread; /* NULL: it is not followed, and the rest is unknown */
	/*
	 * Its main activity; for the GIL's holder, where it runs. .stack NULL: location unknown
	 */
	uint8_t kind;
	double share;
	const struct stack *stack;
	const char *file; /* HOST_DISK: the file that it waits for most; NULL: unknown */
};

struct host_reason {
	uint8_t kind; /* enum host_kind */
	uint64_t ns, times;
	uint64_t calls; /* times it blocked or was called; 0: unknown */
	/* sum over all reasons of this kind; HOST_CPU: its own time */
	uint64_t kind_ns;
	uint64_t rank_ns, line_ns;	/* sort keys */
	const struct stack_frame *line; /* the program's own line; NULL if the stack has none */
	/* The location with most of the time */
	const struct stack *stack; /* NULL: unknown */
	uint64_t location_ns;
	enum host_activity activity;
	const char *call_name;		  /* HOST_OFF: name of the system call; NULL: unknown */
	const struct host_thread *thread; /* the thread at that location */
};

struct host_reasons {
	const struct host_process *process; /* NULL: nothing is known */
	/*
	 * those with a line first; then by the kind's total time, and within it by the line's time,
	 * which on the CPU includes its launches
	 */
	struct host_reason *items;
	size_t count;
	uint64_t ns;		     /* sum of all */
	uint64_t known_ns;	     /* sum of those with a stack */
	uint64_t stopped_ns;	     /* sum of HOST_STOPPED */
	uint64_t stopped_waiting_ns; /* part of it inside waits for the GPU */
	/* for the part of the steady time in which the threads were followed */
	struct step_cost cost;
};

/*
 * At `now_ns`. 0 or -ENOMEM. Valid until the threads' data is read again. Release with
 * host_reasons__clear.
 */
int host_reasons__of(const struct process *process, uint64_t now_ns, struct host_reasons *out);
void host_reasons__clear(struct host_reasons *reasons);

/*
 * The chain of threads that the reason's thread waits for: the thread that ends most of its waits,
 * then the one that that thread waits for, and so on. For HOST_LOCK, HOST_GIL, HOST_QUEUE and
 * HOST_OUTPUT. Returns the length; 0 for other kinds.
 */
size_t host_reasons__hops(const struct host_reasons *reasons, const struct host_reason *reason,
			  struct host_other hops[HOST_HOPS]);

/*
 * The reason that is a wait for other threads or processes and takes most of the threads' time;
 * NULL: none does.
 */
const struct host_reason *host_reasons__main_wait(const struct host_reasons *reasons);

/*
 * Whether this is a server waiting for its clients: its threads wait in a queue most of the time,
 * and they or the threads they wait for are at a socket that the process did not connect itself.
 */
bool host_reasons__awaits_requests(const struct host_reasons *reasons);

/*
 * The processes that had the CPU while the thread was HOST_READY, most time first, at most
 * HOST_PARTNERS. Sets *list and returns their number.
 */
size_t host_reasons__rivals(const struct host_reason *reason, const struct host_partner **list);

/* The file that the HOST_DISK thread waits for most; NULL: unknown. */
const char *host_reasons__file(const struct host_reason *reason);

#endif
