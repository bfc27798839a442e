// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Copies and sets: calls, bytes and time by function and kind; asynchronous
 * ones are in flight from their return until a wait covers them.
 */
#ifndef BPF_COPY_H
#define BPF_COPY_H

#include "inflight.h"
#include "params.h"

/* call.arg */
#define COPY_BYTES 0
#define COPY_STREAM 1
#define COPY_EPOCH 2 /* of a synchronous copy */

static __always_inline u64 bytes_of(struct pt_regs *ctx, const volatile struct function_desc *function)
{
	if (has_role(function, ROLE_SIZE))
		return argument(ctx, function, ROLE_SIZE) * function->unit;
	return argument(ctx, function, ROLE_WIDTH) * function->unit * argument(ctx, function, ROLE_HEIGHT);
}

static __always_inline u8 kind_of(struct pt_regs *ctx, const volatile struct function_desc *function)
{
	u64 kind = function->kind;

	if (function->operation == OP_SET)
		return COPY_SET;
	if (kind == COPY_BY_ARGUMENT)
		kind = argument(ctx, function, ROLE_KIND);
	return kind < COPY_KINDS ? kind : COPY_DEFAULT;
}

/*
 * A synchronous copy from or to the host goes through the default stream and
 * returns when that is done, or (from pageable memory) begins by waiting for
 * it: either way, what the stream was given before is done. Copies within the
 * device and sets return at once.
 */
static __always_inline bool is_synchronous(const volatile struct function_desc *function, u8 kind)
{
	return function->operation == OP_COPY && !(function->flags & FUNCTION_ASYNC) &&
	       (kind == COPY_H2D || kind == COPY_D2H);
}

static __noinline int copy_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				 struct thread *thread, struct call *call)
{
	u8 kind = kind_of(ctx, function);
	u64 bytes;

	if (function->params)
		bytes = bytes_of_params(ctx, function, &kind);
	else
		bytes = bytes_of(ctx, function);
	/* What the row says of the kind stands, unless it leaves that to the parameters. */
	if (function->kind != COPY_BY_PARAMS)
		kind = kind_of(ctx, function);
	call->kind = kind < COPY_KINDS ? kind : COPY_DEFAULT;
	call->arg[COPY_BYTES] = bytes;
	call->arg[COPY_STREAM] = argument(ctx, function, ROLE_STREAM);
	if (config.track_inflight && is_synchronous(function, call->kind))
		call->arg[COPY_EPOCH] = next_epoch(thread->slot);
	return 0;
}

static __noinline int copy_leave(struct thread *thread, struct call *call, s32 result)
{
	const volatile struct function_desc *function;
	struct stream_key key;

	if (!thread || !call)
		return 0;
	function = function_at(call->row);
	if (!function)
		return 0;
	if (result) {
		count_failure(thread->slot, call, call->kind, 0, result);
		return 0;
	}
	count_success(thread->slot, call, call->kind, 0, call->arg[COPY_BYTES]);
	if (!config.track_inflight)
		return 0;
	key = stream_key_of(thread, function, call->arg[COPY_STREAM]);
	if (is_synchronous(function, call->kind))
		cover_stream(&key, call->arg[COPY_EPOCH]);
	if (function->flags & FUNCTION_ASYNC)
		inflight_add(thread, &key, call->kind, call->arg[COPY_BYTES], call->start_ns);
	return 0;
}

#endif
