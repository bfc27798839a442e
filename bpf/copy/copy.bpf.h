// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Copies and sets: calls, bytes and time by function and kind. Asynchronous ones are in flight from
 * their return until a wait covers them.
 */
#ifndef BPF_COPY_COPY_BPF_H
#define BPF_COPY_COPY_BPF_H

#include "copy/batch.bpf.h"
#include "launch/capture.bpf.h"
#include "wait/order.bpf.h"

/* call.arg */
#define COPY_BYTES 0
#define COPY_STREAM 1
#define COPY_EPOCH 2 /* epoch at entry, begun by a synchronous copy itself */
#define COPY_FLAGS 3 /* TALLY_* */

static __always_inline u8 kind_of(struct pt_regs *ctx,
				  const volatile struct function_desc *function)
{
	u64 kind = function->kind;

	if (function->operation == OP_SET)
		return COPY_SET;
	if (kind == COPY_BY_ARGUMENT)
		kind = argument(ctx, function, ROLE_KIND);
	return kind < COPY_KINDS ? kind : COPY_DEFAULT;
}

/*
 * A synchronous copy from or to the host goes through the default stream and returns when it is
 * done, or (from pageable memory) first waits for that stream: in both cases all earlier work of
 * the stream is finished. Copies within the device and sets return at once.
 */
static __always_inline bool is_synchronous(const volatile struct function_desc *function, u8 kind)
{
	return function->operation == OP_COPY && !(function->flags & FUNCTION_ASYNC) &&
	       (kind == COPY_H2D || kind == COPY_D2H);
}

static __always_inline void plan_copy(struct pt_regs *ctx,
				      const volatile struct function_desc *function,
				      struct copy_plan *plan)
{
	plan->kind = kind_of(ctx, function);
	if (function->params) {
		plan_by_params(ctx, function, plan);
		/* The row's kind applies, unless the row leaves it to the parameters. */
		if (function->kind != COPY_BY_PARAMS)
			plan->kind = kind_of(ctx, function);
		return;
	}
	if (has_role(function, ROLE_SIZE))
		plan->bytes = product_of(argument(ctx, function, ROLE_SIZE), function->unit);
	else
		plan->bytes =
			product_of(product_of(argument(ctx, function, ROLE_WIDTH), function->unit),
				   argument(ctx, function, ROLE_HEIGHT));
	plan->from = argument(ctx, function, ROLE_SRC);
	plan->to = argument(ctx, function, ROLE_DST);
	/* A side without an address is an array or, in a runtime copy, a device variable. */
	plan->from_array = !has_role(function, ROLE_SRC);
	plan->to_array = !has_role(function, ROLE_DST);
}

/* From now on ranges of device memory are recorded too. */
static __always_inline void want_ranges(u32 slot)
{
	struct process_record *process = process_at(slot);

	if (process && !process->unified)
		process->unified = 1;
}

/* Non-static functions are verified once on their own, not at each call. */

/* Finds the sides that are needed: for the direction, or to see whether the host side is pinned. */
__noinline int find_sides(struct thread *thread, struct copy_plan *plan)
{
	int from = SIDE_DEVICE | DEVICE_UNKNOWN << SIDE_DEVICE_SHIFT, to = from, host;

	if (!thread || !plan)
		return 0;
	if (plan->kind == COPY_DEFAULT)
		want_ranges(thread->slot);
	if (!plan->from_array && (plan->kind == COPY_DEFAULT || plan->kind == COPY_H2D))
		from = known_side_of(thread, plan->from);
	if (!plan->to_array && (plan->kind == COPY_DEFAULT || plan->kind == COPY_D2H))
		to = known_side_of(thread, plan->to);
	if (plan->kind == COPY_DEFAULT)
		plan->kind = kind_of_sides(from, to);
	if (plan->kind != COPY_H2D && plan->kind != COPY_D2H)
		return 0;
	host = (plan->kind == COPY_H2D ? from : to) & SIDE_MASK;
	if (host == SIDE_PINNED)
		return TALLY_PINNED;
	return host == SIDE_PAGEABLE ? TALLY_PAGEABLE : 0;
}

static __noinline int copy_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				 struct thread *thread, struct call *call)
{
	struct copy_plan plan = {};

	plan_copy(ctx, function, &plan);
	if (function->params == PARAMS_SIZES || function->params == PARAMS_3D_BATCH) {
		want_ranges(thread->slot);
		call->arg[COPY_FLAGS] = find_batch_sides(ctx, function, thread->slot, &plan);
	} else {
		call->arg[COPY_FLAGS] = find_sides(thread, &plan);
	}
	call->kind = plan.kind < COPY_KINDS ? plan.kind : COPY_DEFAULT;
	call->arg[COPY_BYTES] = plan.bytes;
	if (config.profile)
		call->noted = plan.to;
	call->arg[COPY_STREAM] = argument(ctx, function, ROLE_STREAM);
	if (function->flags & FUNCTION_ASYNC &&
	    is_capturing(thread, function, call->arg[COPY_STREAM]))
		call->arg[COPY_FLAGS] |= TALLY_CAPTURED;
	if (!config.track_inflight)
		return 0;
	if (is_synchronous(function, call->kind))
		call->arg[COPY_EPOCH] = next_epoch(thread->slot);
	else if (function->flags & FUNCTION_ASYNC)
		call->arg[COPY_EPOCH] = work_epoch(thread->slot);
	return 0;
}

__noinline int copy_leave(struct thread *thread, struct call *call, s32 result)
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
	count_success(thread->slot, call, call->kind, call->arg[COPY_FLAGS], call->arg[COPY_BYTES]);
	if (!config.track_inflight || call->arg[COPY_FLAGS] & TALLY_CAPTURED)
		return 0;
	key = stream_key_of(thread, function, call->arg[COPY_STREAM]);
	if (is_synchronous(function, call->kind))
		stream_done(thread, &key, call->arg[COPY_EPOCH]);
	if (function->flags & FUNCTION_ASYNC)
		inflight_add(thread, &key, call, call->arg[COPY_BYTES], call->arg[COPY_EPOCH]);
	return 0;
}

#endif
