// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The maps that all families share, the configuration, and the losses.
 *
 * Sizes here are placeholders where userspace sets them (src/probe/object.c).
 */
#ifndef BPF_STATE_H
#define BPF_STATE_H

#include "kernel.h"
#include "gpuprobe/state.h"

/* Set by userspace before load: constants to the verifier. */
const volatile struct config config;
const volatile struct function_desc functions[MAX_FUNCTIONS];

/* Launches are probed at both layers, so nested ones must be told; set when that comes to be. */
volatile __u32 both_layers;

/* Some process has met an error that lasts: the only thing that other processes' calls look at. */
volatile __u32 any_sticky;

/* When the probes were in, CLOCK_BOOTTIME: what older processes did before is not known. */
volatile __u64 attached_ns;

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

/* pid in gpuprobe's namespace -> 1, where only some processes are watched. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, s32);
	__type(value, u8);
} watched SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
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

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOSS_COUNT);
	__type(key, u32);
	__type(value, u64);
} losses SEC(".maps");

/* Contexts that were seen made, made current or waited for. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct context_key);
	__type(value, struct context_record);
} contexts SEC(".maps");


/* (event << 12 | ip & 0xfff) -> row, for LINKS_TRACEFS. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct site_key);
	__type(value, u32);
} sites SEC(".maps");

static __always_inline void lose(enum loss reason)
{
	u32 key = reason;
	u64 *count = bpf_map_lookup_elem(&losses, &key);

	if (count)
		__sync_fetch_and_add(count, 1);
}

/*
 * Counts a failed map update: no room under the map's own name, no memory apart.
 * Such an error is an int wherever it is kept: before Linux 6.4 the upper half
 * of what a map's functions return is 0, so that as a long it is not negative.
 */
static __always_inline void lose_update(int error, enum loss full)
{
	lose(error == -12 /* ENOMEM */ ? LOSS_NO_MEMORY : full);
}

static __always_inline u64 now(void)
{
	return bpf_ktime_get_boot_ns();
}

#endif
