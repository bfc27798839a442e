// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Threads that delay one another inside the driver. Suppose a launch or an asynchronous copy takes
 * long while another thread loads a module, allocates, frees or waits for the whole device. If both
 * calls end together, the first one waited for a lock that the other held.
 *
 * Only calls that lasted CONTENTION_NS are examined, when they return: the later of the two finds
 * the earlier in the process's list of long calls. Quick calls pay for one comparison.
 */
#ifndef BPF_PROFILE_CONTENTION_BPF_H
#define BPF_PROFILE_CONTENTION_BPF_H

#include "profile/profile.bpf.h"
#include "wait/inflight.bpf.h"
#include "stack/take_stack.bpf.h"

/*
 * Two calls end together if their ends differ by at most this plus an eighth of the delayed call's
 * duration: the delayed thread must wake up first.
 */
#define TOGETHER_NS 100000

static __always_inline bool may_hold_lock(const struct call *call,
					  const volatile struct function_desc *function)
{
	switch (call->operation) {
	case OP_ALLOC:
	case OP_FREE: return !(function->flags & FUNCTION_ASYNC);
	case OP_VIRTUAL: return true;
	case OP_CREATE:
	case OP_DESTROY: return call->kind == OBJECT_MODULE || call->kind == OBJECT_LIBRARY;
	case OP_WAIT: return function->kind == WAIT_CONTEXT;
	default: return false;
	}
}

/* Calls that return at once unless something delays them. */
static __always_inline bool should_be_quick(const struct call *call,
					    const volatile struct function_desc *function)
{
	switch (call->operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH: return true;
	case OP_COPY:
	case OP_SET: return function->flags & FUNCTION_ASYNC;
	default: return false;
	}
}

static __always_inline u64 difference(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* How long both calls were in progress. */
static __always_inline u64 overlap_of(const struct long_call *a, const struct long_call *b)
{
	u64 from = a->start_ns > b->start_ns ? a->start_ns : b->start_ns;
	u64 to = a->end_ns < b->end_ns ? a->end_ns : b->end_ns;

	return to > from ? to - from : 0;
}

/*
 * Index plus 1 of the pair's record, created if needed; 0: there is no room. Global: the verifier
 * does not follow the result once per record.
 */
__noinline u32 pair_of(struct process_profile *process, const struct long_call *held,
		       const struct long_call *holder)
{
	if (!process || !held || !holder)
		return 0;
	for (u32 i = 0; i < CONTENTIONS; i++) {
		struct contention *pair = &process->contentions[i];

		if (!pair->used) {
			pair->used = 1;
			pair->row = held->row;
			pair->holder_row = holder->row;
			pair->stack = held->stack;
			pair->holder_stack = holder->stack;
		}
		if (pair->row == held->row && pair->holder_row == holder->row &&
		    pair->stack == held->stack && pair->holder_stack == holder->stack)
			return i + 1;
	}
	return 0;
}

/* Retracts what the call was counted as. */
static __always_inline void take_back(struct process_profile *process, const struct long_call *held)
{
	struct contention *pair = &process->contentions[(held->pair - 1) & (CONTENTIONS - 1)];

	if (!held->pair)
		return;
	if (held->together) {
		pair->held.calls--;
		pair->held.ns -= held->counted_ns;
	} else {
		pair->beside.calls--;
		pair->beside.ns -= held->counted_ns;
	}
}

/*
 * Both calls overlap. A delayed call counts in one pair only. A holder that ended together with it
 * takes precedence over others; among several such holders, the one that began first. Global:
 * otherwise the verifier would go through it for each call of the list.
 */
__noinline int count_pair(struct process_profile *process, u32 held_at, u32 holder_at)
{
	struct long_call *held, *holder;
	u64 ns, held_ns;
	bool together;
	u32 number;

	if (!process)
		return 0;
	held = &process->long_calls[held_at & (LONG_CALLS - 1)];
	holder = &process->long_calls[holder_at & (LONG_CALLS - 1)];
	ns = overlap_of(held, holder);
	held_ns = held->end_ns - held->start_ns;
	if (held->counter_slot == holder->counter_slot || 2 * ns < held_ns)
		return 0;
	together = difference(held->end_ns, holder->end_ns) <= TOGETHER_NS + held_ns / 8;
	if (held->pair && (!together || (held->together && held->holder_ns <= holder->start_ns)))
		return 0;
	number = pair_of(process, held, holder);
	if (!number) {
		__sync_fetch_and_add(&process->contentions_left, 1);
		return 0;
	}
	take_back(process, held);
	held->pair = number;
	held->together = together;
	held->counted_ns = ns;
	held->holder_ns = holder->start_ns;
	struct contention *pair = &process->contentions[(number - 1) & (CONTENTIONS - 1)];
	if (together) {
		pair->held.calls++;
		pair->held.ns += ns;
		if (ns > pair->max_ns)
			pair->max_ns = ns;
		pair->tid = held->tid;
		pair->holder_tid = holder->tid;
	} else {
		pair->beside.calls++;
		pair->beside.ns += ns;
	}
	return 0;
}

/*
 * Compares the call listed last, at `at`, with the one at `other`. Global: otherwise the verifier
 * would go through it for each call of the list.
 */
__noinline int compare_with(struct process_profile *process, u32 at, u32 other)
{
	u32 holds;

	if (!process)
		return 0;
	at &= LONG_CALLS - 1;
	other &= LONG_CALLS - 1;
	holds = process->long_calls[at].holds;
	if (!process->long_calls[other].end_ns || process->long_calls[other].holds == holds)
		return 0;
	return holds ? count_pair(process, other, at) : count_pair(process, at, other);
}

/* Threads that were delayed together return together, so this tries more often than lock_word(). */
static __always_inline bool lock_long_calls(struct process_profile *process)
{
	for (int i = 0; i < 8; i++)
		if (lock_word(&process->long_lock))
			return true;
	return false;
}

/*
 * Puts the call in the process's list, in place of the oldest; the caller holds the lock. Returns
 * its index.
 */
static __always_inline u32 list_long_call(struct process_profile *process,
					  const struct thread *thread, const struct call *call,
					  u64 stack, bool holds)
{
	const struct thread_profile *profile = profile_of(thread);
	u32 at = process->long_call_count++ & (LONG_CALLS - 1);
	struct long_call *listed = &process->long_calls[at];

	listed->start_ns = call->start_ns;
	listed->end_ns = call->end_ns;
	listed->stack = stack;
	listed->counter_slot = call->counter_slot;
	listed->tid = profile ? profile->tid : 0;
	listed->row = call->row;
	listed->holds = holds;
	listed->pair = 0;
	listed->together = 0;
	return at;
}

__noinline int compare_long_call(struct thread *thread, struct call *call, u64 stack, u32 holds)
{
	struct process_profile *process = thread ? process_profile_at(thread->slot) : NULL;
	u32 at;

	if (!process || !call)
		return 0;
	if (!lock_long_calls(process)) {
		__sync_fetch_and_add(&process->contentions_left, 1);
		return 0;
	}
	at = list_long_call(process, thread, call, stack, holds);
	for (u32 i = 0; i < LONG_CALLS; i++)
		compare_with(process, at, i);
	unlock_word(&process->long_lock);
	return 0;
}

/* A call that lasted CONTENTION_NS has returned. */
static __noinline int note_long_call(struct pt_regs *ctx, struct thread *thread, struct call *call)
{
	const volatile struct function_desc *function;
	const struct process_record *process;
	bool holds;
	u64 stack;

	if (!thread || !call)
		return 0;
	function = function_at(call->row);
	process = process_at(thread->slot);
	if (!function || !process || process->threads < 2)
		return 0;
	holds = may_hold_lock(call, function);
	if (!holds && (thread->depth || !should_be_quick(call, function)))
		return 0;
	stack = call->stack;
	if (config.stack_mode && !stack)
		stack = take_stack(ctx, thread, call->function, false);
	return compare_long_call(thread, call, stack, holds);
}

#endif
