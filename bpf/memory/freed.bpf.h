// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The latest frees of each process: addresses of device memory for the report, all others in
 * `aside`. Both distinguish a second free of an address from a free of an unknown one.
 */
#ifndef BPF_MEMORY_FREED_BPF_H
#define BPF_MEMORY_FREED_BPF_H

#include "call/thread.bpf.h"

#define ASIDE_SPACE_SHIFT 56

static __always_inline bool is_shown_freed(u32 kind)
{
	return kind == MEMORY_DEVICE || kind == MEMORY_MANAGED || kind == MEMORY_POOL;
}

static __always_inline u64 aside_entry(const struct allocation_key *key)
{
	return key->address | (u64)key->space << ASIDE_SPACE_SHIFT;
}

__noinline int remember_freed(const struct allocation_key *key, u32 kind)
{
	struct process_record *process;
	u32 n;

	if (!key)
		return 0;
	process = process_at(key->slot);
	if (!process)
		return 0;
	if (is_shown_freed(kind)) {
		n = __sync_fetch_and_add(&process->freed_next, 1);
		process->freed[n % FREED_KEPT] = key->address;
	} else {
		n = __sync_fetch_and_add(&process->aside_next, 1);
		process->aside[n % FREED_KEPT] = aside_entry(key);
	}
	return 0;
}

/*
 * 1 or 0, computed without a branch: in a loop the verifier would follow each branch anew in every
 * round. The barriers keep the compiler from creating one.
 */
static __always_inline u64 is_equal(u64 a, u64 b)
{
	u64 differs = (a ^ b) | -(a ^ b);

	barrier_var(differs);
	return ~differs >> 63;
}

static __always_inline u64 is_below(u32 a, u32 b)
{
	u64 difference = (u64)a - b;

	barrier_var(difference);
	return difference >> 63;
}

/* Whether the address or handle is among the latest frees. */
__noinline int was_freed(const struct allocation_key *key)
{
	u64 aside, found_shown = 0, found_aside = 0;
	struct process_record *process;

	if (!key)
		return 0;
	process = process_at(key->slot);
	if (!process)
		return 0;
	aside = aside_entry(key);
	for (u32 i = 0; i < FREED_KEPT; i++) {
		found_shown |= is_equal(process->freed[i], key->address) &
			       is_below(i, process->freed_next);
		found_aside |=
			is_equal(process->aside[i], aside) & is_below(i, process->aside_next);
	}
	return found_aside || (found_shown && key->space == SPACE_ADDRESS);
}

/* Global: the verifier goes through it once, not for each entry. */
__noinline int forget_freed_at(struct process_record *process, const struct allocation_key *key,
			       u32 i)
{
	if (!process || !key)
		return 0;
	i &= FREED_KEPT - 1;
	if (key->space == SPACE_ADDRESS && process->freed[i] == key->address)
		process->freed[i] = 0;
	if (process->aside[i] == aside_entry(key))
		process->aside[i] = 0;
	return 0;
}

/*
 * The address is in use again but there is no room to record that: its next free is not a double
 * free.
 */
__noinline int forget_freed(const struct allocation_key *key)
{
	struct process_record *process;

	if (!key)
		return 0;
	process = process_at(key->slot);
	if (!process)
		return 0;
	for (u32 i = 0; i < FREED_KEPT; i++)
		forget_freed_at(process, key, i);
	return 0;
}

#endif
