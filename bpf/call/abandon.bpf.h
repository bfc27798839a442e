// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls that never return: the thread jumped out of them, ended, or executed another program.
 * Effects that BPF recorded at the entry of such a call are undone, as if it had failed, but no
 * failure is counted. Whether the driver did the work is unknown. If it did, the address or handle
 * is eventually reused, which shows up as a replacement.
 */
#ifndef BPF_CALL_ABANDON_BPF_H
#define BPF_CALL_ABANDON_BPF_H

#include "profile/work.bpf.h"
#include "object/context.bpf.h"
#include "launch/graph.bpf.h"
#include "launch/launch.bpf.h"
#include "memory/memory.bpf.h"
#include "object/object.bpf.h"
#include "memory/virtual.bpf.h"

static __always_inline bool acts_at_entry(u8 operation)
{
	if (config.profile && operation == OP_WAIT)
		return true;
	return operation == OP_FREE || operation == OP_DESTROY || operation == OP_CONTEXT ||
	       operation == OP_GRAPH || operation == OP_VIRTUAL;
}

static __always_inline void abandon_call(struct thread *thread, struct call *call)
{
	if (config.profile)
		work_abandoned(thread, call);
	switch (call->operation) {
	case OP_FREE: free_leave(thread, call, RESULT_ABANDONED); break;
	case OP_CONTEXT: context_failed(thread, call, RESULT_ABANDONED); break;
	case OP_DESTROY:
		object_leave(thread, call, RESULT_ABANDONED);
		if (call->kind == OBJECT_POOL)
			pool_object_leave(thread, call, RESULT_ABANDONED);
		break;
	case OP_VIRTUAL: virtual_failed(thread, call, RESULT_ABANDONED); break;
	case OP_GRAPH: graph_leave(thread, call, RESULT_ABANDONED); break;
	case OP_LAUNCH:
		/* Whether the launch is in the graph is unknown. */
		capture_add(thread->slot, call->arg[LAUNCH_CAPTURE], 0, true);
		break;
	case OP_GRAPH_LAUNCH: capture_add(thread->slot, call->arg[RUN_CAPTURE], 0, true); break;
	}
}

/*
 * A call is gone if it began deeper in the stack than the thread is now. A call that began where
 * another one enters now is gone too, unless its return is still pending. Outer calls are checked
 * in the same way if they act at entry.
 */
static __always_inline bool will_not_return(const struct call *call, u64 sp, bool entering)
{
	if (call->sp < sp)
		return true;
	return entering && (call->sp == sp || acts_at_entry(call->operation)) &&
	       !is_in_progress(call->sp);
}

/* Global: the verifier goes through it once, not for each depth. */
__noinline int abandon_innermost(struct thread *thread, u64 sp, u32 entering)
{
	struct call *call;
	u32 depth;

	if (!thread)
		return false;
	depth = thread->depth;
	if (!depth || depth > CALL_DEPTH)
		return false;
	call = &thread->calls[(depth - 1) & (CALL_DEPTH - 1)];
	if (!will_not_return(call, sp, entering))
		return false;
	thread->depth = depth - 1;
	if (call->start_ns < handed_over_ns)
		lose(LOSS_HANDED_OVER);
	abandon_call(thread, call);
	return true;
}

__noinline int abandon_further(struct thread *thread, u64 sp, u32 entering)
{
	if (!thread)
		return 0;
	for (int i = 0; i < CALL_DEPTH; i++)
		if (!abandon_innermost(thread, sp, entering))
			break;
	return 0;
}

enum calls_where {
	CALLS_HERE = 0,
	CALLS_ELSEWHERE,
	CALLS_GONE
};

/*
 * Where the followed calls of the thread are, whose stack pointer is `sp` now. Global: the verifier
 * goes through it once.
 */
__noinline int where_calls_are(const struct thread *thread, u64 sp)
{
	u64 innermost;
	u32 depth;

	if (!thread || !thread->depth)
		return CALLS_HERE;
	depth = thread->depth;
	innermost = thread->calls[(depth - 1) & (CALL_DEPTH - 1)].sp;
	if (is_one_stack(sp, innermost))
		return CALLS_HERE;
	if (is_on_signal_stack(sp) || !is_on_signal_stack(innermost)) {
		for (u32 i = 0; i < CALL_DEPTH; i++)
			if (i < depth && is_in_progress(thread->calls[i].sp))
				return CALLS_ELSEWHERE;
	}
	return CALLS_GONE;
}

/*
 * Whether a followed call of the thread, whose stack pointer is `sp` now, waits on another stack.
 * If the thread jumped out of all calls on that stack, they are undone. So are the calls of a
 * signal handler that was left.
 */
static __always_inline bool calls_wait_elsewhere(struct thread *thread, u64 sp)
{
	int where = where_calls_are(thread, sp);

	if (where == CALLS_GONE)
		abandon_further(thread, ~0ull, false);
	return where == CALLS_ELSEWHERE;
}

/*
 * Runtime functions that are counted only until the driver's functions have probes; the other
 * operations are counted at both layers.
 */
static __always_inline bool stands_for_driver(const volatile struct function_desc *function)
{
	u8 operation = function->operation;

	return function->layer == LAYER_RUNTIME && operation != OP_ALLOC && operation != OP_FREE &&
	       operation != OP_DEVICE && operation != OP_ASK;
}

/*
 * Whether the runtime call is the same act as a driver call of `row` and is counted only until the
 * driver's functions have probes. Global: the verifier goes through it once.
 */
__noinline int gives_way(const struct call *call, u32 row, u32 operation)
{
	const volatile struct function_desc *function;

	if (!call)
		return false;
	function = function_at(call->row);
	return function && stands_for_driver(function) && is_same_act(call, row, operation);
}

/*
 * The stack pointer of the outermost call that gives way to a driver call of `row`; 0: none does.
 * Launches are excluded: they have been counted already. Global: the verifier goes through it once.
 */
__noinline u64 call_that_gives_way(const struct thread *thread, u32 row, u32 operation)
{
	if (!thread || operation == OP_LAUNCH || operation == OP_GRAPH_LAUNCH)
		return 0;
	for (u32 i = 0; i < CALL_DEPTH && i < thread->depth; i++)
		if (gives_way(&thread->calls[i], row, operation))
			return thread->calls[i].sp;
	return 0;
}

/*
 * The driver was loaded inside a runtime call. If the driver call that enters now is the same act,
 * it takes over from the runtime call.
 */
static __always_inline void leave_to_driver(struct thread *thread, u32 row, u32 operation)
{
	u64 sp = call_that_gives_way(thread, row, operation);

	if (sp)
		abandon_further(thread, sp + 1, false);
}

#endif
