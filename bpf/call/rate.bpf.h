// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls per thread by family, see gpuprobe/rate.h. Without config.rates the programs contain none
 * of this.
 */
#ifndef BPF_CALL_RATE_BPF_H
#define BPF_CALL_RATE_BPF_H

#include "call/thread.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct thread_rate);
} thread_rates SEC(".maps");

/* Free entries of thread_rates; userspace returns them after their threads have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, u32);
} free_rates SEC(".maps");

/*
 * Takes an entry for the thread. The start time is written last: userspace ignores the entry
 * without it.
 */
static __noinline int open_rate(struct thread *thread)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_rate *rate;
	u32 number;

	if (!thread)
		return 0;
	thread->rate = NO_COUNTER_SLOT;
	if (bpf_map_pop_elem(&free_rates, &number))
		return 0;
	rate = bpf_map_lookup_elem(&thread_rates, &number);
	if (!rate)
		return 0;
	rate->slot = thread->slot;
	rate->tid = pid_of(task);
	rate->start_ns = BPF_CORE_READ(task, start_boottime);
	thread->rate = number + 1;
	return 0;
}

/* The thread's entry; NULL if none was free. */
static __always_inline struct thread_rate *rate_of(const struct thread *thread)
{
	u32 number = thread->rate - 1;

	return bpf_map_lookup_elem(&thread_rates, &number);
}

static __always_inline void count_rate(struct thread *thread, u8 operation)
{
	struct thread_rate *rate;

	if (!thread->rate)
		open_rate(thread);
	rate = rate_of(thread);
	if (rate)
		rate->calls[rate_family_of(operation)]++;
}

/* The calling thread makes no more calls: it exits or executes another program. */
static __always_inline void close_rate(void)
{
	struct thread *thread = returning_thread();
	struct thread_rate *rate;

	if (!thread || !thread->rate)
		return;
	rate = rate_of(thread);
	if (rate)
		rate->ended_ns = now();
	thread->rate = NO_COUNTER_SLOT;
}

#endif
