/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the threads that submit work did besides (gpuprobe/host.h) in the process's steady time (model/steady.h), by kind and by
 * the program's own line: the innermost frame that is no library's. What several places of a library took for one line of
 * the program is one reason.
 */
#ifndef FINDING_HOST_REASONS_H
#define FINDING_HOST_REASONS_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/host.h"
#include "finding/step_cost.h"
#include "model/model.h"

struct host_reason {
	uint8_t kind; /* enum host_kind; never HOST_TEAM */
	uint64_t ns, times;
	uint64_t calls;			/* how often it blocked or was called; 0: not known */
	uint64_t kind_ns;		/* of all reasons of this kind; of HOST_CPU its own */
	const struct stack_frame *line; /* the program's own; NULL where the stack has none */
	const struct stack *stack;	/* of most of it; NULL: not known */
	uint64_t stack_ns;		/* of that */
	const struct stack *holder;	/* of HOST_GIL: where the thread that has it spends its time; NULL: not known */
};

struct host_reasons {
	struct host_reason *items; /* those with a line first; the kind of most time first, and of it the line of most time */
	size_t count;
	uint64_t ns;	   /* of all */
	uint64_t known_ns; /* of those with a stack */
	struct step_cost cost;
};

/* As of `now_ns`. 0 or -ENOMEM. Valid until the process's sites are read anew. host_reasons__clear releases it. */
int host_reasons__of(const struct process *process, uint64_t now_ns, struct host_reasons *out);
void host_reasons__clear(struct host_reasons *reasons);

/* Whether the frame is of the program itself: not of Python's libraries, nor of a shared library. */
bool host_reasons__is_own(const struct stack_frame *frame);

/* The program's own line of a stack: its innermost such frame, Python's before others; NULL: it has none. */
const struct stack_frame *host_reasons__line(const struct stack *stack);

/* "on the CPU", "waiting for a lock": what a thread does. */
const char *host_reasons__doing(enum host_kind kind);

#endif
