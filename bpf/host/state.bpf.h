// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Maps of followed threads, see include/gpuprobe/host.h, and the monitor's maps that are read here:
 * userspace shares those.
 */
#ifndef BPF_HOST_STATE_BPF_H
#define BPF_HOST_STATE_BPF_H

#include "core/base.bpf.h"
#include "gpuprobe/profile.h"
#include "gpuprobe/host.h"
#include "call/thread_maps.bpf.h"

_Static_assert((HOST_CLASSES & (HOST_CLASSES - 1)) == 0, "indexes of classes are masked");

/*
 * A followed thread's number. The iterator creates the storage: nothing may be allocated in a
 * context switch.
 */
struct followed {
	u32 thread, generation;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct followed);
} followed SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, HOST_THREADS);
	__type(key, u32);
	__type(value, struct host_profile);
} host_accounts SEC(".maps");

/* All of these are preallocated: they are written in context switches. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOST_SITES);
	__type(key, struct host_site_key);
	__type(value, struct host_site_record);
} host_sites SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOST_WAKERS);
	__type(key, struct host_pair_key);
	__type(value, struct host_waker);
} host_wakers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOST_RIVALS);
	__type(key, struct host_pair_key);
	__type(value, struct host_rival);
} host_rivals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOST_FILES);
	__type(key, struct host_pair_key);
	__type(value, struct host_file);
} host_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOST_THREADS);
	__type(key, u32);
	__type(value, struct host_wanted);
} host_wanted SEC(".maps");

/*
 * Whether any BPF storage belongs to the thread: most threads have none, and this check is cheaper
 * than a map lookup.
 */
static __always_inline bool is_known(struct task_struct *task)
{
	return task->bpf_storage;
}

/* The profile of a followed thread; NULL for any other. */
static __always_inline struct host_profile *profile_of(struct task_struct *task,
						       struct followed *who)
{
	const struct followed *own;
	struct host_profile *profile;

	own = bpf_task_storage_get(&followed, task, 0, 0);
	if (!own)
		return NULL;
	*who = *own;
	profile = bpf_map_lookup_elem(&host_accounts, &who->thread);
	return profile && profile->generation == who->generation && profile->began_ns &&
			       !profile->ended_ns ?
		       profile :
		       NULL;
}

#endif
