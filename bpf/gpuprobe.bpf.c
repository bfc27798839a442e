// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel side of gpuprobe: one program for every call of the CUDA API,
 * which finds the function's row by the site's cookie and hands the call to
 * its family. A family counts in maps (state.h); what must be told at once
 * goes to the ring.
 *
 *   mapping, process   which processes there are, and when they bring libraries
 *   thread, call      who calls, with what arguments, nested in what
 *   abandon           calls that never return
 *   stack, take_stack, call_site   where calls are made, if that is asked for
 *   account, account_call   where time goes, if that is asked for
 *   place             a thread's own counters and account
 *   rate              how many calls threads make, if that is asked for
 *   memory, launch, copy, wait, context, module   the families of the API
 *
 * The program exists three times, for three kinds of links, of which
 * userspace loads one (src/probe/links.h): call_session runs at entry and at
 * return; call_entry and call_return are apart, for uprobe_multi and for
 * tracefs events.
 */
#include "process.h"

#include "abandon.h"
#include "account_call.h"
#include "account_work.h"
#include "capture_call.h"
#include "context.h"
#include "copy.h"
#include "device.h"
#include "graph.h"
#include "host_function.h"
#include "launch.h"
#include "launch_list.h"
#include "memory.h"
#include "module.h"
#include "object.h"
#include "place.h"
#include "rate.h"
#include "take_stack.h"
#include "virtual.h"
#include "wait.h"

/* Returns 1 where the call's return is of no interest, else 0. */
static __always_inline int enter(struct pt_regs *ctx)
{
	u32 row = entry_row(ctx);
	const volatile struct function_desc *function = function_at(row);
	struct thread *thread;
	struct call *call;

	if (!function)
		return 1;
	thread = current_thread();
	if (!thread)
		return 1;
	if (config.rates)
		count_rate(thread, function->operation);
	if (!thread->place)
		open_place(thread);
	if (thread->depth)
		abandon_gone_calls(thread, ctx->sp, true);
	if (function->operation == OP_LAUNCH)
		return launch_enter(ctx, function, thread, row);
	if (config.account && function->operation == OP_ASK && function->kind == ASK_ERROR)
		return ask_enter(thread);
	call = call_enter(thread, ctx, row, function->operation);
	if (!call)
		return 1;
	if (config.account)
		work_enter(ctx, function, thread, call);
	switch (function->operation) {
	case OP_ALLOC:
		alloc_enter(ctx, function, thread, call);
		break;
	case OP_FREE:
		free_enter(ctx, function, thread, call);
		break;
	case OP_COPY:
	case OP_SET:
		copy_enter(ctx, function, thread, call);
		if (config.account)
			repeat_enter(ctx, function, thread, call);
		break;
	case OP_WAIT:
	case OP_QUERY:
	case OP_EVENT_RECORD:
		wait_enter(ctx, function, thread, call);
		break;
	case OP_CONTEXT:
		context_enter(ctx, function, thread, call);
		break;
	case OP_DEVICE:
		device_enter(ctx, function, call);
		break;
	case OP_GET_KERNEL:
		module_enter(ctx, function, call);
		break;
	case OP_VIRTUAL:
		virtual_enter(ctx, function, thread, call);
		break;
	case OP_POOL:
		pool_enter(ctx, function, thread, call);
		break;
	case OP_CREATE:
	case OP_DESTROY:
		object_enter(ctx, function, thread, call);
		if (function->kind == OBJECT_POOL)
			pool_object_enter(ctx, function, thread, call);
		break;
	case OP_CAPTURE:
		capture_enter(ctx, function, call);
		break;
	case OP_GRAPH:
		graph_enter(ctx, function, thread, call);
		break;
	case OP_GRAPH_LAUNCH:
		graph_launch_enter(ctx, function, thread, call);
		break;
	case OP_HOST_FUNCTION:
		host_function_enter(ctx, function, thread, call);
		break;
	case OP_LAUNCH_LIST:
		launch_list_enter(ctx, function, thread, call);
		break;
	}
	return 0;
}

static __always_inline void leave_family(struct thread *thread, struct call *call, s32 result)
{
	switch (call->operation) {
	case OP_LAUNCH:
		launch_leave(thread, call, result);
		break;
	case OP_ALLOC:
		alloc_leave(thread, call, result);
		break;
	case OP_FREE:
		free_leave(thread, call, result);
		break;
	case OP_COPY:
	case OP_SET:
		copy_leave(thread, call, result);
		break;
	case OP_WAIT:
	case OP_QUERY:
	case OP_EVENT_RECORD:
		wait_leave(thread, call, result);
		break;
	case OP_CONTEXT:
		context_leave(thread, call, result);
		break;
	case OP_DEVICE:
		device_leave(thread, call, result);
		break;
	case OP_GET_KERNEL:
		module_leave(thread, call, result);
		break;
	case OP_VIRTUAL:
		virtual_leave(thread, call, result);
		break;
	case OP_POOL:
		pool_leave(thread, call, result);
		break;
	case OP_CREATE:
	case OP_DESTROY:
		object_leave(thread, call, result);
		if (call->kind == OBJECT_POOL)
			pool_object_leave(thread, call, result);
		break;
	case OP_CAPTURE:
		capture_leave(thread, call, result);
		break;
	case OP_GRAPH:
		graph_leave(thread, call, result);
		break;
	case OP_GRAPH_LAUNCH:
		graph_launch_leave(thread, call, result);
		break;
	case OP_HOST_FUNCTION:
		host_function_leave(thread, call, result);
		break;
	case OP_LAUNCH_LIST:
		launch_list_leave(thread, call, result);
		break;
	}
}

static __always_inline void leave(struct pt_regs *ctx)
{
	struct thread *thread = returning_thread();
	s32 result = ctx->ax;
	struct call *call;
	int wants;

	if (!thread)
		return;
	if (innermost_is_below(thread, ctx->sp - 8))
		abandon_gone_calls(thread, ctx->sp - 8, false);
	call = call_leave(thread, ctx);
	if (!call)
		return;
	note_stack(ctx, thread, call, result);
	leave_family(thread, call, result);
	if (!config.account)
		return;
	account_leave(thread, call, result);
	wants = work_leave(thread, call, result);
	account_memory(thread->slot, call, result);
	if (wants)
		keep_account_stack(ctx, thread, call, wants);
}

extern bool bpf_session_is_return(void) __ksym __weak;

SEC("uprobe")
int call_session(struct pt_regs *ctx)
{
	if (bpf_session_is_return()) {
		leave(ctx);
		return 0;
	}
	return enter(ctx) ? 1 : 0;
}

/* Returns 0 whatever enter says: before Linux 6.13 a 1 asks for the probe to be removed. */
SEC("uprobe")
int call_entry(struct pt_regs *ctx)
{
	enter(ctx);
	return 0;
}

SEC("uretprobe")
int call_return(struct pt_regs *ctx)
{
	leave(ctx);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
