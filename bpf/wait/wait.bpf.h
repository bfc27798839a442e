// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Waits, queries and event records: what they prove about copies in flight. A query that finds the
 * work finished proves the same as a completed wait.
 */
#ifndef BPF_WAIT_WAIT_BPF_H
#define BPF_WAIT_WAIT_BPF_H

#include "launch/capture.bpf.h"
#include "wait/order.bpf.h"

/* call.arg */
#define WAITED_STREAM 0 /* 0: none; its scope is in WAITED_SCOPE */
#define WAITED_SCOPE 1
#define WAITED_OBJECT 2 /* event or context */
#define WAITED_EPOCH 3

static __always_inline void enter_event(struct thread *thread, struct call *call)
{
	struct event_key key = {.event = call->arg[WAITED_OBJECT], .slot = thread->slot};
	struct event_record *event = bpf_map_lookup_elem(&events, &key);

	call->arg[WAITED_STREAM] = 0;
	if (!event || !event->epoch || is_unsure(event))
		return;
	call->arg[WAITED_STREAM] = event->stream.stream;
	call->arg[WAITED_SCOPE] = event->stream.scope;
	call->arg[WAITED_EPOCH] = event->epoch;
}

/*
 * A call that records the event has entered: what the event marks is unknown until the call
 * returns.
 */
static __always_inline void event_changes(u32 slot, u64 handle)
{
	struct event_key key = {.event = handle, .slot = slot};
	struct event_record *event = bpf_map_lookup_elem(&events, &key);

	if (event)
		*(volatile u64 *)&event->epoch = 0;
}

/*
 * The wait has ended, or the query has returned. If the event was recorded meanwhile, it may have
 * been for the new recording.
 */
static __always_inline void leave_event(u32 slot, struct call *call)
{
	struct event_key key = {.event = call->arg[WAITED_OBJECT], .slot = slot};
	const struct event_record *event = bpf_map_lookup_elem(&events, &key);

	if (!event || *(volatile const u64 *)&event->epoch != call->arg[WAITED_EPOCH])
		call->arg[WAITED_STREAM] = 0;
}

static __always_inline void enter_stream(struct pt_regs *ctx,
					 const volatile struct function_desc *function,
					 struct thread *thread, struct call *call)
{
	struct stream_key key =
		stream_key_of(thread, function, argument(ctx, function, ROLE_STREAM));

	call->arg[WAITED_STREAM] = key.stream;
	call->arg[WAITED_SCOPE] = key.scope;
	call->arg[WAITED_EPOCH] = next_epoch(thread->slot);
}

/* For an event recorded in all streams of a context, whose streams are not tracked. */
static __always_inline void enter_all_streams(struct thread *thread, struct call *call)
{
	call->arg[WAITED_STREAM] = 0;
	call->arg[WAITED_SCOPE] = 0;
	call->arg[WAITED_EPOCH] = next_epoch(thread->slot);
}

static __noinline int wait_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				 struct thread *thread, struct call *call)
{
	call->kind = function->kind;
	call->arg[WAITED_OBJECT] = argument(ctx, function, ROLE_EVENT);
	if (function->operation == OP_EVENT_RECORD) {
		call->flag = argument(ctx, function, ROLE_FLAGS) & EXTERNAL_EVENT;
		event_changes(thread->slot, call->arg[WAITED_OBJECT]);
	}
	if (function->kind == WAIT_CONTEXT) {
		call->arg[WAITED_OBJECT] = argument(ctx, function, ROLE_CTX);
		if (!call->arg[WAITED_OBJECT])
			call->arg[WAITED_OBJECT] = current_context(thread);
		call->arg[WAITED_EPOCH] = next_epoch(thread->slot);
	} else if (function->kind == WAIT_EVENT) {
		enter_event(thread, call);
	} else if (function->operation == OP_EVENT_RECORD && !has_role(function, ROLE_STREAM)) {
		enter_all_streams(thread, call);
	} else {
		enter_stream(ctx, function, thread, call);
	}
	return 0;
}

/* Keeps the point in the stream that the event marks, if a wait for it can prove anything. */
static __always_inline void event_recorded(u32 slot, const struct call *call)
{
	struct event_key key = {.event = call->arg[WAITED_OBJECT], .slot = slot};
	struct event_record event = {.epoch = call->arg[WAITED_EPOCH], .start_ns = call->start_ns};
	int error;

	event.stream.stream = call->arg[WAITED_STREAM];
	event.stream.scope = call->arg[WAITED_SCOPE];
	event.stream.slot = slot;
	if (capture_event(&key, &event.stream, call->flag)) {
		if (call->flag & EXTERNAL_EVENT)
			recorded_elsewhere(slot, key.event);
		bpf_map_delete_elem(&events, &key);
		return;
	}
	if (!has_work(&event.stream) || is_recorded_elsewhere(slot, key.event)) {
		bpf_map_delete_elem(&events, &key);
		return;
	}
	error = bpf_map_update_elem(&events, &key, &event, BPF_ANY);
	if (error)
		lose_update(error, LOSS_EVENT_MAP_FULL);
}

static __always_inline void wait_succeeded(struct thread *thread, const struct call *call)
{
	struct stream_key key = {.slot = thread->slot};

	key.stream = call->arg[WAITED_STREAM];
	key.scope = call->arg[WAITED_SCOPE];
	if (call->operation == OP_EVENT_RECORD)
		event_recorded(thread->slot, call);
	else if (call->kind == WAIT_CONTEXT)
		context_done(thread, call->arg[WAITED_OBJECT], call->arg[WAITED_EPOCH]);
	else if (call->operation == OP_QUERY && call->kind == WAIT_STREAM &&
		 key.stream == STREAM_LEGACY)
		/* Whether such a query covers the blocking streams is undocumented. */
		cover_stream(&key, call->arg[WAITED_EPOCH]);
	else if (key.stream)
		stream_done(thread, &key, call->arg[WAITED_EPOCH]);
}

/* Pools may release memory at this point (memory/pool.bpf.h). */
static __always_inline void wait_ended(u32 slot)
{
	struct process_record *process = process_at(slot);

	if (process)
		__sync_fetch_and_add(&process->waits, 1);
}

__noinline int wait_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (result == CUDA_NOT_READY && call->operation == OP_QUERY) {
		count_success(thread->slot, call, call->kind, TALLY_NOT_READY, 0);
		return 0;
	}
	if (result) {
		count_failure(thread->slot, call, call->kind, 0, result);
		return 0;
	}
	count_success(thread->slot, call, call->kind, 0, 0);
	if (call->operation == OP_WAIT)
		wait_ended(thread->slot);
	if (call->kind == WAIT_EVENT && call->operation != OP_EVENT_RECORD)
		leave_event(thread->slot, call);
	wait_succeeded(thread, call);
	return 0;
}

#endif
