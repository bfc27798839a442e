// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The end of a thread's profile that does not wait for userspace to read it: its values are added
 * to the process's at once.
 */
#ifndef BPF_PROFILE_END_BPF_H
#define BPF_PROFILE_END_BPF_H

#include "profile/profile.bpf.h"
#include "profile/error.bpf.h"

/* An all-zero profile, to clear others with. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct thread_profile);
} empty_account SEC(".maps");

static __always_inline void clear_profile(u32 number)
{
	u32 zero = 0;
	struct thread_profile *empty = bpf_map_lookup_elem(&empty_account, &zero);

	if (empty)
		bpf_map_update_elem(&thread_accounts, &number, empty, BPF_EXIST);
}

static __noinline int fold_profile(struct thread *thread)
{
	struct thread_profile *profile = thread ? profile_of(thread) : NULL;
	struct process_profile *process = profile ? process_profile_at(thread->slot) : NULL;
	struct time_totals time[TIME_CLASSES];
	u64 began_ns;

	if (!process)
		return 0;
	began_ns = profile->start_ns > attached_ns ? profile->start_ns : attached_ns;
	/* The values are never in both at once: a reader would count them twice. */
	__builtin_memcpy(time, profile->time, sizeof(time));
	clear_profile(thread->counter_slot - 1);
	for (u32 i = 0; i < TIME_CLASSES; i++) {
		__sync_fetch_and_add(&process->unlisted_time[i].calls, time[i].calls);
		__sync_fetch_and_add(&process->unlisted_time[i].ns, time[i].ns);
	}
	__sync_fetch_and_add(&process->unlisted_wall_ns, now() - began_ns);
	__sync_fetch_and_add(&process->unlisted_threads, 1);
	return 0;
}

#endif
