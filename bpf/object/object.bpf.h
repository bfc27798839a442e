// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls that create and end objects: streams, events, modules, libraries, and others with a handle.
 * A module or library load inside a launch is what made that launch slow, so it is counted
 * separately.
 */
#ifndef BPF_OBJECT_OBJECT_BPF_H
#define BPF_OBJECT_OBJECT_BPF_H

#include "launch/capture.bpf.h"
#include "object/context.bpf.h"
#include "launch/launch.bpf.h"

/* call.arg of a call that creates an object */
#define OBJECT_OUT 0
#define OBJECT_IN_LAUNCH 2
/* call.arg of a call that ends a stream */
#define OBJECT_CAPTURE 3 /* the capture that the stream took part in */

/* Object kinds that end with the context in which they were created. */
static __always_inline bool lives_in_context(u8 kind)
{
	return kind == OBJECT_STREAM || kind == OBJECT_EVENT || kind == OBJECT_MODULE;
}

/* Whether a launch is in progress in the thread around the object call that has just entered. */
static __always_inline bool is_in_launch(struct thread *thread, u8 kind)
{
	bool loads = kind == OBJECT_MODULE || kind == OBJECT_LIBRARY;

	for (u32 i = 0; i < CALL_DEPTH; i++) {
		if (i >= thread->depth)
			break;
		if (thread->calls[i].operation != OP_LAUNCH)
			continue;
		if (loads)
			thread->calls[i].flag |= LAUNCH_LOADS;
		return true;
	}
	return false;
}

#define STREAM_FLAG_NON_BLOCKING 1
#define EVENT_FLAG_INTERPROCESS 4

/* OBJECT_* flags of the object that the call creates. */
static __always_inline u8 object_flags(struct pt_regs *ctx,
				       const volatile struct function_desc *function)
{
	u64 flags = argument(ctx, function, ROLE_FLAGS);

	if (function->kind == OBJECT_STREAM)
		return flags & STREAM_FLAG_NON_BLOCKING ? OBJECT_NON_BLOCKING : 0;
	if (function->kind == OBJECT_EVENT &&
	    (flags & EVENT_FLAG_INTERPROCESS || has_role(function, ROLE_HANDLE)))
		return OBJECT_ELSEWHERE;
	return 0;
}

static __always_inline void make_enter(struct pt_regs *ctx,
				       const volatile struct function_desc *function,
				       struct thread *thread, struct call *call)
{
	u64 context = current_context(thread);

	if (has_role(function, ROLE_CTX)) {
		context = argument(ctx, function, ROLE_CTX);
		call->device = device_of_context(thread->slot, context);
	}
	call->arg[OBJECT_OUT] = argument(ctx, function, ROLE_OUT);
	call->arg[OBJECT_CONTEXT_OF] = lives_in_context(call->kind) ? context : 0;
	call->arg[OBJECT_IN_LAUNCH] = is_in_launch(thread, call->kind);
	call->marked = object_flags(ctx, function);
}

static __always_inline void event_ends(u32 slot, u64 handle)
{
	struct event_key key = {.event = handle, .slot = slot};

	forget_event(slot, handle);
	if (has_captures(slot))
		bpf_map_delete_elem(&captured_events, &key);
}

static __always_inline u64 leave_capture(u32 slot, u64 stream)
{
	struct stream_key key = {.slot = slot, .stream = stream};

	return stream_leaves_capture(&key);
}

/* The stream has ended, and its capture with it, or it lives on with its capture. */
static __always_inline void left_capture(u32 slot, const struct call *call, s32 result)
{
	struct stream_key key = {.slot = slot, .stream = call->arg[OBJECT_HANDLE]};
	u64 capture = call->arg[OBJECT_CAPTURE];

	if (!capture)
		return;
	if (result)
		take_part(&key, capture);
	else
		stream_left_capture(&key, capture);
}

static __always_inline void end_enter(struct pt_regs *ctx,
				      const volatile struct function_desc *function,
				      struct thread *thread, struct call *call)
{
	u64 handle = argument(ctx, function, ROLE_HANDLE);

	call->arg[OBJECT_HANDLE] = handle;
	call->flag = object_ends(thread->slot, call, call->kind, handle);
	call->arg[OBJECT_CAPTURE] =
		call->kind == OBJECT_STREAM ? leave_capture(thread->slot, handle) : 0;
	if (call->kind == OBJECT_STREAM)
		forget_stream(thread->slot, handle);
	else if (call->kind == OBJECT_EVENT)
		event_ends(thread->slot, handle);
	else if (call->kind == OBJECT_MODULE || call->kind == OBJECT_LIBRARY)
		unload_enter(thread, handle);
}

static __noinline int object_enter(struct pt_regs *ctx,
				   const volatile struct function_desc *function,
				   struct thread *thread, struct call *call)
{
	call->kind = function->kind;
	if (function->operation == OP_CREATE)
		make_enter(ctx, function, thread, call);
	else
		end_enter(ctx, function, thread, call);
	return 0;
}

static __always_inline void object_made(u32 slot, struct call *call)
{
	u16 flags = call->arg[OBJECT_IN_LAUNCH] ? TALLY_IN_LAUNCH : 0;
	u64 handle = 0;

	if (bpf_probe_read_user(&handle, sizeof(handle), (void *)call->arg[OBJECT_OUT]))
		lose(LOSS_UNREADABLE);
	/* The handle's previous object has ended, although its end was missed. */
	if (call->kind == OBJECT_STREAM)
		forget_stream(slot, handle);
	else if (call->kind == OBJECT_EVENT)
		forget_event(slot, handle);
	if (!object_begins(slot, call, call->kind, handle, call->arg[OBJECT_CONTEXT_OF]))
		flags |= TALLY_UNTRACKED;
	if (call->kind == OBJECT_EVENT && call->marked & OBJECT_ELSEWHERE)
		recorded_elsewhere(slot, handle);
	count_success(slot, call, call->kind, flags, 0);
}

__noinline int object_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (call->operation == OP_DESTROY)
		left_capture(thread->slot, call, result);
	if (result) {
		if (!is_end_of_driver(result) || call->operation != OP_DESTROY)
			count_failure(thread->slot, call, call->kind, 0, result);
		if (call->operation == OP_DESTROY && call->flag)
			object_lives_on(thread->slot, call, call->kind, call->arg[OBJECT_HANDLE]);
	} else if (call->operation == OP_CREATE) {
		object_made(thread->slot, call);
	} else {
		count_success(thread->slot, call, call->kind, call->flag ? 0 : TALLY_UNTRACKED, 0);
	}
	return 0;
}

#endif
