// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The account of a run, gpuprobe/account.h: its maps, which thread writes
 * where, and how long each function's calls take. Where config.account is not
 * set none of this is in the programs.
 */
#ifndef BPF_ACCOUNT_H
#define BPF_ACCOUNT_H

#include "gpuprobe/account.h"
#include "call.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct thread_account);
} thread_accounts SEC(".maps");

/* Numbers of thread_accounts that no thread has; userspace fills it, and puts them back when their threads have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, ACCOUNT_THREADS);
	__type(value, u32);
} free_accounts SEC(".maps");

/* By slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct process_account);
} process_accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct duration_key);
	__type(value, struct duration_record);
} durations SEC(".maps");

/* A fresh record, to insert from: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct duration_record);
} empty_duration SEC(".maps");

static __always_inline struct process_account *process_account_at(u32 slot)
{
	return bpf_map_lookup_elem(&process_accounts, &slot);
}

/* Takes a place for the thread. struct thread's `account` is its number plus 1. */
static __noinline int open_account(struct thread *thread, u64 start_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_account *account;
	u32 number;

	if (!thread)
		return 0;
	if (bpf_map_pop_elem(&free_accounts, &number)) {
		lose(LOSS_THREAD_ACCOUNTS);
		return 0;
	}
	account = bpf_map_lookup_elem(&thread_accounts, &number);
	if (!account)
		return 0;
	account->tid = pid_of(task);
	account->start_ns = BPF_CORE_READ(task, start_boottime);
	account->first_ns = start_ns;
	account->ended_ns = 0;
	BPF_CORE_READ_INTO(&account->comm, task, comm);
	account->slot = thread->slot;
	thread->account = number + 1;
	return 0;
}

/* The calling thread's own, NULL where there was no place. */
static __always_inline struct thread_account *account_of(const struct thread *thread)
{
	u32 number = thread->account - 1;

	return bpf_map_lookup_elem(&thread_accounts, &number);
}

static __always_inline enum time_class class_of(u8 operation)
{
	switch (operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_HOST_FUNCTION:
	case OP_LAUNCH_LIST:
		return TIME_LAUNCH;
	case OP_ALLOC:
	case OP_FREE:
	case OP_VIRTUAL:
	case OP_POOL:
		return TIME_MEMORY;
	case OP_COPY:
	case OP_SET:
		return TIME_COPY;
	case OP_WAIT:
		return TIME_WAIT;
	default:
		return TIME_OTHER;
	}
}

static __always_inline void add_time(struct time_totals *totals, u64 ns)
{
	totals->calls++;
	totals->ns += ns;
}

static __noinline int raise_max(u64 *max, u64 value)
{
	u64 seen;

	if (!max)
		return 0;
	for (int i = 0; i < 8; i++) {
		seen = *(volatile u64 *)max;
		if (seen >= value || __sync_val_compare_and_swap(max, seen, value) == seen)
			break;
	}
	return 0;
}

/* Adds a call to its function's histogram: threads of one process meet here. */
static __noinline int note_duration(u32 slot, u32 row, u64 ns)
{
	struct duration_key key = {.slot = slot, .row = row};
	struct duration_record *record, *empty;
	u32 zero = 0, bucket = time_bucket(ns);
	int error;

	record = bpf_map_lookup_elem(&durations, &key);
	if (!record) {
		empty = bpf_map_lookup_elem(&empty_duration, &zero);
		if (!empty)
			return 0;
		error = bpf_map_update_elem(&durations, &key, empty, BPF_NOEXIST);
		record = bpf_map_lookup_elem(&durations, &key);
		if (!record) {
			lose_update(error, LOSS_DURATION_MAP_FULL);
			return 0;
		}
	}
	if (bucket < TIME_BUCKETS)
		__sync_fetch_and_add(&record->buckets[bucket], 1);
	__sync_fetch_and_add(&record->calls, 1);
	__sync_fetch_and_add(&record->ns, ns);
	if (ns > record->max_ns)
		raise_max(&record->max_ns, ns);
	return 0;
}

#endif
