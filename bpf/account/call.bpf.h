// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What each call adds to the account of a run: where the thread's time goes,
 * how launches follow one another, and what waits follow them. The topics have
 * files of their own.
 */
#ifndef BPF_ACCOUNT_CALL_BPF_H
#define BPF_ACCOUNT_CALL_BPF_H

#include "account/account.bpf.h"
#include "account/copy.bpf.h"
#include "account/error.bpf.h"
#include "account/file.bpf.h"
#include "account/size.bpf.h"
#include "launch/launch.bpf.h"
#include "memory/memory.bpf.h"

/* --- the start --- */

static __always_inline void note_start_sums(struct start_sums *sums, const struct thread_account *account)
{
	for (u32 i = 0; i < TIME_CLASSES; i++)
		sums->inside[i] = account->time[i].ns;
	__builtin_memcpy(sums->setup, account->setup, sizeof(sums->setup));
	__builtin_memcpy(sums->setup_inside, account->setup_inside, sizeof(sums->setup_inside));
	sums->loads = account->loads;
	sums->uploads = account->uploads;
}

/* A thread's first launch has returned. The first of the process's threads notes what it has done until then. */
static __noinline int note_first_launch(struct thread *thread, struct thread_account *account, u64 end_ns)
{
	struct process_account *process = thread ? process_account_at(thread->slot) : NULL;

	if (!process || !account || process->launched_tid ||
	    __sync_val_compare_and_swap(&process->launched_tid, 0, account->tid))
		return 0;
	note_start_sums(&process->launched, account);
	*(volatile u64 *)&process->launched_ns = end_ns;
	return 0;
}

static __always_inline bool is_in_setup(const struct thread *thread)
{
	for (u32 i = 0; i < CALL_DEPTH && i < thread->depth; i++)
		if (setup_class_of(thread->calls[i].operation, thread->calls[i].kind) < SETUP_CLASSES)
			return true;
	return false;
}

/* A call that sets CUDA up. */
static __noinline int account_setup(struct thread *thread, const struct call *call, struct thread_account *account)
{
	u32 class, outer;

	if (!thread || !call || !account || is_in_setup(thread))
		return 0;
	class = setup_class_of(call->operation, call->kind);
	outer = time_class_of(thread->depth ? thread->calls[0].operation : call->operation);
	barrier_var(class);
	barrier_var(outer);
	if (class >= SETUP_CLASSES || outer >= TIME_CLASSES)
		return 0;
	account->setup[class] += call->end_ns - call->start_ns;
	account->setup_inside[outer] += call->end_ns - call->start_ns;
	if (call->operation == OP_CREATE && class == SETUP_MODULE)
		account->loads++;
	return 0;
}

static __always_inline void account_upload(struct upload_sums *uploads, const struct call *call)
{
	if (call->operation != OP_COPY || call->kind != COPY_H2D || call->arg[COPY_FLAGS] & TALLY_CAPTURED)
		return;
	uploads->calls++;
	uploads->bytes += call->arg[COPY_BYTES];
	uploads->ns += call->end_ns - call->start_ns;
	if (call->arg[COPY_FLAGS] & TALLY_PAGEABLE)
		uploads->pageable_bytes += call->arg[COPY_BYTES];
}

/* --- launches and waits --- */

/* Launches that are executed. */
static __always_inline void account_launch(struct thread *thread, struct thread_account *account, const struct call *call)
{
	u64 gap = 0, ns = call->end_ns - call->start_ns, before_ns = launched_before(account);
	u32 bucket;

	if (before_ns) {
		gap = call->start_ns - before_ns;
		account->gap_count++;
		account->gap_ns += gap;
		bucket = bucket_of_time(gap);
		if (bucket < TIME_BUCKETS)
			account->gaps[bucket]++;
	}
	if (before_ns && gap <= CHAINED_GAP_NS && !account->others && !was_blind_since(before_ns, RATE_COPY, RATE_WAIT)) {
		add_time(&account->chained, ns);
		account->chained_gap_ns += gap;
	}
	if (!account->launches++)
		note_first_launch(thread, account, call->end_ns);
	account->launches_since_wait++;
	account->launched_ns = call->end_ns;
	account->others = 0;
}

static __always_inline void account_wait(struct thread_account *account, u64 ns, u64 end_ns)
{
	u64 since_ns = account->waited_ns ? account->waited_ns : account->first_ns;

	if (was_blind_since(since_ns, RATE_LAUNCH, RATE_LAUNCH))
		add_time(&account->blind_waits, ns);
	else if (!account->launches_since_wait)
		add_time(&account->bare_waits, ns);
	else if (account->launches_since_wait == 1)
		add_time(&account->single_waits, ns);
	else
		add_time(&account->batch_waits, ns);
	account->launches_since_wait = 0;
	account->waited_ns = end_ns;
}

/* Allocations and frees by size. What went into a graph, or ended nothing that was known, is none. */
static __always_inline void account_size(u32 slot, const struct call *call)
{
	struct size_key key = {.slot = slot, .kind = call->kind, .device = call->device};

	if (call->operation == OP_ALLOC && call->flag != ALLOC_CAPTURED) {
		key.size = call->arg[ALLOC_SIZE];
		key.row = call->row;
		size_allocated(&key, call, call->flag == ALLOC_ON_RECORD);
	} else if (call->operation == OP_FREE && call->flag == FREE_TAKEN) {
		key.size = call->arg[FREED_SIZE];
		key.row = call->extra;
		size_ended(&key, 1, call->end_ns - call->start_ns);
	}
}

/* Calls other than launches that are executed. */
static __always_inline void account_other(struct thread *thread, struct thread_account *account, const struct call *call,
					  s32 result)
{
	if (!thread->depth && call->operation != OP_ASK) /* getters are probed now and then only */
		account->others++;
	if (setup_class_of(call->operation, call->kind) < SETUP_CLASSES)
		account_setup(thread, call, account);
	if (result)
		return;
	account_upload(&account->uploads, call);
	if (call->operation == OP_WAIT)
		account_wait(account, call->end_ns - call->start_ns, call->end_ns);
}

/* A call has returned; its family has dealt with it. Global: the verifier goes through it once. */
__noinline int account_leave(struct thread *thread, struct call *call, s32 result)
{
	struct thread_account *account;
	u64 ns;

	if (!thread || !call)
		return 0;
	ns = call->end_ns - call->start_ns;
	note_duration(thread, call->row, ns);
	account = account_of(thread);
	if (!account) {
		lose(LOSS_THREAD_ACCOUNTS);
		return 0;
	}
	if (!thread->depth)
		add_time(&account->time[time_class_of(call->operation)], ns);
	account->latest_ns = call->end_ns;
	if (!thread->depth)
		account_error(account, call, result);
	if ((call->operation == OP_LAUNCH && !call->arg[LAUNCH_CAPTURE]) ||
	    (call->operation == OP_GRAPH_LAUNCH && !call->arg[RUN_CAPTURE]))
		account_launch(thread, account, call);
	else
		account_other(thread, account, call, result);
	return 0;
}

/* What the call, nested or not, says of memory, once account/work.bpf.h knows what has emptied a queue. */
__noinline int account_memory(u32 slot, const struct call *call, s32 result)
{
	struct process_account *account = process_account_at(slot);

	if (!config.account)
		return 0;
	if (!account || !call)
		return 0;
	/* The most frequent first. */
	if (queues_use(call)) {
		note_use(account, true);
		return 0;
	}
	if (!result)
		account_size(slot, call);
	if (call->operation == OP_ALLOC && call->kind == MEMORY_MANAGED)
		account->managed = 1;
	if (call->operation == OP_COPY && !result)
		note_mapped_copy(slot, call);
	if (call->operation == OP_COPY || call->operation == OP_SET)
		account_copy(slot, call, result);
	else if (uses_memory(call))
		note_use(account, false);
	return 0;
}

#endif
