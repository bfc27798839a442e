// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Launches by kernel. With an account a thread keeps those of the kernels that
 * it launches by itself, as it does with other counters (tally.h).
 */
#ifndef BPF_LAUNCH_COUNT_H
#define BPF_LAUNCH_COUNT_H

#include "tally.h"

/* Per CPU, since threads launch the same kernel at once. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct launch_key);
	__type(value, u64);
} launches SEC(".maps");

/* Moves a counter of the calling thread to the map. Global: the verifier goes through it once. */
__noinline int spill_launches(u32 slot, u32 account, u32 place)
{
	struct thread_counts *own = thread_counts_at(account);
	struct launch_key key = {};
	struct thread_launch *mine;
	u64 *count, zero = 0;
	int error = 0;

	if (!config.account)
		return 0;
	if (!own)
		return 0;
	mine = &own->launches[place & (THREAD_LAUNCHES - 1)];
	if (!mine->launches)
		return 0;
	key.kernel.slot = slot;
	key.kernel.handle = mine->handle;
	key.kernel.generation = mine->generation;
	key.device = mine->device;
	key.captured = mine->captured;
	count = bpf_map_lookup_elem(&launches, &key);
	if (!count) {
		error = bpf_map_update_elem(&launches, &key, &zero, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&launches, &key);
	}
	if (count)
		__sync_fetch_and_add(count, mine->launches);
	else
		lose_update(error, LOSS_KERNEL_MAP_FULL);
	mine->launches = 0;
	return 0;
}

#endif
