/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of stacks as they come, taken in by a thread of its own: what Python
 * frames are called is read from the process at once, before it may end,
 * however long the stacks before take to be named. What is read waits until it
 * is popped, in the order of the records.
 */
#ifndef STACK_INTAKE_H
#define STACK_INTAKE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/log.h"
#include "gpuprobe/stack.h"
#include "stack/python.h"
#include "target/memory_reader.h"

struct stack_intake;

/* A record with its Python frames. */
struct taken_stack {
	struct taken_stack *prev, *next;
	size_t size; /* of the record */
	struct python_names python;
	char *texts; /* of its frames */
	struct stack_record record;
};

void taken_stack__free(struct taken_stack *taken);

/*
 * `ring_fd`: of the map stack_ring; -1: there is no thread, records come by stack_intake__take, and `memory` is what
 * processes are read by. With a thread that is one of its own, which has `log`. Both must outlive it. 0 or a negative
 * errno.
 */
int stack_intake__new(int ring_fd, struct memory_reader *memory, const struct log *log, struct stack_intake **out, struct error *err);
void stack_intake__free(struct stack_intake *intake); /* ends the thread */

/* Where a process has its Python frames; offsets NULL: nowhere. To be told before BPF programs are. 0 or -ENOMEM. */
int stack_intake__set_python(struct stack_intake *intake, const struct python_owner *owner,
			     const struct python_offsets *offsets);

/* Takes in one record. 0, -EINVAL for one that cannot be, or -ENOMEM. */
int stack_intake__take(struct stack_intake *intake, const void *record, size_t size);

/* Takes in all that is in the ring now. */
void stack_intake__drain(struct stack_intake *intake);

/* The one that has waited the longest, which is the caller's now; NULL: none waits. */
struct taken_stack *stack_intake__pop(struct stack_intake *intake);

/* How many wait. */
size_t stack_intake__count(struct stack_intake *intake);

/* Readable while some wait. */
int stack_intake__fd(const struct stack_intake *intake);

/* Records so far that could not be. */
uint64_t stack_intake__malformed(struct stack_intake *intake);

#endif
