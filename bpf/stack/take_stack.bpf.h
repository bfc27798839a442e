// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which calls have their stack taken: allocations, failures, long waits and, on request, copies and
 * calls that create objects at their return; a sample of launches at their entry.
 */
#ifndef BPF_STACK_TAKE_STACK_BPF_H
#define BPF_STACK_TAKE_STACK_BPF_H

#include "call/call.bpf.h"
#include "stack/stack.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct launch_site_key);
	__type(value, struct launch_site_record);
} launch_sites SEC(".maps");

/*
 * Keeps the return addresses of the thread's calls that have not returned yet: on the stack, the
 * kernel has replaced them by its trampoline.
 */
static __always_inline void keep_callers(struct stack_record *record, const struct thread *thread)
{
	u32 depth = thread->depth;

	record->callers = depth < STACK_CALLERS ? depth : STACK_CALLERS;
	for (u32 i = 0; i < STACK_CALLERS; i++) {
		record->caller[i].stack_address = thread->calls[i & (CALL_DEPTH - 1)].sp;
		record->caller[i].address = thread->calls[i & (CALL_DEPTH - 1)].caller;
	}
	if (thread->in_library && depth < STACK_CALLERS) {
		record->caller[depth].stack_address = thread->calls[LIBRARY_CALL].sp;
		record->caller[depth].address = thread->calls[LIBRARY_CALL].caller;
		record->callers = depth + 1;
	}
}

/* The id of the thread's stack, inside the function at this address; 0 if it cannot be taken. */
static __noinline u64 take_stack(struct pt_regs *ctx, const struct thread *thread, u64 function,
				 bool entering)
{
	struct stack_scratch *scratch = stack_scratch();
	struct process_record *process = process_at(thread->slot);
	struct stack_origin origin = {
		.function = function,
		.owner = thread->slot,
		.entering = entering,
	};
	u64 id;

	if (!scratch || !process)
		return 0;
	origin.start_ns = process->start_ns;
	origin.pid = process->pid;
	id = reported_stack(&scratch->record, read_stack(scratch, ctx, ctx, &origin));
	if (id)
		return id;
	keep_callers(&scratch->record, thread);
	report_stack(&scratch->record);
	return scratch->record.id;
}

/* --- other calls, at their return --- */

static __always_inline bool is_blocking(const struct call *call)
{
	const volatile struct function_desc *function;

	if (call->operation == OP_WAIT)
		return true;
	if (call->operation != OP_COPY && call->operation != OP_SET && call->operation != OP_FREE)
		return false;
	function = function_at(call->row);
	return function && !(function->flags & FUNCTION_ASYNC);
}

static __always_inline bool creates_object(const struct call *call)
{
	switch (call->operation) {
	case OP_CREATE: return true;
	case OP_CAPTURE: return call->kind == CAPTURE_END;
	case OP_CONTEXT:
		return call->kind == CONTEXT_CREATE || call->kind == CONTEXT_RETAIN ||
		       call->kind == CONTEXT_GREEN;
	case OP_GRAPH:
		return call->kind == GRAPH_CREATE || call->kind == GRAPH_CLONE ||
		       call->kind == GRAPH_INSTANTIATE;
	default: return false;
	}
}

/*
 * Whether to take the stack of a call that creates an object. Creating an event is as cheap as
 * taking a stack. So a program that creates and destroys an event at each step, and has few
 * objects, pays for none; nor does one that creates thousands a second for most of them.
 */
static __always_inline bool wants_maker(const struct thread *thread, const struct call *call)
{
	struct process_record *process = process_at(thread->slot);
	u32 second = call->end_ns >> 30;

	if (!process)
		return false;
	if (call->operation == OP_CREATE && call->kind == OBJECT_EVENT &&
	    process->object_keys < OBJECTS_UNTRACED)
		return false;
	if (process->object_second != second) {
		process->object_second = second;
		process->object_stacks = 0;
	}
	return process->object_stacks++ < OBJECT_STACKS;
}

/* What the call counts as at its call site; SITE_KINDS: not counted. */
static __always_inline enum site_kind site_kind_of(const struct thread *thread,
						   const struct call *call, s32 result)
{
	if (has_failed(call, result))
		return call->operation == OP_QUERY && result == CUDA_NOT_READY ? SITE_KINDS :
										 SITE_FAILURE;
	if (call->operation == OP_ALLOC)
		return SITE_ALLOCATION;
	if (is_blocking(call))
		return call->end_ns - call->start_ns >= config.min_wait_ns ? SITE_WAIT : SITE_KINDS;
	if (call->operation == OP_COPY || call->operation == OP_SET)
		return SITE_COPY;
	return wants_site(SITE_OBJECT) && creates_object(call) && wants_maker(thread, call) ?
		       SITE_OBJECT :
		       SITE_KINDS;
}

/* Takes the stack of a returning call, for its family to count by. */
static __always_inline void note_stack(struct pt_regs *ctx, const struct thread *thread,
				       struct call *call, s32 result)
{
	if (!config.stack_mode)
		return;
	call->stack = 0;
	call->site = site_kind_of(thread, call, result);
	if (call->site != SITE_KINDS && wants_site(call->site))
		call->stack = take_stack(ctx, thread, call->function, false);
	else
		call->site = SITE_KINDS;
}

/* --- launches, at their entry --- */

static __always_inline struct launch_site_record *launch_site_at(const struct launch_site_key *key)
{
	struct launch_site_record *site = bpf_map_lookup_elem(&launch_sites, key), zero = {};
	int error;

	if (site)
		return site;
	error = bpf_map_update_elem(&launch_sites, key, &zero, BPF_NOEXIST);
	site = bpf_map_lookup_elem(&launch_sites, key);
	if (!site)
		lose_update(error, LOSS_SITE_MAP_FULL);
	return site;
}

/* The stack of this launch also stands for all previous launches that have none yet. */
static __noinline int take_launch_stack(struct pt_regs *ctx, const struct thread *thread,
					const struct launch_key *launch,
					struct launch_site_record *site, u64 number)
{
	struct call_site_key key = {.kind = SITE_LAUNCH};
	u64 reported;

	key.stack = take_stack(ctx, thread, ctx->ip, true);
	key.what = launch->kernel.handle;
	key.generation = launch->kernel.generation;
	key.slot = thread->slot;
	site->stack = key.stack;
	reported = site->reported;
	/* If several threads take one at once, only the first has launches to count. */
	if (reported >= number ||
	    __sync_val_compare_and_swap(&site->reported, reported, number) != reported)
		return 0;
	count_site(&key, number - reported, 0);
	return 0;
}

static __always_inline void note_launch(struct pt_regs *ctx, const struct thread *thread,
					const struct launch_key *launch)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct launch_site_key key = {};
	struct launch_site_record *site;
	u64 before;

	if (bpf_probe_read_user(&key.caller, sizeof(key.caller), (void *)ctx->sp))
		key.caller = 0;
	key.handle = launch->kernel.handle;
	/*
	 * The same for all threads that run the same code: each thread's stack and thread data are
	 * adjacent.
	 */
	key.depth = BPF_CORE_READ(task, thread.fsbase) - ctx->sp;
	key.slot = thread->slot;
	key.generation = launch->kernel.generation;
	site = launch_site_at(&key);
	if (!site)
		return;
	before = __sync_fetch_and_add(&site->launches, 1);
	if (before < site->next)
		return;
	/* From 1 to twice the rate minus 1, on average the rate. */
	site->next = before + 1 + bpf_get_prandom_u32() % (2 * config.stack_sample - 1);
	take_launch_stack(ctx, thread, launch, site, before + 1);
}

#endif
