// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls of libraries above CUDA that create and destroy handles: cuBLAS, cuDNN, NCCL and others.
 *
 * They are not calls of CUDA. A thread's record of such a call is beside those of CUDA's calls, so
 * that the calls of CUDA inside of it count as they do without it. Only the objects that it makes
 * count. A call inside of another one is part of that: cuSOLVER's handle has one of cuBLAS.
 */
#ifndef BPF_OBJECT_LIBRARY_BPF_H
#define BPF_OBJECT_LIBRARY_BPF_H

#include "object/object.bpf.h"

/* call.arg of a call that creates handles; the first two are as in object/object.bpf.h */
#define LIBRARY_HANDLES 2 /* how many handles it writes */

#define HANDLES_MAX 64 /* of one call: ncclCommInitAll makes one for each GPU of the machine */

/* Handles of 32 bits are small numbers, from 0 on. With this bit they are not 0. */
#define NARROW_HANDLE (1ull << 32)

/* The thread's call of a library never returned: a handle that it was to destroy is still there. */
static __always_inline void abandon_library_call(struct thread *thread, struct call *call)
{
	if (call->operation == OP_DESTROY && call->flag)
		object_lives_on(thread->slot, call, call->kind, call->arg[OBJECT_HANDLE]);
	thread->in_library = 0;
}

/* Whether the call that enters at `sp` is inside of the thread's call of a library. */
static __always_inline bool is_within_library(const struct thread *thread, u64 sp)
{
	u64 outer = thread->calls[LIBRARY_CALL].sp;

	return thread->in_library && outer >= sp && is_in_progress(outer);
}

/* Returns 1 if the call's return is to be ignored, otherwise 0. */
static __noinline int library_enter(struct pt_regs *ctx,
				    const volatile struct function_desc *function,
				    struct thread *thread, u32 site)
{
	struct call *call = &thread->calls[LIBRARY_CALL];
	u64 sp = ctx->sp, handle;

	barrier_var(sp);
	/* Nobody knows what an unfollowed call creates. */
	if (site & SITE_UNFOLLOWED || is_within_library(thread, sp))
		return 1;
	if (thread->in_library)
		abandon_library_call(thread, call);
	begin_call(thread, call, ctx, site, function->operation);
	call->unfollowed = 0;
	call->marked = 0;
	call->kind = function->kind;
	if (function->operation == OP_CREATE) {
		call->arg[OBJECT_OUT] = argument(ctx, function, ROLE_OUT);
		call->arg[LIBRARY_HANDLES] = has_role(function, ROLE_ELEMENTS) ?
						     argument(ctx, function, ROLE_ELEMENTS) :
						     1;
	} else {
		handle = argument(ctx, function, ROLE_HANDLE);
		if (function->location[ROLE_HANDLE] & LOCATION_32)
			handle |= NARROW_HANDLE;
		call->arg[OBJECT_HANDLE] = handle;
		call->flag = object_ends(thread->slot, call, call->kind, handle);
	}
	thread->in_library = 1;
	return 0;
}

/* Counts a handle that the call has created or destroyed; no call of CUDA is counted. */
static __always_inline void count_handle(u32 slot, const struct call *call, u16 flags)
{
	const struct call_site_key key = {
		.stack = call->stack, .what = call->row, .slot = slot, .kind = SITE_OBJECT};
	struct tally *tally = tally_of(slot, call->row, call->kind, flags, call->device);

	/* Without a counter the loss of its place has been counted. */
	if (tally)
		add_tally(tally, 1, 0, call->end_ns - call->start_ns);
	if (config.stack_mode && call->site == SITE_OBJECT)
		count_site(&key, 1, 0);
}

/* The handle at that index of what the call has written. Global: the verifier checks it once. */
__noinline int handle_made(u32 slot, const struct call *call, u32 index)
{
	const volatile struct function_desc *function = call ? function_at(call->row) : NULL;
	u64 handle = 0;
	u32 narrow = 0;
	int failed;

	if (!function)
		return 0;
	if (function->flags & FUNCTION_OUT_32) {
		failed = bpf_probe_read_user(&narrow, sizeof(narrow),
					     (void *)(call->arg[OBJECT_OUT] + 4ull * index));
		handle = NARROW_HANDLE | narrow;
	} else {
		failed = bpf_probe_read_user(&handle, sizeof(handle),
					     (void *)(call->arg[OBJECT_OUT] + 8ull * index));
	}
	if (failed) {
		lose(LOSS_UNREADABLE);
		return 0;
	}
	/* ncclCommSplit makes none for ranks without a colour. */
	if (handle)
		count_handle(slot, call,
			     object_begins(slot, call, call->kind, handle, 0) ? 0 :
										TALLY_UNTRACKED);
	return 0;
}

static __always_inline void handles_made(u32 slot, const struct call *call)
{
	u32 count = call->arg[LIBRARY_HANDLES];

	for (u32 i = 0; i < HANDLES_MAX && i < count; i++)
		handle_made(slot, call, i);
}

__noinline int library_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (call->operation == OP_CREATE) {
		if (!has_failed(call, result))
			handles_made(thread->slot, call);
	} else if (!has_failed(call, result)) {
		count_handle(thread->slot, call, call->flag ? 0 : TALLY_UNTRACKED);
	} else if (call->flag) {
		object_lives_on(thread->slot, call, call->kind, call->arg[OBJECT_HANDLE]);
	}
	return 0;
}

#endif
