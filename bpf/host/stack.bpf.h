// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stacks of followed threads, taken as in stack/stack.bpf.h. Each sample of a thread on a CPU has
 * one. There may be 20,000 sleeps a second, so at most half a per cent of the thread's time is
 * spent on their stacks, judged by the cost so far. One sleep in `one_in` is chosen at random, so
 * that the order in which a program sleeps does not matter.
 */
#ifndef BPF_HOST_STACK_BPF_H
#define BPF_HOST_STACK_BPF_H

#include "host/state.bpf.h"
#include "stack/stack.bpf.h"

#define STACK_WINDOW_NS 100000000ull
#define STACK_WINDOW_COST_NS (STACK_WINDOW_NS / 200)
#define STACK_FIRST_NS 30000 /* assumed cost of one until it is known */

/* The two lookups are kept apart because only one of the maps exists. */
static __always_inline struct stack_scratch *scratch_of(struct task_struct *task, u64 flags)
{
	struct stack_scratch *scratch;

	if (copies_stacks()) {
		scratch = bpf_task_storage_get(&stack_copy_scratches, task, 0, flags);
		barrier_var(scratch);
		return scratch;
	}
	return bpf_task_storage_get(&stack_scratches, task, 0, flags);
}

/* Calls whose return addresses the kernel has replaced. */
static __always_inline void keep_return_instances(struct task_struct *task,
						  struct stack_record *record)
{
	struct return_instance *instance = BPF_CORE_READ(task, utask, return_instances);

	record->callers = 0;
	for (u32 i = 0; i < STACK_CALLERS && instance; i++) {
		record->caller[i].stack_address = BPF_CORE_READ(instance, stack);
		record->caller[i].address = BPF_CORE_READ(instance, orig_ret_vaddr);
		record->callers = i + 1;
		instance = BPF_CORE_READ(instance, next);
	}
}

/* The id of the calling thread's user stack; 0: it could not be taken. */
static __always_inline u64 own_stack(void *ctx, struct task_struct *task,
				     const struct pt_regs *regs, const struct host_profile *profile)
{
	const struct stack_origin origin = {
		.start_ns = profile->process_start_ns, .pid = profile->pid, .interrupted = true};
	struct stack_scratch *scratch;
	u64 id;

	if (!config.stack_mode)
		return 0;
	scratch = scratch_of(task, 0);
	if (!scratch)
		return 0;
	id = reported_stack(&scratch->record, read_stack(scratch, ctx, regs, &origin));
	if (id)
		return id;
	keep_return_instances(task, &scratch->record);
	report_stack(&scratch->record);
	return scratch->record.id;
}

static __always_inline u32 stacks_allowed(const struct host_profile *profile)
{
	u64 cost = profile->stack_ns ? profile->stack_ns : STACK_FIRST_NS;

	return STACK_WINDOW_COST_NS / cost + 1;
}

static __always_inline void begin_window(struct host_profile *profile, u64 at_ns)
{
	u64 sleeps = profile->window_sleeps * STACK_WINDOW_NS / (at_ns - profile->window_ns);
	u32 allowed = stacks_allowed(profile);

	profile->one_in = sleeps > allowed ? sleeps / allowed + 1 : 1;
	profile->window_ns = at_ns;
	profile->window_sleeps = profile->window_stacks = 0;
}

/*
 * Whether to take the stack of the sleep that begins now. After a quiet period, many sleeps may
 * come at once.
 */
static __always_inline bool wants_stack(struct host_profile *profile, u64 at_ns)
{
	if (at_ns - profile->window_ns >= STACK_WINDOW_NS)
		begin_window(profile, at_ns);
	profile->window_sleeps++;
	profile->weight = profile->one_in;
	if (profile->one_in > 1 && bpf_get_prandom_u32() % profile->one_in)
		return false;
	profile->window_stacks++;
	if (profile->window_stacks > stacks_allowed(profile)) {
		profile->window_stacks = 0;
		profile->one_in *= 2;
	}
	return true;
}

static __always_inline void note_cost(struct host_profile *profile, u64 ns)
{
	profile->stack_ns = profile->stack_ns ? (profile->stack_ns * 7 + ns) / 8 : ns;
}

#endif
