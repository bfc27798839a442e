// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is freed after an allocation has failed (enum late_free). The report of the failure comes
 * a little later and shows what was held at the failure.
 */
#ifndef BPF_MEMORY_LATE_FREE_BPF_H
#define BPF_MEMORY_LATE_FREE_BPF_H

#include "process/share.bpf.h"

/* A framework's verdict comes after the failures of CUDA that led to it, and replaces them. */
static __always_inline void begin_late_frees(struct process_record *process, u64 failed_ns,
					     bool is_final)
{
	bool is_open = process->shortage_ns && failed_ns - process->shortage_ns < LATE_FREES_NS;

	if (is_open && (process->shortage_final || !is_final))
		return;
	if (!is_open)
		process->late_frees = process->late_frees_lost = 0;
	process->shortage_final = is_final;
	process->shortage_ns = failed_ns;
}

/* It has failed once more, and no framework has said its verdict. */
static __always_inline void begin_late_frees_again(struct process_record *process, u64 failed_ns)
{
	if (process && process->shortage_ns && !process->shortage_final)
		process->shortage_ns = failed_ns;
}

/* `at` and `like` are those of the allocation. Global: the verifier goes through it once. */
__noinline int keep_late_free(const struct allocation_key *at, const struct allocation_record *like)
{
	struct process_record *process;
	struct allocation_record freed;
	struct allocation_key key;

	if (!at || !like)
		return 0;
	process = process_at(at->slot);
	if (!process || !process->shortage_ns || like->start_ns > process->shortage_ns)
		return 0;
	key = *at;
	freed = *like;
	freed.freed_ns = now();
	if (freed.freed_ns - process->shortage_ns > LATE_FREES_NS)
		return 0;
	if (process->late_frees < LATE_FREES && begin_live(key.slot)) {
		__sync_fetch_and_add(&process->late_frees, 1);
		/* An entry of an earlier failure may be there still. */
		if (!bpf_map_update_elem(&allocations, &key, &freed, BPF_NOEXIST))
			return 0;
		end_live(key.slot);
		if (!bpf_map_update_elem(&allocations, &key, &freed, BPF_EXIST))
			return 0;
	}
	__sync_fetch_and_add(&process->late_frees_lost, 1);
	return 0;
}

#endif
