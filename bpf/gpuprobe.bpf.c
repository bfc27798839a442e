// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The kernel side of gpuprobe: one program for every call of the CUDA API. It finds the function's
 * row by the site's cookie and passes the call to its family. Families count in maps
 * (call/state.bpf.h); urgent notices go to the ring.
 *
 *   mapping, process   which processes there are, and when they map libraries
 *   thread, call      who calls, with what arguments, nested in what
 *   abandon           calls that never return
 *   open_calls        calls in progress
 *   switch            calls whose return is not followed, since their thread switches stacks
 *   stack, take_stack, call_site   where calls are made, on request
 *   profile, profile/call   where time goes, on request
 *   profile/contention   calls delayed because another thread holds the driver
 *   counter_slot      a thread's own counters and profile
 *   rate              how many calls threads make, on request
 *   profile/submitted   calls whose work has GPU times, on request
 *   steps, step_call  what threads submit repeatedly, on request
 *   memory, launch, copy, wait, context, module   the families of the API
 *   library           handles of libraries above CUDA, whose calls are not CUDA's
 *   tensor            pieces that frameworks' allocators hand out, on request: a program of its own
 *
 * The program exists in three versions for three kinds of links; userspace loads one
 * (src/probe/links.h). call_session runs at entry and at return; call_entry and call_return are
 * separate, for uprobe_multi and for tracefs events.
 */
#include "process/process.bpf.h"

#include "call/abandon.bpf.h"
#include "profile/call.bpf.h"
#include "profile/contention.bpf.h"
#include "profile/work.bpf.h"
#include "profile/submitted.bpf.h"
#include "launch/capture_call.bpf.h"
#include "object/context.bpf.h"
#include "copy/copy.bpf.h"
#include "object/device.bpf.h"
#include "launch/graph.bpf.h"
#include "launch/host_function.bpf.h"
#include "core/identity.bpf.h"
#include "launch/launch.bpf.h"
#include "launch/launch_list.bpf.h"
#include "memory/memory.bpf.h"
#include "launch/module.bpf.h"
#include "object/library.bpf.h"
#include "object/object.bpf.h"
#include "call/counter_slot.bpf.h"
#include "call/rate.bpf.h"
#include "steps/step_call.bpf.h"
#include "stack/take_stack.bpf.h"
#include "tensor/segment.bpf.h"
#include "tensor/tensor.bpf.h"
#include "memory/virtual.bpf.h"
#include "wait/wait.bpf.h"

/* Whether the return of the call that enters now may be followed. */
static __always_inline bool may_follow(struct thread *thread, u32 site, u64 sp)
{
	return !(site & SITE_UNFOLLOWED) && !(thread->depth && calls_wait_elsewhere(thread, sp));
}

/*
 * Operations that can be recorded from their arguments if the return is not followed; all others
 * are only counted.
 */
static __always_inline bool tells_by_arguments(u8 operation)
{
	return operation == OP_ALLOC || operation == OP_FREE || operation == OP_COPY ||
	       operation == OP_SET;
}

/* Counts a call whose return is not followed. A free is assumed to succeed. */
__noinline int count_unfollowed(struct thread *thread, struct call *call)
{
	const volatile struct function_desc *function;
	u16 flags = 0;
	u64 bytes = 0;

	if (!thread || !call)
		return 0;
	function = function_at(call->row);
	if (!function)
		return 0;
	if (config.profile && may_submit(call->operation))
		lose_sight(thread->slot);
	switch (call->operation) {
	case OP_FREE: return free_leave(thread, call, 0);
	case OP_ALLOC:
		bytes = call->arg[ALLOC_SIZE];
		flags = call->flag & ALLOC_CAPTURED ? TALLY_CAPTURED : TALLY_UNTRACKED;
		break;
	case OP_COPY:
	case OP_SET:
		bytes = call->arg[COPY_BYTES];
		flags = call->arg[COPY_FLAGS];
		break;
	case OP_CONTEXT:
	case OP_DEVICE:
		/* The current context is unknown from now on. */
		thread->context_depth = 0;
		/* fall through */
	default: call->kind = function->kind;
	}
	count_success(thread->slot, call, call->kind, flags, bytes);
	return 0;
}

/* Returns 1 if the call's return is to be ignored, otherwise 0. */
static __always_inline int enter(struct pt_regs *ctx)
{
	u32 site = entry_site(ctx), row = site & SITE_ROW;
	const volatile struct function_desc *function = function_at(row);
	struct thread *thread;
	struct call *call;
	u64 sp = ctx->sp;
	bool follows;

	/* Otherwise the compiler keeps the address of ctx->sp, which the verifier rejects. */
	barrier_var(sp);
	if (!function || (driver_counts && stands_for_driver(function)))
		return 1;
	thread = current_thread();
	if (!thread)
		return 1;
	if (handing_over && is_taken(&thread->taken, site, sp))
		return 1;
	if (function->layer == LAYER_LIBRARY)
		return library_enter(ctx, function, thread, site);
	if (config.rates)
		count_rate(thread, function->operation);
	if (!thread->counter_slot)
		open_counter_slot(thread);
	follows = may_follow(thread, site, sp);
	if (follows && thread->depth)
		abandon_gone_calls(thread, sp, true);
	if (follows && thread->depth && driver_counts && function->layer == LAYER_DRIVER)
		leave_to_driver(thread, row, function->operation);
	if (function->operation == OP_LAUNCH)
		return launch_enter(ctx, function, thread, site, follows);
	if (several_drivers)
		note_driver_of(thread, site);
	if (config.profile && function->operation == OP_ASK && function->kind == ASK_ERROR)
		return follows ? ask_enter(thread) : 1;
	call = follows ? call_enter(thread, ctx, site, function->operation) :
			 call_enter_unfollowed(thread, ctx, site, function->operation);
	if (!call) {
		lose_sight_too_deep(thread);
		return 1;
	}
	if (!call->unfollowed && config.profile)
		work_enter(ctx, function, thread, call);
	if (call->unfollowed && !tells_by_arguments(function->operation)) {
		count_unfollowed(thread, call);
		return 1;
	}
	switch (function->operation) {
	case OP_ALLOC: alloc_enter(ctx, function, thread, call); break;
	case OP_FREE: free_enter(ctx, function, thread, call); break;
	case OP_COPY:
	case OP_SET:
		copy_enter(ctx, function, thread, call);
		if (config.profile)
			repeat_enter(ctx, function, thread, call);
		break;
	case OP_WAIT:
	case OP_QUERY:
	case OP_EVENT_RECORD: wait_enter(ctx, function, thread, call); break;
	case OP_CONTEXT: context_enter(ctx, function, thread, call); break;
	case OP_DEVICE: device_enter(ctx, function, call); break;
	case OP_GET_KERNEL: module_enter(ctx, function, call); break;
	case OP_VIRTUAL: virtual_enter(ctx, function, thread, call); break;
	case OP_POOL: pool_enter(ctx, function, thread, call); break;
	case OP_CREATE:
	case OP_DESTROY:
		object_enter(ctx, function, thread, call);
		if (function->kind == OBJECT_POOL)
			pool_object_enter(ctx, function, thread, call);
		break;
	case OP_CAPTURE: capture_enter(ctx, function, thread, call); break;
	case OP_GRAPH: graph_enter(ctx, function, thread, call); break;
	case OP_GRAPH_LAUNCH: graph_launch_enter(ctx, function, thread, call); break;
	case OP_HOST_FUNCTION: host_function_enter(ctx, function, thread, call); break;
	case OP_ASK: call->kind = function->kind; break;
	case OP_LAUNCH_LIST: launch_list_enter(ctx, function, thread, call); break;
	}
	if (!call->unfollowed)
		return 0;
	count_unfollowed(thread, call);
	return 1;
}

static __always_inline void leave_family(struct thread *thread, struct call *call, s32 result)
{
	switch (call->operation) {
	case OP_LAUNCH: launch_leave(thread, call, result); break;
	case OP_ALLOC: alloc_leave(thread, call, result); break;
	case OP_FREE:
		free_leave(thread, call, result);
		if (config.tensor_events && !result)
			tell_segment_freed(thread->slot, call);
		break;
	case OP_COPY:
	case OP_SET: copy_leave(thread, call, result); break;
	case OP_WAIT:
	case OP_QUERY:
	case OP_EVENT_RECORD: wait_leave(thread, call, result); break;
	case OP_CONTEXT: context_leave(thread, call, result); break;
	case OP_DEVICE: device_leave(thread, call, result); break;
	case OP_GET_KERNEL: module_leave(thread, call, result); break;
	case OP_VIRTUAL: virtual_leave(thread, call, result); break;
	case OP_POOL: pool_leave(thread, call, result); break;
	case OP_CREATE:
	case OP_DESTROY:
		object_leave(thread, call, result);
		if (call->kind == OBJECT_POOL)
			pool_object_leave(thread, call, result);
		break;
	case OP_CAPTURE: capture_leave(thread, call, result); break;
	case OP_GRAPH: graph_leave(thread, call, result); break;
	case OP_GRAPH_LAUNCH: graph_launch_leave(thread, call, result); break;
	case OP_HOST_FUNCTION: host_function_leave(thread, call, result); break;
	case OP_LAUNCH_LIST: launch_list_leave(thread, call, result); break;
	case OP_ASK: ask_leave(thread, call, result); break;
	}
}

static __always_inline void leave(struct pt_regs *ctx)
{
	struct thread *thread = returning_thread();
	s32 result = ctx->ax;
	u64 sp = ctx->sp - 8;
	struct call *call;
	int wants;

	if (!thread)
		return;
	barrier_var(sp);
	if (innermost_is_below(thread, sp)) {
		/* Only session links can skip a return; other links report it anyway. */
		if (config.links != LINKS_SESSION && calls_wait_elsewhere(thread, sp))
			return;
		abandon_gone_calls(thread, sp, false);
	}
	call = call_leave(thread, ctx);
	if (!call)
		return;
	note_stack(ctx, thread, call, result);
	if (call == &thread->calls[LIBRARY_CALL]) {
		library_leave(thread, call, result);
		return;
	}
	leave_family(thread, call, result);
	if (config.gpu_times && !result)
		tell_submitted((struct bpf_user_pt_regs_t *)ctx, thread, call);
	if (config.steps)
		step_leave(thread, call, result);
	if (!config.profile)
		return;
	profile_leave(thread, call, result);
	wants = work_leave(thread, call, result);
	profile_memory(thread->slot, call, result);
	if (wants)
		keep_profile_stack(ctx, thread, call, wants);
	if (call->end_ns - call->start_ns >= CONTENTION_NS)
		note_long_call(ctx, thread, call);
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

/* Always returns 0: before Linux 6.13 a 1 would remove the probe. */
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
