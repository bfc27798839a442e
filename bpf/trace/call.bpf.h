// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A traced call from entry to return. As in call/call.bpf.h, a recorded call encloses the present
 * one while the stack pointer is at or below where it began and its return address is still the
 * kernel's trampoline. Otherwise the thread has jumped out of it, and an event says so.
 */
#ifndef BPF_TRACE_CALL_BPF_H
#define BPF_TRACE_CALL_BPF_H

#include "process/confined.bpf.h"
#include "call/switch.bpf.h"
#include "trace/kernel.bpf.h"

/*
 * A longer call may already have been printed as in progress, and its return gets a line of its
 * own. No later line may be printed while that event is on its way.
 */
#define LONG_CALL_NS 1000000

#define NOT_READY 600 /* CUDA_ERROR_NOT_READY and cudaErrorNotReady: not failures */

static __always_inline const struct trace_plan *plan_at(u32 row)
{
	if (row >= MAX_FUNCTIONS)
		return NULL;
	barrier_var(row);
	return &plans[row];
}

static __always_inline bool has_failed(const struct trace_plan *plan, s32 result)
{
	if (plan->returns == TRACE_RETURNS_NCCL)
		return result && result != TRACE_NCCL_IN_PROGRESS;
	return plan->returns == TRACE_RETURNS_ERROR && result && result != NOT_READY;
}

/*
 * Sends events for the calls from `depth` on, which will not return. Global: the verifier goes
 * through it once.
 */
__noinline int give_up_calls(struct traced_thread *thread, u32 depth)
{
	if (!thread)
		return 0;
	for (u32 i = TRACE_DEPTH; i > 0; i--) {
		u32 top = thread->depth;
		struct traced_call *call;

		if (top <= depth || top > TRACE_DEPTH)
			break;
		call = &thread->calls[(top - 1) & (TRACE_DEPTH - 1)];
		thread->depth = top - 1;
		call->event.duration_ns = now() - call->event.start_ns;
		if (!trace.failed && call->event.duration_ns >= trace.min_duration_ns)
			put_event(thread, call, TRACE_UNFINISHED);
	}
	if (!thread->depth)
		set_in_progress(thread, 0);
	return 0;
}

/* How many of the thread's recorded calls enclose one that enters at `sp`. */
__noinline int calls_around(const struct traced_thread *thread, u64 sp)
{
	u32 depth;

	if (!thread)
		return 0;
	depth = thread->depth;
	for (u32 i = 0; i < TRACE_DEPTH; i++) {
		const struct traced_call *call = &thread->calls[(depth - 1) & (TRACE_DEPTH - 1)];

		if (!depth)
			break;
		/* If the stack pointers are equal, one function jumped to the other. */
		if (call->sp >= sp && is_in_progress(call->sp))
			break;
		depth--;
	}
	return depth;
}

/*
 * Whether one of the thread's recorded calls waits on another stack than the one at `sp`. If the
 * thread jumped out of all calls on that stack, they are given up. So are the calls of a signal
 * handler that was left.
 */
__noinline int traced_calls_wait_elsewhere(struct traced_thread *thread, u64 sp)
{
	u64 innermost;
	u32 depth;

	if (!thread || !thread->depth)
		return false;
	depth = thread->depth;
	innermost = thread->calls[(depth - 1) & (TRACE_DEPTH - 1)].sp;
	if (is_one_stack(sp, innermost))
		return false;
	if (is_on_signal_stack(sp) || !is_on_signal_stack(innermost)) {
		for (u32 i = 0; i < TRACE_DEPTH; i++)
			if (i < depth && is_in_progress(thread->calls[i].sp))
				return true;
	}
	give_up_calls(thread, 0);
	return false;
}

/*
 * Fills the part of an event that is known at entry. The time is taken after the stack, so it
 * excludes the stack's cost.
 */
static __always_inline void begin_event(struct pt_regs *ctx, struct traced_thread *thread,
					struct traced_call *call, const struct trace_plan *plan,
					u32 row, u32 depth)
{
	u64 stack = config.stack_mode ? take_stack(ctx, thread, depth) : 0;

	call->sp = ctx->sp;
	call->kernel_at = 0;
	call->event.row = row;
	call->event.depth = depth;
	call->event.result = 0;
	call->event.upper = 0;
	call->event.duration_ns = 0;
	call->event.generation = generation_of(thread->process);
	call->event.start_ns = now();
	keep_words(call, ctx, plan, stack);
	if (plan->reads)
		add_reads(call, plan, false);
	if (trace.kernel_args && plan->flags & TRACE_PLAN_ARGS)
		add_launch_arguments(call, plan);
	if (plan->flags & TRACE_PLAN_KERNEL && plan->layer == LAYER_DRIVER)
		name_launched(thread, word_of(call, plan->kernel_word));
}

/* A nested call that is not shown: a launch passes the driver's handle on to the outer call. */
static __always_inline void look_at_nested(struct pt_regs *ctx, struct traced_thread *thread,
					   const struct trace_plan *plan, u32 depth)
{
	u64 registers[REGISTERS] = {ctx->di, ctx->si, ctx->dx, ctx->cx, ctx->r8, ctx->r9};

	if (plan->flags & TRACE_PLAN_KERNEL && plan->layer == LAYER_DRIVER &&
	    plan->kernel_word < REGISTERS)
		keep_driver_handle(thread, &thread->calls[(depth - 1) & (TRACE_DEPTH - 1)],
				   registers[plan->kernel_word]);
}

/*
 * Sends the event of an unfollowed call at once, unless only failed or slow calls were requested.
 * Calls inside it count as nested.
 */
static __always_inline void report_unfollowed(struct pt_regs *ctx, struct traced_thread *thread,
					      const struct trace_plan *plan, u32 site)
{
	u32 depth = thread->depth,
	    within = unfollowed_around(&thread->unfollowed, ctx->sp, site) != 0;
	struct traced_call *call;
	volatile u64 *progress;
	u64 since;

	if (!within)
		keep_unfollowed(&thread->unfollowed, ctx->sp, site, 0);
	else if (!trace.nested)
		return;
	progress = progress_of(thread);
	if (!progress)
		return;
	if (trace.failed || trace.min_duration_ns) {
		/* For latest_calls (trace.bpf.c). */
		if (!depth)
			thread->calls[0].event.start_ns = now();
		return;
	}
	if (depth >= TRACE_DEPTH) {
		lose_call(TRACE_LOST_DEPTH);
		return;
	}
	call = &thread->calls[depth & (TRACE_DEPTH - 1)];
	since = *progress;
	*progress = TRACE_ENTERING;
	begin_event(ctx, thread, call, plan, site & SITE_ROW, within);
	put_event(thread, call, TRACE_UNFOLLOWED);
	*progress = since;
}

/* Returns 1 if the call's return is to be ignored, otherwise 0. */
static __always_inline int trace_enter(struct pt_regs *ctx)
{
	u32 site = entry_site(ctx), row = site & SITE_ROW, depth;
	const struct trace_plan *plan = plan_at(row);
	struct traced_thread *thread;
	struct traced_call *call;
	volatile u64 *progress;
	u64 sp = ctx->sp;
	bool follows;

	/* Otherwise the compiler keeps the address of ctx->sp, which the verifier rejects. */
	barrier_var(sp);
	if (!plan)
		return 1;
	thread = tracing_thread();
	if (!thread)
		return 1;
	if (handing_over && is_taken(&thread->taken, site, sp))
		return 1;
	follows = !(site & SITE_UNFOLLOWED) &&
		  !(thread->depth && traced_calls_wait_elsewhere(thread, sp));
	depth = thread->depth;
	if (follows && depth) {
		depth = calls_around(thread, sp);
		if (depth < thread->depth)
			give_up_calls(thread, depth);
	}
	if (plan->flags & TRACE_PLAN_ENDS)
		raise_generation(thread->process);
	if (plan->flags & TRACE_PLAN_HIDDEN)
		return 1;
	if (!follows) {
		report_unfollowed(ctx, thread, plan, site);
		return 1;
	}
	if (depth && !trace.nested) {
		look_at_nested(ctx, thread, plan, depth);
		return 1;
	}
	if (depth >= TRACE_DEPTH) {
		lose_call(TRACE_LOST_DEPTH);
		return 1;
	}
	call = &thread->calls[depth & (TRACE_DEPTH - 1)];
	progress = progress_of(thread);
	if (!progress)
		return 1;
	if (!depth || trace.entry_return)
		*progress = TRACE_ENTERING;
	begin_event(ctx, thread, call, plan, row, depth);
	if (depth)
		look_at_nested(ctx, thread, plan, depth);
	if (trace.entry_return) {
		bool reported = !put_event(thread, call, TRACE_ENTRY);

		*progress = 0;
		if (!reported)
			return 1;
	} else if (!depth) {
		*progress = call->event.start_ns;
	}
	thread->depth = depth + 1;
	return 0;
}

/* Completes the call's event and sends it. */
static __always_inline void end_event(struct traced_thread *thread, struct traced_call *call,
				      u64 result)
{
	const struct trace_plan *plan = plan_at(call->event.row);
	u64 duration = now() - call->event.start_ns;
	bool failed;

	if (!plan)
		return;
	if (duration > LONG_CALL_NS) {
		set_in_progress(thread, TRACE_ENTERING);
		duration = now() - call->event.start_ns;
	}
	failed = has_failed(plan, result);
	if (duration < trace.min_duration_ns || (trace.failed && !failed))
		return;
	call->event.duration_ns = duration;
	call->event.result = result;
	call->event.upper = result >> 32;
	if (plan->flags & TRACE_PLAN_KERNEL && plan->layer == LAYER_RUNTIME && call->kernel_at &&
	    !word_of(call, call->kernel_at / sizeof(u64)))
		name_launched(thread, word_of(call, plan->kernel_word));
	if (plan->reads && failed)
		add_empty_reads(call, plan);
	else if (plan->reads)
		add_reads(call, plan, true);
	put_event(thread, call, TRACE_CALL);
}

static __always_inline void trace_leave(struct pt_regs *ctx)
{
	struct traced_thread *thread = thread_in_call();
	u64 sp = ctx->sp - 8;
	struct traced_call *call;
	u32 depth;

	if (!thread)
		return;
	depth = thread->depth;
	call = &thread->calls[(depth - 1) & (TRACE_DEPTH - 1)];
	if (call->sp < sp) {
		/* Only session links can skip a return; other links report it anyway. */
		if (config.links != LINKS_SESSION && traced_calls_wait_elsewhere(thread, sp))
			return;
		/* The thread has jumped out of calls that began deeper in the stack. */
		for (u32 i = 0; i < TRACE_DEPTH; i++) {
			if (!depth || thread->calls[(depth - 1) & (TRACE_DEPTH - 1)].sp >= sp)
				break;
			depth--;
		}
		give_up_calls(thread, depth);
		if (!depth)
			return;
		call = &thread->calls[(depth - 1) & (TRACE_DEPTH - 1)];
	}
	if (call->sp != sp)
		return;
	if (trace.entry_return)
		set_in_progress(thread, TRACE_ENTERING);
	thread->depth = depth - 1;
	end_event(thread, call, ctx->ax);
	set_in_progress(thread,
			depth == 1 || trace.entry_return ? 0 : thread->calls[0].event.start_ns);
}

#endif
