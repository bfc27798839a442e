// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What each call that returns adds to its thread's steps, see steps.h.
#ifndef BPF_STEP_CALL_H
#define BPF_STEP_CALL_H

#include "capture.h"
#include "copy.h"
#include "graph.h"
#include "launch.h"
#include "memory.h"
#include "steps.h"

static __always_inline void step_copied(struct step_record *record, const struct call *call)
{
	u32 direction = step_direction_of(call->kind);

	if (call->arg[COPY_FLAGS] & TALLY_CAPTURED)
		return;
	barrier_var(direction);
	if (call->operation == OP_COPY && direction < STEP_DIRECTIONS) {
		record->totals.copies[direction]++;
		record->totals.bytes[direction] += call->arg[COPY_BYTES];
	}
	put_step_code(record, step_code(call->operation, call->kind));
}

/* Executed ones, failed ones too, as the account counts them. */
static __always_inline void step_launched(struct step_record *record, u64 handle)
{
	record->totals.launches++;
	put_step_code(record, handle);
}

static __always_inline void step_succeeded(struct step_record *record, const struct thread *thread,
					   const struct call *call)
{
	switch (call->operation) {
	case OP_COPY:
	case OP_SET:
		step_copied(record, call);
		break;
	case OP_WAIT:
		if (thread->depth)
			break;
		record->totals.waits++;
		put_step_code(record, step_code(OP_WAIT, call->kind));
		break;
	case OP_ALLOC:
		if (call->flag != ALLOC_CAPTURED)
			record->totals.allocations++;
		break;
	case OP_FREE:
		if (call->arg[FREE_ADDRESS])
			record->totals.frees++;
		break;
	}
}

/* A call has returned; its family has dealt with it. */
static __noinline int step_leave(struct thread *thread, struct call *call, s32 result)
{
	struct step_record *record;
	u32 class;

	if (!thread || !call)
		return 0;
	if (!config.account && call->operation == OP_LAUNCH)
		return 0;
	record = thread->steps || call->operation == OP_LAUNCH || call->operation == OP_GRAPH_LAUNCH ? steps_of(thread) : NULL;
	if (!record)
		return 0;
	record->latest_ns = call->end_ns;
	class = time_class_of(call->operation);
	barrier_var(class);
	if (!thread->depth && class < TIME_CLASSES)
		record->totals.inside[class] += call->end_ns - call->start_ns;
	if (call->operation == OP_LAUNCH && !call->arg[LAUNCH_CAPTURE])
		step_launched(record, call->arg[LAUNCH_HANDLE]);
	else if (call->operation == OP_GRAPH_LAUNCH && !call->arg[RUN_CAPTURE])
		step_launched(record, call->arg[RUN_EXEC]);
	else if (!result)
		step_succeeded(record, thread, call);
	return 0;
}

#endif
