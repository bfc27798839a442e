/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entries of the BPF map `ranges`, which tells what addresses are; the scheme
 * is at struct range_key in gpuprobe/state.h. BPF records most of them.
 */
#ifndef COLLECT_RANGES_H
#define COLLECT_RANGES_H

#include "gpuprobe/state.h"

struct bpf_map;

/*
 * Makes the range of an allocation known that was recorded when nobody asked
 * what its addresses are. `allocations` and `ranges` are the BPF maps, `record`
 * its process's. Returns 0 or a negative errno.
 */
int ranges__fill(const struct bpf_map *ranges, const struct bpf_map *allocations, struct process_record *record,
		 const struct allocation_key *key, const struct allocation_record *allocation);

/* Forgets the range of an allocation, if it is there. */
void ranges__remove(const struct bpf_map *ranges, const struct allocation_key *key,
		    const struct allocation_record *allocation);

#endif
