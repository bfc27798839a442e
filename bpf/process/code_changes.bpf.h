// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How often processes have mapped code: process/mapping.bpf.h counts it, and stacks use it as the
 * version of their process's code.
 */
#ifndef BPF_PROCESS_CODE_CHANGES_BPF_H
#define BPF_PROCESS_CODE_CHANGES_BPF_H

#include "core/base.bpf.h"

/* pid -> times that it has mapped code. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, s32);
	__type(value, u64);
} code_changes SEC(".maps");

/* Times that the process has mapped code; 0: unknown. */
static __always_inline u64 code_changes_of(s32 pid)
{
	const u64 *changes = bpf_map_lookup_elem(&code_changes, &pid);

	return changes ? *changes : 0;
}

static __always_inline void count_change(s32 pid)
{
	u64 *changes = bpf_map_lookup_elem(&code_changes, &pid), first = 1;

	if (changes)
		__sync_fetch_and_add(changes, 1);
	else
		bpf_map_update_elem(&code_changes, &pid, &first, BPF_NOEXIST);
}

#endif
