// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The end of a thread's account. Its place waits for userspace to read it; where
 * many wait, what the thread leaves is summed up at once and the place given
 * to the next, so that a program with many short-lived threads does not use up
 * all places between two readings.
 */
#ifndef BPF_ACCOUNT_END_H
#define BPF_ACCOUNT_END_H

#include "account.h"
#include "account_error.h"

/* An account that is all zero, to clear others with. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct thread_account);
} empty_account SEC(".maps");

static __always_inline void clear_account(u32 number)
{
	u32 zero = 0;
	struct thread_account *empty = bpf_map_lookup_elem(&empty_account, &zero);

	if (empty)
		bpf_map_update_elem(&thread_accounts, &number, empty, BPF_EXIST);
}

/* What a thread that has ended leaves, where many others have: its place is free at once. */
static __noinline int fold_account(struct thread *thread, struct thread_account *account)
{
	struct process_account *process = process_account_at(thread->slot);
	struct time_totals time[TIME_CLASSES];
	u32 number = thread->account - 1;
	u64 began_ns = account->start_ns > attached_ns ? account->start_ns : attached_ns;

	if (!process)
		return 0;
	for (u32 i = 0; i < THREAD_TALLIES; i++)
		spill_tally(thread->account, i);
	for (u32 i = 0; i < THREAD_LAUNCHES; i++)
		spill_launches(thread->slot, thread->account, i);
	/* Never in both places at a time: who reads would count it twice. */
	__builtin_memcpy(time, account->time, sizeof(time));
	clear_account(number);
	for (u32 i = 0; i < TIME_CLASSES; i++) {
		__sync_fetch_and_add(&process->unlisted_time[i].calls, time[i].calls);
		__sync_fetch_and_add(&process->unlisted_time[i].ns, time[i].ns);
	}
	__sync_fetch_and_add(&process->unlisted_wall_ns, now() - began_ns);
	__sync_fetch_and_add(&process->unlisted_threads, 1);
	bpf_map_push_elem(&free_accounts, &number, 0);
	return 0;
}

/*
 * The calling thread has no more calls: it exits, or becomes another program. Where its process
 * has been seen to end already, and read, the place is no longer its own.
 */
static __always_inline void close_account(u32 tgid)
{
	struct thread *thread = returning_thread();
	struct thread_account *account = thread ? account_of(thread) : NULL;
	struct process_record *process = account ? process_at(thread->slot) : NULL;

	if (!account || !process || process->state == PROCESS_FREE || process->tgid != tgid)
		return;
	fold_error(account);
	account->error_code = 0;
	if (ended_accounts >= ACCOUNT_ENDED && process->state == PROCESS_LIVE) {
		fold_account(thread, account);
	} else {
		__sync_fetch_and_add(&ended_accounts, 1);
		account->ended_ns = now();
	}
	thread->account = NO_ACCOUNT;
}

#endif
