// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Launches by kernel. A thread keeps the counters of its kernels itself, like other counters
 * (call/tally.bpf.h).
 */
#ifndef BPF_LAUNCH_LAUNCH_COUNT_BPF_H
#define BPF_LAUNCH_LAUNCH_COUNT_BPF_H

#include "call/tally.bpf.h"

/*
 * One value for all CPUs, as in the other counter maps. In a per-CPU map the kernel keeps few
 * entries ready, so bursts of insertions fail (482 of 20,000 made in 1 s).
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct launch_key);
	__type(value, u64);
} launches SEC(".maps");

/* A counter for a kernel that is new to the map; NULL if there is no room. */
static __always_inline u64 *add_kernel(const struct launch_key *key, bool *is_new)
{
	struct process_record *process = process_at(key->kernel.slot);
	u64 *count = NULL, zero = 0;
	int error = 0;

	if (!process)
		return NULL;
	if (may_add_kernel(process)) {
		error = bpf_map_update_elem(&launches, key, &zero, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&launches, key);
	}
	*is_new = count && !error;
	if (*is_new)
		added_kernel(process);
	if (!count)
		lose_update(error, LOSS_KERNEL_MAP_FULL);
	return count;
}

/* Moves a counter of the calling thread to the map. Global: the verifier goes through it once. */
__noinline int spill_launches(u32 slot, u32 counter_slot, u32 index)
{
	struct thread_counts *own = thread_counts_at(counter_slot);
	struct launch_key key;
	struct thread_launch *mine;
	u64 *count, before;
	bool is_new;

	if (!own)
		return 0;
	mine = &own->launches[index & (THREAD_LAUNCHES - 1)];
	before = mine->launches;
	if (!before)
		return 0;
	key = launch_key_of(slot, mine->handle, mine->where);
	/* A value is never in both at once, as in empty_tally. */
	mine->launches = 0;
	barrier();
	count = bpf_map_lookup_elem(&launches, &key);
	if (!count)
		count = add_kernel(&key, &is_new);
	if (count)
		__sync_fetch_and_add(count, before);
	else
		count_other_launches(slot, key.device, key.captured, before);
	return 0;
}

#endif
