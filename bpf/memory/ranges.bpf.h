// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Finds the allocation that contains an address; struct range_key in gpuprobe/state/memory.h
 * explains the scheme. Recording an allocation takes one map update, finding an address three
 * lookups for each level that its process has used.
 */
#ifndef BPF_MEMORY_RANGES_BPF_H
#define BPF_MEMORY_RANGES_BPF_H

#include "call/thread.bpf.h"

#define LEVELS 48      /* significant bits of an address */
#define RANGE_BLOCKS 3 /* blocks in which the allocation that contains an address may begin */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1048576);
	__type(key, struct range_key);
	__type(value, struct range_record);
} ranges SEC(".maps");

/*
 * The position of the highest bit; `size` is not 0. Branch-free, since each branch costs the
 * verifier time.
 */
static __always_inline u32 level_of(u64 size)
{
	for (u32 step = 1; step < 64; step <<= 1)
		size |= size >> step;
	return __builtin_popcountll(size) - 1;
}

/* The position of the lowest bit; `levels` is not 0. */
static __always_inline u32 lowest_level(u64 levels)
{
	return __builtin_popcountll((levels & -levels) - 1);
}

static __always_inline bool is_host_kind(u8 kind)
{
	return kind == MEMORY_HOST || kind == MEMORY_REGISTERED;
}

static __always_inline struct range_key range_key_of(u32 slot, u64 address, u64 size)
{
	struct range_key key = {.slot = slot};

	key.level = level_of(size);
	key.block = address >> (key.level & 63);
	return key;
}

static __always_inline void range_add(u32 slot, const struct range_record *range)
{
	struct range_key key;
	struct process_record *process = process_at(slot);
	u64 *levels;
	int error;

	if (!process || !range->size)
		return;
	key = range_key_of(slot, range->address, range->size);
	error = bpf_map_update_elem(&ranges, &key, range, BPF_ANY);
	/*
	 * Memory that threads remember as pageable may be pinned now, whether or not there was room
	 * for the entry.
	 */
	if (is_host_kind(range->kind))
		__sync_fetch_and_add(&process->host_ranges, 1);
	if (error) {
		lose_update(error, LOSS_ALLOCATION_MAP_FULL);
		return;
	}
	levels = is_host_kind(range->kind) ? &process->host_levels : &process->device_levels;
	if (!(*levels >> (key.level & 63) & 1))
		__sync_fetch_and_or(levels, 1ull << (key.level & 63));
}

/* The entry may already belong to a newer allocation, which begins elsewhere in the block. */
static __always_inline void range_remove(u32 slot, u64 address, u64 size)
{
	const struct range_record *range;
	struct range_key key;

	if (!size)
		return;
	key = range_key_of(slot, address, size);
	range = bpf_map_lookup_elem(&ranges, &key);
	if (range && range->address == address)
		bpf_map_delete_elem(&ranges, &key);
}

/* Memory kinds that end with their context. */
static __always_inline bool memory_lives_in_context(u8 kind)
{
	switch (kind) {
	case MEMORY_DEVICE:
	case MEMORY_MANAGED:
	case MEMORY_HOST:
	case MEMORY_REGISTERED:
	case MEMORY_ARRAY:
	case MEMORY_IMPORTED: return true;
	default: return false;
	}
}

/* Whether the memory's context has ended or, with `dying`, is being ended now. */
static __always_inline bool context_took(u32 slot, const struct allocation_record *record,
					 bool dying)
{
	struct process_record *process = process_at(slot);
	struct context_key key = {.slot = slot};
	struct context_record *context;

	if (!process || !process->deaths || !memory_lives_in_context(record->kind) ||
	    !record->context)
		return false;
	key.context = record->context;
	context = bpf_map_lookup_elem(&contexts, &key);
	return context && (dying || !context->dying) && context->died_ns > record->start_ns;
}

/* The record remains until userspace deletes it, or the address is reused. */
static __always_inline bool died_with_context(u32 slot, const struct allocation_record *record)
{
	return context_took(slot, record, false);
}

/* Whether the entry is still valid: its allocation may be gone. */
static __always_inline bool is_live_range(u32 slot, const struct range_record *range)
{
	struct allocation_key key = {
		.address = range->address, .slot = slot, .space = range->space};
	const struct allocation_record *record = bpf_map_lookup_elem(&allocations, &key);

	return record && record->size == range->size && !died_with_context(slot, record);
}

/* A search for the range that contains an address. */
struct range_search {
	u64 address;
	u64 levels; /* levels not searched yet */
	u32 slot;
	u8 found;
	u8 kind, device; /* of the memory, if found */
	u8 pad;
	u64 begins; /* start of the memory, if found */
};

/*
 * Looks at one block of a level. Returns whether a range there has the address; it may be gone.
 * Global: the verifier goes through it once.
 */
__noinline int search_block(struct range_search *search, u64 block, u32 level)
{
	struct range_key key = {.block = block, .level = level};
	const struct range_record *range;

	if (!search)
		return false;
	key.slot = search->slot;
	range = bpf_map_lookup_elem(&ranges, &key);
	if (!range || search->address < range->address ||
	    search->address - range->address >= range->size)
		return false;
	if (!is_live_range(search->slot, range))
		return true;
	search->found = true;
	search->kind = range->kind;
	search->device = range->device;
	search->begins = range->address;
	return true;
}

/* A step of bpf_loop: searches the lowest remaining level. */
static long search_level(u64 index __attribute__((unused)), struct range_search *search)
{
	u32 level = lowest_level(search->levels);
	u64 block = search->address >> (level & 63);

	for (u32 back = 0; back < RANGE_BLOCKS && back <= block; back++)
		if (search_block(search, block - back, level))
			break;
	if (search->found)
		return 1;
	search->levels &= search->levels - 1;
	return !search->levels;
}

static __always_inline void find_range(struct range_search *search)
{
	if (search->levels)
		bpf_loop(LEVELS, search_level, search, 0);
}

#endif
