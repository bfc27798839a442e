// SPDX-License-Identifier: BSD-2-Clause
// Entries of the BPF map `ranges`, see ranges.h.
#include "collect/ranges.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

static struct range_key key_of(const struct allocation_key *key, uint64_t size)
{
	struct range_key range = {.slot = key->slot};

	range.level = (uint8_t)(63 - __builtin_clzll(size));
	range.block = key->address >> range.level;
	return range;
}

static bool is_in_addresses(const struct allocation_key *key,
			    const struct allocation_record *allocation)
{
	return allocation->size && (key->space == SPACE_ADDRESS || key->space == SPACE_REGISTERED ||
				    key->space == SPACE_MAPPED);
}

/* Whether the range in the map belongs to a live allocation. */
static bool is_live(const struct bpf_map *allocations, const struct range_key *key,
		    const struct range_record *range)
{
	struct allocation_key owner = {
		.address = range->address, .slot = key->slot, .space = range->space};
	struct allocation_record record;

	return !bpf_map__lookup_elem(allocations, &owner, sizeof(owner), &record, sizeof(record),
				     0) &&
	       record.size == range->size;
}

int ranges__fill(const struct bpf_map *ranges, const struct bpf_map *allocations,
		 struct process_record *record, const struct allocation_key *key,
		 const struct allocation_record *allocation)
{
	struct range_record found;
	struct range_record range = {
		.address = key->address,
		.size = allocation->size,
		.space = key->space,
		.kind = allocation->kind,
		.device = allocation->device,
	};
	struct range_key at;
	int ret;

	if (!is_in_addresses(key, allocation))
		return 0;
	at = key_of(key, allocation->size);
	ret = bpf_map__update_elem(ranges, &at, sizeof(at), &range, sizeof(range), BPF_NOEXIST);
	/*
	 * The range of a live allocation is newer than what was read. That of a dead one is in the
	 * way.
	 */
	if (ret == -EEXIST &&
	    !bpf_map__lookup_elem(ranges, &at, sizeof(at), &found, sizeof(found), 0) &&
	    !is_live(allocations, &at, &found))
		ret = bpf_map__update_elem(ranges, &at, sizeof(at), &range, sizeof(range), BPF_ANY);
	if (ret && ret != -EEXIST)
		return ret;
	__atomic_fetch_or(&record->device_levels, 1ull << at.level, __ATOMIC_RELAXED);
	return 0;
}

void ranges__remove(const struct bpf_map *ranges, const struct allocation_key *key,
		    const struct allocation_record *allocation)
{
	struct range_record found;
	struct range_key at;

	if (!is_in_addresses(key, allocation))
		return;
	at = key_of(key, allocation->size);
	/* By now the block may have another range, which begins elsewhere in it. */
	if (!bpf_map__lookup_elem(ranges, &at, sizeof(at), &found, sizeof(found), 0) &&
	    found.address == key->address)
		bpf_map__delete_elem(ranges, &at, sizeof(at), 0);
}
