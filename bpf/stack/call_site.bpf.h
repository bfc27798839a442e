// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calls summed by call site. Without config.stack_mode the programs contain none of this. */
#ifndef BPF_STACK_CALL_SITE_BPF_H
#define BPF_STACK_CALL_SITE_BPF_H

#include "call/state.bpf.h"
#include "core/sum.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct call_site_key);
	__type(value, struct call_site_record);
} call_sites SEC(".maps");

static __always_inline bool wants_site(enum site_kind kind)
{
	return config.stack_mode && config.stack_sites & 1 << kind;
}

/* Global: the verifier goes through it once. */
__noinline int count_site(const struct call_site_key *at, u64 calls, u64 amount)
{
	struct call_site_record *record, zero = {};
	struct call_site_key key;
	int error;

	if (!at)
		return 0;
	key = *at;
	record = bpf_map_lookup_elem(&call_sites, &key);
	if (!record) {
		error = bpf_map_update_elem(&call_sites, &key, &zero, BPF_NOEXIST);
		record = bpf_map_lookup_elem(&call_sites, &key);
		if (!record) {
			lose_update(error, LOSS_SITE_MAP_FULL);
			return 0;
		}
	}
	__sync_fetch_and_add(&record->calls, calls);
	add_to_sum(&record->amount, amount);
	return 0;
}

#endif
