// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The maps that all families of the monitor share.
 *
 * Sizes here are placeholders where userspace sets them (src/probe/object.c).
 */
#ifndef BPF_CALL_STATE_BPF_H
#define BPF_CALL_STATE_BPF_H

#include "core/base.bpf.h"
#include "gpuprobe/rate.h"

/* Set by userspace before load: constants to the verifier. */
const volatile struct function_desc functions[MAX_FUNCTIONS];

/* Launches are probed at both layers, so nested ones must be told; set when that comes to be. */
volatile __u32 both_layers;

/* More than one driver library has probes; userspace sets it before the second one has. */
volatile __u32 several_drivers;

/* The driver's functions have probes, so that calls of the runtime's that were probed for want of them count no more. */
volatile __u32 driver_counts;

/* Some process has met an error that lasts: the only thing that other processes' calls look at. */
volatile __u32 any_sticky;

/* When the probes were in, CLOCK_BOOTTIME: what older processes did before is not known. */
volatile __u64 attached_ns;

/* The family's probes have been out, for the latest time until then; ~0: they are. Userspace sets it. */
volatile __u64 unseen_until[RATE_FAMILIES];

/* The same of the probes of what asks for errors. */
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

/* Slots that no process has; userspace puts them back once it has read a process's end. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__type(value, u32);
} free_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct tally_key);
	__type(value, struct tally);
} tallies SEC(".maps");

/* What lives, by address or handle. */
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

/* Contexts that were seen made, made current or waited for. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct context_key);
	__type(value, struct context_record);
} contexts SEC(".maps");

/* Whether calls of one of the families have not been seen since. */
static __always_inline bool was_blind_since(u64 since_ns, enum rate_family one, enum rate_family other)
{
	return config.rates && (unseen_until[one] > since_ns || unseen_until[other] > since_ns);
}

#endif
