// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Streams, events, modules and libraries: that they come to be and cease to
 * be. An end takes effect at the call's entry, since the handle may be
 * another object's before the call returns.
 */
#ifndef BPF_OBJECT_H
#define BPF_OBJECT_H

#include "capture.h"
#include "module.h"

#define OBJECT_HANDLE 0
#define OBJECT_CAPTURE 3 /* that a stream took part in */

/* Returns the capture that the stream takes part in no more; 0: none. */
static __always_inline u64 forget_stream(u32 slot, u64 handle)
{
	struct stream_key key = {.slot = slot, .stream = handle};

	bpf_map_delete_elem(&streams, &key);
	return stream_leaves_capture(&key);
}

/* The stream has gone, or has not: its capture goes with it, or has it still. */
static __always_inline void leave_capture(u32 slot, const struct call *call, s32 result)
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

static __noinline int object_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				   struct thread *thread, struct call *call)
{
	call->kind = function->kind;
	if (function->operation == OP_CREATE)
		return 0;
	call->arg[OBJECT_HANDLE] = argument(ctx, function, ROLE_HANDLE);
	if (call->kind == OBJECT_STREAM)
		call->arg[OBJECT_CAPTURE] = forget_stream(thread->slot, call->arg[OBJECT_HANDLE]);
	else if (call->kind == OBJECT_MODULE || call->kind == OBJECT_LIBRARY)
		unload_enter(thread, call->arg[OBJECT_HANDLE]);
	return 0;
}

static __noinline int object_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (call->operation == OP_DESTROY && call->kind == OBJECT_STREAM)
		leave_capture(thread->slot, call, result);
	if (is_end_of_driver(result) && call->operation == OP_DESTROY)
		return 0;
	if (result)
		count_failure(thread->slot, call, call->kind, 0, result);
	else
		count_success(thread->slot, call, call->kind, 0, 0);
	return 0;
}

#endif
