// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What each returning call adds to its thread's steps, see steps/steps.bpf.h.
#ifndef BPF_STEPS_STEP_CALL_BPF_H
#define BPF_STEPS_STEP_CALL_BPF_H

#include "launch/capture.bpf.h"
#include "copy/copy.bpf.h"
#include "launch/graph.bpf.h"
#include "launch/launch.bpf.h"
#include "memory/memory.bpf.h"
#include "steps/steps.bpf.h"

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

/* Executed launches, including failed ones, as in the profile. */
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
	case OP_SET: step_copied(record, call); break;
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

static __always_inline bool is_captured_step(const struct call *call)
{
	return call->operation == OP_LAUNCH ? call->arg[LAUNCH_CAPTURE] : call->arg[RUN_CAPTURE];
}

/*
 * A launch of a kernel or graph. Without a profile, kernel launches were counted at their entry.
 */
static __always_inline void step_launch_leave(struct thread *thread, const struct call *call)
{
	struct step_record *record = steps_of(thread);

	if (!record)
		return;
	record->latest_ns = call->end_ns;
	if (!thread->depth)
		record->totals.inside[TIME_LAUNCH] += call->end_ns - call->start_ns;
	if (!is_captured_step(call))
		step_launched(record, call->operation == OP_LAUNCH ? call->arg[LAUNCH_HANDLE] :
								     call->arg[RUN_EXEC]);
}

/* A call has returned, and its family has handled it. */
static __noinline int step_leave(struct thread *thread, struct call *call, s32 result)
{
	struct step_record *record;
	u32 class;

	if (!thread || !call)
		return 0;
	if (call->operation == OP_LAUNCH || call->operation == OP_GRAPH_LAUNCH) {
		if (config.profile || call->operation == OP_GRAPH_LAUNCH)
			step_launch_leave(thread, call);
		return 0;
	}
	if (config.step_range && thread->in_step)
		record = steps_of(thread);
	else
		record = thread->steps ? step_record_at(thread->steps) : NULL;
	if (!record)
		return 0;
	record->latest_ns = call->end_ns;
	class = time_class_of(call->operation);
	barrier_var(class);
	if (!thread->depth && class < TIME_CLASSES)
		record->totals.inside[class] += call->end_ns - call->start_ns;
	if (!result)
		step_succeeded(record, thread, call);
	return 0;
}

#endif
