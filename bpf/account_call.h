// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What each call adds to the account of a run: where the thread's time goes,
 * how launches follow one another, and what waits follow them. The topics have
 * files of their own.
 */
#ifndef BPF_ACCOUNT_CALL_H
#define BPF_ACCOUNT_CALL_H

#include "account.h"
#include "account_copy.h"
#include "account_error.h"
#include "account_size.h"
#include "launch.h"
#include "memory.h"

/* Launches that are executed; `handle` is the kernel's or the executable graph's. */
static __always_inline void account_launch(struct thread_account *account, const struct call *call, u64 handle)
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
	account->sequence[account->sequence_count & (SEQUENCE_KEPT - 1)] = handle;
	account->sequence_count++;
	account->launches++;
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

/* A call has returned; its family has dealt with it. */
static __noinline int account_leave(struct thread *thread, struct call *call, s32 result)
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
	if (call->operation == OP_LAUNCH && !call->arg[LAUNCH_CAPTURE])
		account_launch(account, call, call->arg[LAUNCH_HANDLE]);
	else if (call->operation == OP_GRAPH_LAUNCH && !call->arg[RUN_CAPTURE])
		account_launch(account, call, call->arg[RUN_EXEC]);
	else if (!thread->depth && call->operation != OP_ASK) /* getters are probed now and then only */
		account->others++;
	if (call->operation == OP_WAIT && !result)
		account_wait(account, ns, call->end_ns);
	return 0;
}

/* What the call, nested or not, says of memory, once account_work.h knows what has emptied a queue. */
__noinline int account_memory(u32 slot, const struct call *call, s32 result)
{
	struct process_account *account = process_account_at(slot);

	if (!config.account)
		return 0;
	if (!account || !call)
		return 0;
	if (!result)
		account_size(slot, call);
	if (call->operation == OP_ALLOC && call->kind == MEMORY_MANAGED)
		account->managed = 1;
	if (call->operation == OP_COPY || call->operation == OP_SET)
		account_copy(slot, call, result);
	else if (queues_use(call))
		note_use(account, true);
	else if (uses_memory(call))
		note_use(account, false);
	return 0;
}

#endif
