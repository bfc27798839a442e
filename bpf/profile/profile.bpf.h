// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The profile of a run, gpuprobe/profile.h: its maps, who writes them, and how long each function's
 * calls take. Without config.profile the programs contain none of this.
 */
#ifndef BPF_PROFILE_PROFILE_BPF_H
#define BPF_PROFILE_PROFILE_BPF_H

#include "gpuprobe/profile.h"
#include "call/call.bpf.h"
#include "launch/launch_count.bpf.h"

/* Indexed by slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct process_profile);
} process_accounts SEC(".maps");

/* Index of its struct duration_record. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct duration_key);
	__type(value, u32);
} duration_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct duration_record);
} durations SEC(".maps");

/*
 * Free duration records, all zero. Userspace fills the queue, and returns the records of ended
 * processes.
 */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, PROFILE_DURATIONS);
	__type(value, u32);
} free_durations SEC(".maps");

static __always_inline struct process_profile *process_profile_at(u32 slot)
{
	return bpf_map_lookup_elem(&process_accounts, &slot);
}

/* Begins the profile of the thread that has taken this counter slot. */
static __always_inline void open_profile(const struct thread *thread, u32 number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_profile *profile = bpf_map_lookup_elem(&thread_accounts, &number);

	if (!profile)
		return;
	profile->tid = pid_of(task);
	profile->start_ns = BPF_CORE_READ(task, start_boottime);
	profile->first_ns = now();
	profile->ended_ns = 0;
	BPF_CORE_READ_INTO(&profile->comm, task, comm);
	profile->slot = thread->slot;
}

/* The calling thread's profile; NULL if it has no counter slot. */
static __always_inline struct thread_profile *profile_of(const struct thread *thread)
{
	u32 number = thread->counter_slot - 1;

	return bpf_map_lookup_elem(&thread_accounts, &number);
}

/*
 * When the thread's previous launch returned; 0: there was none, or later launches may have been
 * missed.
 */
static __always_inline u64 launched_before(const struct thread_profile *profile)
{
	u64 launched_ns = profile->launched_ns;

	return was_blind_since(launched_ns, RATE_LAUNCH, RATE_LAUNCH) ? 0 : launched_ns;
}

static __always_inline void add_time(struct time_totals *totals, u64 ns)
{
	totals->calls++;
	totals->ns += ns;
}

/* Global, as others here: the verifier goes through it once. */
__noinline int raise_max(u64 *max, u64 value)
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

static __always_inline void raise_epoch(u64 *epoch, u64 value)
{
	if (*epoch < value)
		raise_max(epoch, value);
}

/* Global, as size_bucket: the verifier does not follow the code after it once per path. */
__noinline u32 bucket_of_time(u64 ns)
{
	return time_bucket(ns);
}

/*
 * Index plus 1 of the function's record in the process, shared by its threads; 0: there is no room.
 */
__noinline u32 find_duration(u32 slot, u32 row)
{
	struct duration_key key = {.slot = slot, .row = row};
	u32 number, *found;
	int error;

	found = bpf_map_lookup_elem(&duration_numbers, &key);
	if (found)
		return *found + 1;
	if (bpf_map_pop_elem(&free_durations, &number)) {
		lose(LOSS_DURATION_MAP_FULL);
		return 0;
	}
	error = bpf_map_update_elem(&duration_numbers, &key, &number, BPF_NOEXIST);
	if (!error)
		return number + 1;
	bpf_map_push_elem(&free_durations, &number, 0);
	/* Another thread was faster, or there is no room. */
	found = bpf_map_lookup_elem(&duration_numbers, &key);
	if (found)
		return *found + 1;
	lose_update(error, LOSS_DURATION_MAP_FULL);
	return 0;
}

/* Adds a call to its function's histogram, which the threads of a process share. */
static __always_inline void note_duration(struct thread *thread, u32 row, u64 ns)
{
	u32 *known = &thread->durations[row & (DURATIONS_KNOWN - 1)], number = *known;
	struct duration_record *record;
	u32 bucket = bucket_of_time(ns);

	if (number >> 16 != row || !(u16)number) {
		number = find_duration(thread->slot, row);
		if (!number)
			return;
		*known = row << 16 | number;
	}
	number = (u16)number - 1;
	record = bpf_map_lookup_elem(&durations, &number);
	if (!record)
		return;
	if (bucket < TIME_BUCKETS)
		__sync_fetch_and_add(&record->buckets[bucket], 1);
	__sync_fetch_and_add(&record->ns, ns);
	if (ns > record->max_ns)
		raise_max(&record->max_ns, ns);
}

#endif
