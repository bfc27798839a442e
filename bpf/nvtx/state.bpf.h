// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The maps of the programs for NVTX ranges, and what is in them. */
#ifndef BPF_NVTX_STATE_BPF_H
#define BPF_NVTX_STATE_BPF_H

#include "call/thread_maps.bpf.h"
#include "core/task.bpf.h"
#include "gpuprobe/nvtx.h"

/* A thread's counters at a moment. */
struct counters {
	u32 slot; /* the thread's counter slot; 0: it has made no call */
	u32 pad;
	u64 launches;
	struct time_totals time[TIME_CLASSES];
};

/* A range that is open. */
struct frame {
	u64 name, domain;
	u64 begin_ns;
	s32 tid;
	u32 ended;   /* those above it have not */
	u32 is_step; /* see nvtx/steps.bpf.h */
	u32 pad;
	struct counters before;
};

/* A range with an id that a thread has begun. */
struct started_range {
	u64 id; /* 0: the entry is free */
	u64 name;
};

/* The open ranges of a thread. */
struct open_ranges {
	u64 memory; /* of the program that they belong to: exec gives another one */
	u32 depth;
	u32 beyond; /* begun where there was no room */
	u32 started_count;
	u32 in_step; /* see nvtx/steps.bpf.h */
	u64 step_id;
	struct frame frames[NVTX_DEPTH];	    /* those in each other */
	struct started_range started[NVTX_STARTED]; /* for GPU times */
	struct nvtx_path path;
	struct frame scratch; /* a range with an id, before it is in its map */
};

/* What a process has entries for. */
struct process_counts {
	u64 names, paths;
};

/* The key of a range with an id. */
struct nvtx_open_key {
	struct nvtx_process process;
	u64 id;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct open_ranges);
} nvtx_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NVTX_OPEN);
	__type(key, struct nvtx_open_key);
	__type(value, struct frame);
} nvtx_open SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NVTX_PROCESSES);
	__type(key, struct nvtx_process);
	__type(value, struct process_counts);
} nvtx_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NVTX_ALL_NAMES);
	__type(key, struct nvtx_key);
	__type(value, struct nvtx_record);
} nvtx_ranges SEC(".maps");

/* Userspace makes room with GPU times only. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct nvtx_path_key);
	__type(value, struct nvtx_path);
} nvtx_paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} nvtx_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NVTX_LOSSES);
	__type(key, u32);
	__type(value, u64);
} nvtx_lost SEC(".maps");

static __always_inline void count_lost(u32 what)
{
	u64 *lost = bpf_map_lookup_elem(&nvtx_lost, &what);

	if (lost)
		*lost += 1;
}

/* The number of the name under which the process's range counts; names of a process are limited. */
static __always_inline u64 limited_name(const struct nvtx_process *process, u64 name)
{
	struct nvtx_process key = *process; /* before Linux 6.2 a key cannot be an argument */
	struct process_counts one = {.names = 1}, *counts;

	counts = bpf_map_lookup_elem(&nvtx_processes, &key);
	if (!counts)
		return bpf_map_update_elem(&nvtx_processes, &key, &one, BPF_NOEXIST) ? 0 : name;
	return __sync_fetch_and_add(&counts->names, 1) < NVTX_NAMES ? name : 0;
}

/* Not on the stack: on Linux 6.1 that of all functions together would be too long. */
static const struct nvtx_record empty_record;

static __always_inline struct nvtx_record *record_of(const struct nvtx_process *process, u64 *name)
{
	struct nvtx_key key = {.process = *process, .name = *name};
	struct nvtx_record *record = bpf_map_lookup_elem(&nvtx_ranges, &key);

	if (record)
		return record;
	key.name = *name = limited_name(process, *name);
	bpf_map_update_elem(&nvtx_ranges, &key, &empty_record, BPF_NOEXIST);
	return bpf_map_lookup_elem(&nvtx_ranges, &key);
}

#endif
