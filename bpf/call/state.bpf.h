// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The maps that all families of the monitor share.
 *
 * Where userspace sets a size (src/probe/object.c), the one here is a placeholder.
 */
#ifndef BPF_CALL_STATE_BPF_H
#define BPF_CALL_STATE_BPF_H

#include "core/base.bpf.h"
#include "gpuprobe/rate.h"
#include "call/thread_maps.bpf.h"

/* Set by userspace before load: constants to the verifier. */
const volatile struct function_desc functions[MAX_FUNCTIONS];

/*
 * Launches are probed at both layers, so nested ones must be recognized. Userspace sets it when
 * that begins.
 */
volatile __u32 both_layers;

/* More than one driver library has probes; userspace sets it before the second one gets them. */
volatile __u32 several_drivers;

/*
 * The driver's functions have probes. Runtime calls that were probed in their place no longer
 * count.
 */
volatile __u32 driver_counts;

/* Some process has met a sticky error. Calls of all other processes check only this. */
volatile __u32 any_sticky;

/* When the probes were attached, CLOCK_BOOTTIME: earlier calls of older processes are unknown. */
volatile __u64 attached_ns;

/*
 * When the family's probes were last reattached after an absence; ~0: they are detached now.
 * Userspace sets it.
 */
volatile __u64 unseen_until[RATE_FAMILIES];

/* The same for the probes of error queries. */
volatile __u64 asks_unseen_until;

/* tgid in the initial namespace -> slot, while the process lives. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct process_binding);
} process_of SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct process_record);
} processes SEC(".maps");

/* Free slots; userspace returns a slot once it has read its process's end. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__type(value, u32);
} free_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct tally_key);
	__type(value, struct tally);
} tallies SEC(".maps");

/* Live allocations, by address or handle. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1048576);
	__type(key, struct allocation_key);
	__type(value, struct allocation_record);
} allocations SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct failure_key);
	__type(value, struct failure_record);
} failures SEC(".maps");

/* Contexts that were seen being created, made current or waited for. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct context_key);
	__type(value, struct context_record);
} contexts SEC(".maps");

/* Whether some calls of one of the two families may have been missed since `since_ns`. */
static __always_inline bool was_blind_since(u64 since_ns, enum rate_family one,
					    enum rate_family other)
{
	return config.rates && (unseen_until[one] > since_ns || unseen_until[other] > since_ns);
}

#endif
