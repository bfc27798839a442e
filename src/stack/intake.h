/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes in stack records in a thread of its own. It reads the names of Python frames from the
 * process at once, before the process may end, no matter how long earlier stacks take to name.
 * Records wait, in order, until they are popped.
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
	char *texts; /* the frames' texts */
	struct stack_record record;
};

void taken_stack__free(struct taken_stack *taken);

/*
 * `ring_fd`: the map stack_ring; -1: no thread, records come by stack_intake__take, and `memory`
 * reads the processes. The thread has a memory reader of its own, which uses `log`. `memory` and
 * `log` must outlive the intake. Returns 0 or a negative errno.
 */
int stack_intake__new(int ring_fd, struct memory_reader *memory, const struct log *log,
		      struct stack_intake **out, struct error *err);
void stack_intake__free(struct stack_intake *intake); /* ends the thread */

/*
 * Sets where a process has its Python frames; offsets NULL: nowhere. Call before telling the BPF
 * programs. Returns 0 or -ENOMEM.
 */
int stack_intake__set_python(struct stack_intake *intake, const struct python_owner *owner,
			     const struct python_offsets *offsets);

/* Takes in one record. Returns 0, -EINVAL for a malformed one, or -ENOMEM. */
int stack_intake__take(struct stack_intake *intake, const void *record, size_t size);

/* Takes in everything that is in the ring now. */
void stack_intake__drain(struct stack_intake *intake);

/* Returns the record that has waited longest, which the caller then owns; NULL if none waits. */
struct taken_stack *stack_intake__pop(struct stack_intake *intake);

/* How many records wait. */
size_t stack_intake__count(struct stack_intake *intake);

/* A descriptor that is readable while records wait. */
int stack_intake__fd(const struct stack_intake *intake);

/* Malformed records so far. */
uint64_t stack_intake__malformed(struct stack_intake *intake);

#endif
