// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A thread's counter slot: the number of its own counters and its profile. It is taken at the first
 * watched call and given up at the thread's end, when its counters are added to the maps. With a
 * profile, the slot stays taken until userspace has read it, unless many are waiting: so a program
 * with many short-lived threads does not use up all slots between two readings.
 */
#ifndef BPF_CALL_COUNTER_SLOT_BPF_H
#define BPF_CALL_COUNTER_SLOT_BPF_H

#include "profile/end.bpf.h"
#include "launch/launch_count.bpf.h"

/* Free slots. Userspace fills the queue, and returns the slots of ended processes. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, THREAD_COUNTER_SLOTS);
	__type(value, u32);
} free_places SEC(".maps");

/* Threads that have ended and whose profile userspace has not read yet. */
volatile __u32 ended_accounts;

__noinline int open_counter_slot(struct thread *thread)
{
	struct thread_counts *own;
	u32 number;

	if (!thread)
		return 0;
	thread->counter_slot = NO_COUNTER_SLOT;
	if (bpf_map_pop_elem(&free_places, &number))
		return 0;
	own = thread_counts_at(number + 1);
	if (!own)
		return 0;
	own->slot = thread->slot;
	if (config.profile)
		open_profile(thread, number);
	/* From here on userspace reads it. */
	*(volatile u32 *)&own->used = 1;
	thread->counter_slot = number + 1;
	return 0;
}

/* Adds the thread's counters to the maps and frees its slot. */
__noinline int fold_counter_slot(struct thread *thread)
{
	struct thread_counts *own;
	u32 number;

	if (!thread)
		return 0;
	own = thread_counts_at(thread->counter_slot);
	if (!own)
		return 0;
	for (u32 i = 0; i < THREAD_TALLIES; i++)
		spill_tally(thread->counter_slot, i);
	for (u32 i = 0; i < THREAD_LAUNCHES; i++)
		spill_launches(thread->slot, thread->counter_slot, i);
	if (config.profile)
		fold_profile(thread);
	number = thread->counter_slot - 1;
	*(volatile u32 *)&own->used = 0;
	bpf_map_push_elem(&free_places, &number, 0);
	return 0;
}

/* The profile now belongs to userspace, which reads it later. */
static __always_inline void leave_profile(const struct thread *thread)
{
	struct thread_profile *profile = profile_of(thread);

	if (!profile)
		return;
	__sync_fetch_and_add(&ended_accounts, 1);
	profile->ended_ns = now();
}

/*
 * The calling thread makes no more calls: it exits or executes another program. Its process may
 * already have ended: then all slots of the process belong to userspace once the last thread has
 * left.
 */
static __always_inline void close_counter_slot(void)
{
	struct thread *thread = returning_thread();
	struct process_record *process = own_process(thread);
	struct thread_profile *profile;

	if (!process || !thread->counter_slot || thread->counter_slot == NO_COUNTER_SLOT)
		return;
	profile = config.profile ? profile_of(thread) : NULL;
	if (profile) {
		fold_error(profile);
		profile->error_code = 0;
	}
	if (*(volatile u32 *)&process->state == PROCESS_LIVE &&
	    (!config.profile || ended_accounts >= PROFILE_ENDED))
		fold_counter_slot(thread);
	else if (config.profile)
		leave_profile(thread);
	thread->counter_slot = NO_COUNTER_SLOT;
}

#endif
