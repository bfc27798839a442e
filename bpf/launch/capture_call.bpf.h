// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls that begin, end, join and query captures, handled at their return: only then is it known
 * whether they succeeded. A captured sequence becomes a graph.
 */
#ifndef BPF_LAUNCH_CAPTURE_CALL_BPF_H
#define BPF_LAUNCH_CAPTURE_CALL_BPF_H

#include "launch/graph.bpf.h"
#include "wait/order.bpf.h"

/* call.arg */
#define CAPTURED_STREAM 0 /* the handle */
#define CAPTURED_OUT 1	  /* where the graph or status is written; the event that is waited for */
#define CAPTURED_ID 2	  /* where the API's number is written; flags of the wait */
/* the graph, or where it is written; the epoch of the event that is waited for */
#define CAPTURED_GRAPH 3

/* CUstreamCaptureStatus */
#define STATUS_NONE 0
#define STATUS_ACTIVE 1

static __noinline int capture_enter(struct pt_regs *ctx,
				    const volatile struct function_desc *function,
				    struct thread *thread, struct call *call)
{
	bool joins = function->kind == CAPTURE_JOIN;

	call->kind = function->kind;
	call->arg[CAPTURED_STREAM] = argument(ctx, function, ROLE_STREAM);
	call->arg[CAPTURED_OUT] = argument(ctx, function, joins ? ROLE_EVENT : ROLE_OUT);
	call->arg[CAPTURED_ID] = argument(ctx, function, joins ? ROLE_FLAGS : ROLE_HANDLE);
	if (joins)
		call->arg[CAPTURED_GRAPH] = recorded_epoch(thread->slot, call->arg[CAPTURED_OUT]);
	else
		call->arg[CAPTURED_GRAPH] = argument(ctx, function, ROLE_GRAPH);
	return 0;
}

static __always_inline void capture_begun(struct thread *thread, const struct call *call,
					  const struct stream_key *key)
{
	struct capture_record record = {.start_ns = call->start_ns,
					.context = current_context(thread)};

	record.origin = *key;
	record.into = call->arg[CAPTURED_GRAPH];
	begin_capture(key, __sync_fetch_and_add(&next_capture, 1) + 1, &record);
}

/*
 * These failures of an end call also end the capture, as invalid. Other failures leave it
 * unchanged.
 */
static __always_inline bool ends_capture(s32 result)
{
	return !result || result == 901 /* CUDA_ERROR_STREAM_CAPTURE_INVALIDATED */ ||
	       result == 904 /* CUDA_ERROR_STREAM_CAPTURE_UNJOINED */;
}

static __always_inline void capture_ended(struct thread *thread, struct call *call,
					  const struct stream_key *key, s32 result)
{
	u64 id = capture_of_stream(key), graph;
	struct capture_record *capture = capture_at(thread->slot, id), last = {.unknown = 1};

	if (capture)
		last = *capture;
	if (was_blind_since(last.start_ns, RATE_LAUNCH, RATE_WAIT))
		last.unknown = 1;
	if (id)
		end_capture(thread->slot, id);
	if (result || read_handle(call->arg[CAPTURED_OUT], &graph))
		return;
	if (last.into)
		call->kind = CAPTURE_END_TO;
	else
		object_begins(thread->slot, call, OBJECT_GRAPH, graph, 0);
	graph_captured(thread->slot, graph, id, &last);
}

/* The stream is not capturing, contrary to our records. */
static __always_inline void not_capturing(const struct stream_key *key)
{
	u64 id = stream_leaves_capture(key);

	if (id)
		stream_left_capture(key, id);
}

/* Found late: earlier captured work and the other participating streams were missed. */
static __always_inline void capture_found(struct thread *thread, const struct call *call,
					  const struct stream_key *key)
{
	struct capture_record record = {
		.start_ns = call->start_ns, .context = current_context(thread), .unknown = 1};
	u64 id = 0;

	if (call->arg[CAPTURED_ID] && !read_handle(call->arg[CAPTURED_ID], &id))
		id |= CAPTURE_OF_API;
	else
		id = __sync_fetch_and_add(&next_capture, 1) + 1;
	begin_capture(key, id, &record);
}

static __always_inline void capture_reported(struct thread *thread, const struct call *call,
					     const struct stream_key *key)
{
	u64 id, graph;
	u32 status;

	if (bpf_probe_read_user(&status, sizeof(status), (void *)call->arg[CAPTURED_OUT])) {
		lose(LOSS_UNREADABLE);
		return;
	}
	if (status == STATUS_NONE)
		not_capturing(key);
	if (status != STATUS_ACTIVE)
		return;
	id = has_captures(thread->slot) ? capture_of_stream(key) : 0;
	if (!id)
		capture_found(thread, call, key);
	else if (call->arg[CAPTURED_GRAPH] && !read_handle(call->arg[CAPTURED_GRAPH], &graph))
		graph_in_capture(thread->slot, graph, id);
}

static __always_inline void capture_joined(struct thread *thread, const struct call *call,
					   const struct stream_key *key)
{
	struct event_key event = {.event = call->arg[CAPTURED_OUT], .slot = thread->slot};
	u64 *id;

	if (!has_captures(thread->slot) || call->arg[CAPTURED_ID] & EXTERNAL_EVENT)
		return;
	id = bpf_map_lookup_elem(&captured_events, &event);
	if (id && capture_at(thread->slot, *id))
		take_part(key, *id);
}

static __noinline int capture_changes(struct thread *thread, struct call *call, s32 result)
{
	const volatile struct function_desc *function;
	struct stream_key key;

	if (!thread || !call)
		return 0;
	function = function_at(call->row);
	if (!function)
		return 0;
	key = stream_key_of(thread, function, call->arg[CAPTURED_STREAM]);
	if (call->kind == CAPTURE_END && ends_capture(result))
		capture_ended(thread, call, &key, result);
	if (call->kind == CAPTURE_END && result == 401 /* CUDA_ERROR_ILLEGAL_STATE */)
		not_capturing(&key);
	if (result)
		return 0;
	switch (call->kind) {
	case CAPTURE_BEGIN:
	case CAPTURE_BEGIN_TO: capture_begun(thread, call, &key); break;
	case CAPTURE_TOLD: capture_reported(thread, call, &key); break;
	case CAPTURE_JOIN: capture_joined(thread, call, &key); break;
	}
	return 0;
}

/* The stream waits for an event, unless the wait is captured. Separate because of its stack use. */
static __noinline int wait_queued(struct thread *thread, const struct call *call)
{
	const volatile struct function_desc *function = function_at(call->row);
	struct stream_key key;

	if (!function)
		return 0;
	key = stream_key_of(thread, function, call->arg[CAPTURED_STREAM]);
	if (has_captures(key.slot) && capture_of_stream(&key))
		return 0;
	return order_stream(thread, &key, call->arg[CAPTURED_OUT], call->arg[CAPTURED_GRAPH]);
}

static __noinline int capture_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	capture_changes(thread, call, result);
	if (!result && call->kind == CAPTURE_JOIN && call->arg[CAPTURED_GRAPH])
		wait_queued(thread, call);
	if (result)
		count_failure(thread->slot, call, call->kind, 0, result);
	else
		count_success(thread->slot, call, call->kind, 0, 0);
	return 0;
}

#endif
