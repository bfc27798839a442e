// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Calls in progress. They exist only on their threads' records, where a task iterator reads them
 * for userspace, so they cost nothing extra. If a thread ends inside a call, the time in it is
 * counted at that point.
 */
#ifndef BPF_CALL_OPEN_CALLS_BPF_H
#define BPF_CALL_OPEN_CALLS_BPF_H

#include "profile/profile.bpf.h"
#include "process/confined.bpf.h"

/* The thread's stack pointer at its latest entry into the kernel. */
static __always_inline u64 user_stack_pointer(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return regs->sp;
}

/*
 * Whether the return of the call may have been missed, so that it may no longer be in progress.
 * Global: the verifier goes through it once, not for each call of a thread.
 */
__noinline int may_have_returned(const struct call *call)
{
	enum rate_family family;

	if (!call)
		return true;
	family = rate_family_of(call->operation);
	return call->start_ns < handed_over_ns || was_blind_since(call->start_ns, family, family);
}

static __always_inline void describe_thread(struct open_call_record *record,
					    struct task_struct *task, const struct thread *thread)
{
	record->slot = thread->slot;
	record->tid = pid_of(task);
	record->thread_start_ns = BPF_CORE_READ(task, start_boottime);
	record->pad = 0;
	BPF_CORE_READ_INTO(&record->comm, task, comm);
}

static __always_inline void describe_call(struct open_call_record *record, const struct call *call,
					  u32 depth)
{
	record->start_ns = *(const volatile u64 *)&call->start_ns;
	record->row = call->row;
	record->device = call->device;
	record->outermost = !depth;
}

/*
 * Userspace also knows the call from its latest reading, so a full ring loses only what came after
 * that.
 */
static __always_inline void report_unfinished(struct task_struct *task, const struct thread *thread,
					      const struct call *call)
{
	struct record_unfinished *record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);

	if (!record) {
		lose(LOSS_RING_FULL);
		return;
	}
	record->header.type = RECORD_UNFINISHED;
	record->header.slot = thread->slot;
	record->ended_ns = call->end_ns;
	describe_thread(&record->call, task, thread);
	describe_call(&record->call, call, 0);
	bpf_ringbuf_submit(record, 0);
}

static __always_inline void profile_unfinished(struct thread *thread, const struct call *call,
					       u32 depth, u64 ns)
{
	struct thread_profile *profile = profile_of(thread);
	u32 number = find_duration(thread->slot, call->row) - 1;
	struct duration_record *record = bpf_map_lookup_elem(&durations, &number);

	if (record)
		__sync_fetch_and_add(&record->unfinished_ns, ns);
	if (profile && !depth)
		profile->time[time_class_of(call->operation)].ns += ns;
}

/* The calling thread ends inside its call at index `depth`. */
__noinline int count_unfinished(struct thread *thread, u32 depth)
{
	const volatile struct function_desc *function;
	struct tally *tally;
	struct call *call;
	u64 ns;

	if (!thread)
		return 0;
	call = &thread->calls[depth & (CALL_DEPTH - 1)];
	function = function_at(call->row);
	if (!function || may_have_returned(call))
		return 0;
	call->end_ns = now();
	ns = call->end_ns - call->start_ns;
	tally = tally_of(thread->slot, call->row, function->kind, 0, call->device);
	if (tally)
		__sync_fetch_and_add(&tally->other_ns, ns);
	if (config.profile)
		profile_unfinished(thread, call, depth, ns);
	if (!depth)
		report_unfinished(bpf_get_current_task_btf(), thread, call);
	return 0;
}

/* The calling thread ends: calls that it has not jumped out of count as in progress. */
static __always_inline void count_unfinished_calls(struct thread *thread)
{
	u64 sp = user_stack_pointer(bpf_get_current_task_btf());

	for (u32 i = 0; i < CALL_DEPTH; i++) {
		if (i >= thread->depth || thread->calls[i].sp < sp)
			break;
		count_unfinished(thread, i);
	}
}

/*
 * Writes one of the thread's calls for userspace, unless it has returned meanwhile. `record`
 * already describes the thread.
 */
static __always_inline void report_open(struct bpf_iter__task *ctx, struct thread *thread,
					struct open_call_record *record, u32 depth)
{
	struct call *call = &thread->calls[depth & (CALL_DEPTH - 1)];

	describe_call(record, call, depth);
	barrier();
	if (*(volatile u32 *)&thread->depth <= depth ||
	    *(volatile u64 *)&call->start_ns != record->start_ns)
		return;
	bpf_seq_write(ctx->meta->seq, record, sizeof(*record));
}

/* All calls in progress, each a struct open_call_record. */
SEC("iter/task")
int open_calls(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct open_call_record record;
	struct thread *thread;
	u64 sp;

	if (!task)
		return 0;
	thread = bpf_task_storage_get(&threads, task, 0, 0);
	if (!thread || thread->state != THREAD_WATCHED || !thread->depth)
		return 0;
	if (!own_process(thread))
		return 0;
	describe_thread(&record, task, thread);
	sp = user_stack_pointer(task);
	for (u32 i = 0; i < CALL_DEPTH; i++) {
		if (i >= thread->depth || thread->calls[i].sp < sp)
			break;
		if (!may_have_returned(&thread->calls[i]))
			report_open(ctx, thread, &record, i);
	}
	return 0;
}

#endif
