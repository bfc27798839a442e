// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How often allocations of one size come and go. `live` is the number of allocations that returned
 * minus the number of frees that returned, so it may be too high by one for each call in progress.
 */
#ifndef BPF_PROFILE_SIZE_BPF_H
#define BPF_PROFILE_SIZE_BPF_H

#include "profile/profile.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct size_key);
	__type(value, struct size_record);
} sizes SEC(".maps");

/*
 * Memory that the call takes from the machine: not memory that is only mapped or opened, and not
 * zero bytes.
 */
static __always_inline bool is_sized(const struct size_key *key)
{
	if (!key->size)
		return false;
	switch (key->kind) {
	case MEMORY_DEVICE:
	case MEMORY_MANAGED:
	case MEMORY_POOL:
	case MEMORY_HOST:
	case MEMORY_ARRAY:
	case MEMORY_PHYSICAL: return true;
	default: return false;
	}
}

/*
 * An allocation has succeeded. If it has no record, its end will not be seen, so it does not count
 * as live.
 */
__noinline int size_allocated(const struct size_key *at, const struct call *call, u32 on_record)
{
	struct size_record *record, fresh = {};
	struct size_key key;
	u64 live;
	int error;

	if (!config.profile)
		return 0;
	if (!at || !call || !is_sized(at))
		return 0;
	key = *at;
	record = bpf_map_lookup_elem(&sizes, &key);
	if (!record) {
		fresh.first_ns = call->start_ns;
		error = bpf_map_update_elem(&sizes, &key, &fresh, BPF_NOEXIST);
		record = bpf_map_lookup_elem(&sizes, &key);
		if (!record) {
			lose_update(error, LOSS_SIZE_MAP_FULL);
			return 0;
		}
	}
	if (!__sync_fetch_and_add(&record->allocations, 1))
		record->first_took_ns = call->end_ns - call->start_ns;
	__sync_fetch_and_add(&record->allocation_ns, call->end_ns - call->start_ns);
	record->latest_ns = call->start_ns;
	if (!on_record)
		return 0;
	live = __sync_fetch_and_add(&record->live, 1) + 1;
	/* Negative if allocations were lost for lack of room but their frees were not. */
	if ((s64)live > 0 && live > record->peak)
		raise_max(&record->peak, live);
	return 0;
}

/* Memory of that size was freed: by a free that took `ns`, or, if `frees` is 0, in another way. */
__noinline int size_ended(const struct size_key *at, u64 frees, u64 ns)
{
	struct size_record *record;
	struct size_key key;

	if (!config.profile)
		return 0;
	if (!at || !is_sized(at))
		return 0;
	key = *at;
	record = bpf_map_lookup_elem(&sizes, &key);
	if (!record)
		return 0;
	__sync_fetch_and_add(&record->live, -1);
	if (!frees)
		return 0;
	__sync_fetch_and_add(&record->frees, frees);
	__sync_fetch_and_add(&record->free_ns, ns);
	return 0;
}

#endif
