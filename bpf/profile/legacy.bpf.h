// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The legacy default stream and the blocking streams of its context wait for each other. This
 * tracks which thread launches on it, which threads wait for it meanwhile, and threads that
 * alternate between it and other streams.
 */
#ifndef BPF_PROFILE_LEGACY_BPF_H
#define BPF_PROFILE_LEGACY_BPF_H

#include "profile/queue.bpf.h"

/* Whether the wait covers the legacy stream of its context. */
static __always_inline bool covers_legacy(struct pt_regs *ctx,
					  const volatile struct function_desc *function)
{
	if (function->kind != WAIT_STREAM)
		return function->kind == WAIT_CONTEXT;
	return stream_id(function, argument(ctx, function, ROLE_STREAM)) == STREAM_LEGACY;
}

/*
 * Raised at a wait's entry, lowered when it has returned or is gone. `call->marked` says whether it
 * was raised.
 */
static __always_inline void count_legacy_waiting(u32 slot, const struct call *call, s32 more)
{
	struct process_profile *process = process_profile_at(slot);
	struct device_queue *queue = process ? queue_at(process, queue_of(call->device)) : NULL;

	if (queue)
		__sync_fetch_and_add(&queue->legacy_waiting, (s64)more);
}

static __always_inline void end_legacy_wait(const struct thread *thread, struct call *call)
{
	if (!call->marked)
		return;
	call->marked = 0;
	count_legacy_waiting(thread->slot, call, -1);
}

/*
 * The calling thread itself may be counted among the waiting ones: for a wait that it jumped out
 * of, which has not been noticed yet.
 */
static __noinline int has_others_waiting(const struct thread *thread,
					 const struct device_queue *queue)
{
	u64 own = 0;

	for (u32 i = 0; i < CALL_DEPTH; i++)
		if (i < thread->depth && thread->calls[i].operation == OP_WAIT &&
		    thread->calls[i].marked)
			own++;
	return queue->legacy_waiting > own;
}

static __always_inline void note_legacy_launch(const struct thread *thread,
					       struct thread_profile *profile,
					       const struct device_queue *queue, u32 number)
{
	profile->legacy_launches++;
	if (number != UNKNOWN_QUEUE && queue->legacy_waiting && has_others_waiting(thread, queue))
		profile->legacy_behind++;
}

/* From one of the two streams to the other, on one device. */
static __always_inline bool is_crossing(u32 slot, u64 from, u64 to)
{
	u64 mask = (1ull << STREAM_ID_DEVICE_SHIFT) - 1, other = from;

	if (from >> STREAM_ID_DEVICE_SHIFT != to >> STREAM_ID_DEVICE_SHIFT ||
	    to >> STREAM_ID_DEVICE_SHIFT == UNKNOWN_QUEUE)
		return false;
	if ((from & mask) == STREAM_LEGACY)
		other = to;
	else if ((to & mask) != STREAM_LEGACY)
		return false;
	return is_blocking_stream(slot, other & mask, false);
}

/* The thread launches on another stream than before, or in another epoch. */
static __noinline int launch_elsewhere(struct thread *thread, u64 where, u64 epoch)
{
	struct thread_profile *profile = profile_of(thread);

	if (!profile)
		return 0;
	/* The launch itself is already counted in launches_since_wait. */
	if (profile->last_stream && profile->last_stream != where &&
	    profile->launches_since_wait > 1 &&
	    is_crossing(thread->slot, profile->last_stream, where))
		profile->legacy_crossings++;
	profile->last_stream = where;
	profile->last_epoch = epoch;
	return 0;
}

#endif
