/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of the BPF map `ranges`, which tells what kind of memory an address is in. struct
 * range_key in gpuprobe/state/memory.h explains the scheme. BPF adds most entries.
 */
#ifndef COLLECT_RANGES_H
#define COLLECT_RANGES_H

#include "gpuprobe/state.h"

struct bpf_map;

/*
 * Adds the range of an allocation that was recorded before its addresses mattered. `allocations`
 * and `ranges` are the BPF maps, `record` belongs to its process. Returns 0 or a negative errno.
 */
int ranges__fill(const struct bpf_map *ranges, const struct bpf_map *allocations,
		 struct process_record *record, const struct allocation_key *key,
		 const struct allocation_record *allocation);

/* Removes the range of an allocation, if it is there. */
void ranges__remove(const struct bpf_map *ranges, const struct allocation_key *key,
		    const struct allocation_record *allocation);

#endif
