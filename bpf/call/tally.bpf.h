// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Counters of calls: one for each process, function, kind and device. A thread keeps the ones that
 * it uses most in its own counters (gpuprobe/thread_counts.h). All others, and those of threads
 * without a counter slot, are in the map.
 */
#ifndef BPF_CALL_TALLY_BPF_H
#define BPF_CALL_TALLY_BPF_H

#include "gpuprobe/thread_counts.h"
#include "process/share.bpf.h"

/* Indexed by the thread's counter slot, minus 1. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, THREAD_COUNTER_SLOTS);
	__type(key, u32);
	__type(value, struct thread_counts);
} thread_counts SEC(".maps");

/* Value to insert: calls are undone (call/abandon.bpf.h) with too little stack left for one. */
static const volatile struct tally no_calls;

/*
 * A struct tally_key assembled in a register: reading back parts just written to memory would
 * stall.
 */
static __always_inline u64 tally_bits(u32 slot, u16 row, u8 kind, u16 flags, u8 device)
{
	return (u64)(u16)slot | (u64)row << 16 | (u64)flags << 32 | (u64)kind << 48 |
	       (u64)device << 56;
}

static __always_inline u64 key_bits(const struct tally_key *key)
{
	return *(const u64 *)key;
}

/*
 * Creates the counter of a key, see tally_bits. Returns 0 or a negative errno. Global: the verifier
 * goes through it once.
 */
__noinline int make_tally(u64 bits)
{
	struct process_record *process = process_at((u16)bits);
	int error;

	if (!process || process->tally_keys >= TALLIES_KEPT)
		return -7 /* E2BIG */;
	error = bpf_map_update_elem(&tallies, &bits, (const void *)&no_calls, BPF_NOEXIST);
	if (!error)
		__sync_fetch_and_add(&process->tally_keys, 1);
	return error;
}

/* NULL if there is no room. */
static __always_inline struct tally *tally_at(const struct tally_key *key)
{
	struct tally *tally = bpf_map_lookup_elem(&tallies, key);
	int error;

	if (tally)
		return tally;
	error = make_tally(key_bits(key));
	tally = bpf_map_lookup_elem(&tallies, key);
	if (!tally)
		lose_update(error, LOSS_TALLY_MAP_FULL);
	return tally;
}

static __always_inline struct tally *tally_of(u32 slot, u16 row, u8 kind, u16 flags, u8 device)
{
	struct tally_key key = {
		.slot = slot, .row = row, .flags = flags, .kind = kind, .device = device};

	return tally_at(&key);
}

/*
 * The carry is added last. A concurrent reader then sees too small a value, and a sum that falls is
 * not reported.
 */
static __always_inline void add_bytes(struct tally *tally, u64 bytes)
{
	u64 before = __sync_fetch_and_add(&tally->bytes, bytes);

	if (before + bytes < before)
		__sync_fetch_and_add(&tally->carries, 1);
}

static __always_inline void add_tally(struct tally *tally, u64 calls, u64 bytes, u64 ns)
{
	__sync_fetch_and_add(&tally->calls, calls);
	if (bytes)
		add_bytes(tally, bytes);
	__sync_fetch_and_add(&tally->ns, ns);
}

static __always_inline struct thread_counts *thread_counts_at(u32 counter_slot)
{
	u32 number = counter_slot - 1;

	return bpf_map_lookup_elem(&thread_counts, &number);
}

/* The upper bits of the product depend on all of `bits`. */
static __always_inline u64 scatter(u64 bits)
{
	return bits * 0x9e3779b97f4a7c15ull >> 56;
}

/*
 * A value is never in both at once: a reader that reads the map first and this counter next
 * would count it twice.
 */
static __always_inline void empty_tally(struct thread_tally *tally)
{
	struct tally_key key = tally->key;
	u64 calls = tally->calls, bytes = tally->bytes, ns = tally->ns;
	struct tally *shared;

	if (!calls)
		return;
	tally->calls = 0;
	tally->bytes = 0;
	tally->ns = 0;
	barrier();
	shared = tally_at(&key);
	if (shared)
		add_tally(shared, calls, bytes, ns);
	else
		count_other_calls(key.slot, calls, 0, ns);
}

/*
 * Moves a counter of the calling thread to the map. Global, as the next function: the verifier goes
 * through each once.
 */
__noinline int spill_tally(u32 counter_slot, u32 index)
{
	struct thread_counts *own = thread_counts_at(counter_slot);

	if (own)
		empty_tally(&own->tallies[index & (THREAD_TALLIES - 1)]);
	return 0;
}

/* Reassigns the counter to another key. Returns 0 if the map has no room for that. */
__noinline int take_tally(u32 counter_slot, u32 index, u64 bits)
{
	struct thread_counts *own = thread_counts_at(counter_slot);
	struct thread_tally *tally;
	struct tally_key key;

	if (!own)
		return 0;
	__builtin_memcpy(&key, &bits, sizeof(key));
	if (!tally_at(&key))
		return 0;
	tally = &own->tallies[index & (THREAD_TALLIES - 1)];
	empty_tally(tally);
	__builtin_memcpy(&tally->key, &bits, sizeof(key));
	return 1;
}

static __always_inline bool is_tally_of(const struct thread_tally *tally, u64 bits)
{
	return tally->calls && key_bits(&tally->key) == bits;
}

/*
 * Whether the thread with that counter slot has counted the call. `bits` are those of its struct
 * tally_key.
 */
static __always_inline bool count_by_thread(u32 counter_slot, u64 bits, u64 bytes, u64 ns)
{
	struct thread_counts *own = thread_counts_at(counter_slot);
	u32 index = scatter(bits) & (THREAD_TALLIES - 1);
	struct thread_tally *tally;

	if (!own)
		return false;
	tally = &own->tallies[index];
	if (!is_tally_of(tally, bits)) {
		/* Each key has two possible positions. */
		if (tally->calls &&
		    (is_tally_of(&own->tallies[index ^ 1], bits) || !own->tallies[index ^ 1].calls))
			index ^= 1;
		tally = &own->tallies[index];
		if (!is_tally_of(tally, bits) && !take_tally(counter_slot, index, bits)) {
			count_other_calls((u16)bits, 1, 0, ns);
			return true;
		}
	}
	/* Only the map's counters have carries. */
	if (tally->bytes + bytes < bytes)
		spill_tally(counter_slot, index);
	tally->calls++;
	tally->bytes += bytes;
	tally->ns += ns;
	return true;
}

#endif
