// SPDX-License-Identifier: BSD-2-Clause
// Compares two dumps, see dump_before.h.
#include "model/dump_before.h"

#include <string.h>

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_same_frame(const struct stack_frame *a, const struct stack_frame *b)
{
	return a->kind == b->kind && a->offset == b->offset && a->line == b->line &&
	       is_same_text(a->function, b->function) && is_same_text(a->object, b->object) &&
	       is_same_text(a->file, b->file);
}

/*
 * Compares frames from the call outwards: a thread that spins inside the call is at another
 * instruction each time.
 */
static bool is_same_stack(const struct dump_thread *a, const struct dump_thread *b)
{
	const struct stack_frame *frame = a->stack.frames + a->beyond,
				 *other = b->stack.frames + b->beyond;

	if (a->stack.count - a->beyond != b->stack.count - b->beyond)
		return false;
	for (size_t i = 0; i < a->stack.count - a->beyond; i++)
		if (!is_same_frame(&frame[i], &other[i]))
			return false;
	return true;
}

const struct dump_process *dump_before__process(const struct dump *before,
						const struct dump_process *process)
{
	for (size_t i = 0; before && i < before->count; i++) {
		const struct process *p = before->processes[i].process;

		if (p->pid == process->process->pid && p->start_ns == process->process->start_ns)
			return &before->processes[i];
	}
	return NULL;
}

/* The main thread is the first; the others are ordered by tid. */
static const struct dump_thread *find_thread(const struct dump_process *process, pid_t tid)
{
	size_t low = 1, high = process->thread_count;

	if (high && process->threads[0].tid == tid)
		return &process->threads[0];
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		pid_t found = process->threads[middle].tid;

		if (found == tid)
			return &process->threads[middle];
		if (found < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

enum dump_motion dump_before__motion(const struct dump_process *before,
				     const struct dump_thread *thread)
{
	const struct dump_thread *then = before ? find_thread(before, thread->tid) : NULL;

	/* Two unknown stacks do not count as equal. */
	if (!then || !then->stack.count || !thread->stack.count || then->no_stack ||
	    thread->no_stack)
		return DUMP_MOTION_UNKNOWN;
	if (!is_same_text(then->call, thread->call) || !is_same_text(then->by, thread->by))
		return DUMP_MOVED;
	return is_same_stack(then, thread) ? DUMP_STANDS : DUMP_MOVED;
}

uint64_t dump_before__ns(const struct dump *before, const struct dump *dump)
{
	return dump->boot_ns > before->boot_ns ? dump->boot_ns - before->boot_ns : 0;
}
