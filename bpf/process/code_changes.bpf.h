// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How often processes have mapped code: counted in process/mapping.bpf.h, read for the versions of code that stacks have. */
#ifndef BPF_PROCESS_CODE_CHANGES_BPF_H
#define BPF_PROCESS_CODE_CHANGES_BPF_H

#include "core/base.bpf.h"

/* pid -> how often it has mapped code, for the versions of its code. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, s32);
	__type(value, u64);
} code_changes SEC(".maps");

/* How often the process has mapped code; 0: not known. */
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
