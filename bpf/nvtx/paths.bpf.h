// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * With GPU times: which ranges each thread is in, as a number in its storage, which goes with each
 * call that submits work (profile/submitted.bpf.h). Userspace reads from the map `nvtx_paths` what
 * ranges these are. So GPU work counts in the ranges in which it was submitted, however late its
 * times come.
 */
#ifndef BPF_NVTX_PATHS_BPF_H
#define BPF_NVTX_PATHS_BPF_H

#include "nvtx/state.bpf.h"

/* --- the thread's ranges --- */

/* exec leaves the storage, but not what was open in the program before it. */
static __always_inline struct open_ranges *own_ranges(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct open_ranges *open =
		bpf_task_storage_get(&nvtx_threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	u64 memory = (u64)task->mm;

	if (open && open->memory != memory) {
		open->memory = memory;
		open->depth = open->beyond = open->started_count = open->in_step = 0;
		__builtin_memset(open->started, 0, sizeof(open->started));
	}
	return open;
}

/* The name under which the range counts at its end, so that a path has no other one. */
static __always_inline u64 counted_name(const struct nvtx_process *process, u64 name)
{
	if (config.gpu_times)
		record_of(process, &name);
	return name;
}

/* Depends on the order; neither 0 nor NVTX_PATH_UNKNOWN. */
static __always_inline u64 longer_path(u64 path, u64 name)
{
	path = (path + name + 1) * 0x9e3779b97f4a7c15ull;
	return (path ^ path >> 29) | NVTX_PATH_UNKNOWN << 1;
}

/* --- ranges with ids --- */

/* Another thread may have ended some. Global: the verifier goes through it once. */
__noinline int drop_ended_starts(const struct nvtx_process *process, struct open_ranges *open)
{
	struct nvtx_open_key key = {0};

	if (!process || !open)
		return 0;
	key.process = *process;
	for (u32 i = 0; i < NVTX_STARTED; i++) {
		key.id = open->started[i].id;
		if (!key.id || bpf_map_lookup_elem(&nvtx_open, &key))
			continue;
		open->started[i].id = 0;
		open->started_count--;
	}
	return 0;
}

/* Returns 0, or -1 if there is no room. Global: the verifier goes through it once. */
__noinline int keep_start(struct open_ranges *open, u64 name, u64 id)
{
	if (!open || !id)
		return -1;
	for (u32 i = 0; i < NVTX_STARTED; i++) {
		if (open->started[i].id)
			continue;
		open->started[i].id = id;
		open->started[i].name = name;
		open->started_count++;
		return 0;
	}
	return -1;
}

/* --- paths --- */

/* Fills in `path`; returns its number. Global: the verifier goes through it once. */
__noinline u64 fill_path(struct open_ranges *open)
{
	u64 number = 0, used = 0;

	if (!open)
		return 0;
	for (u32 i = 0; i < NVTX_DEPTH && i < open->depth; i++) {
		if (open->frames[i].ended)
			continue;
		number = longer_path(number, open->frames[i].name);
		open->path.names[i] = open->frames[i].name;
		used |= 1ull << i;
	}
	for (u32 i = 0; i < NVTX_STARTED; i++) {
		if (!open->started[i].id)
			continue;
		number = longer_path(number, open->started[i].name);
		open->path.names[NVTX_DEPTH + i] = open->started[i].name;
		used |= 1ull << (NVTX_DEPTH + i);
	}
	open->path.used = used;
	return number;
}

/* Returns the path's number, or that of unknown ones if there is no room for it. */
static __always_inline u64 keep_path(const struct nvtx_process *process, u64 number,
				     const struct nvtx_path *path)
{
	struct nvtx_path_key key = {.process = *process, .path = number};
	struct nvtx_process owner = *process;
	struct process_counts *counts;

	if (bpf_map_lookup_elem(&nvtx_paths, &key))
		return number;
	/* Its names have made an entry. */
	counts = bpf_map_lookup_elem(&nvtx_processes, &owner);
	if (!counts || counts->paths >= NVTX_PATHS)
		return NVTX_PATH_UNKNOWN;
	if (bpf_map_update_elem(&nvtx_paths, &key, path, BPF_ANY))
		return NVTX_PATH_UNKNOWN;
	__sync_fetch_and_add(&counts->paths, 1);
	return number;
}

/*
 * The thread's ranges have changed. Global: the verifier goes through it once. Before Linux 6.2 a
 * map's value cannot be in an argument, so it finds them itself.
 */
__noinline int renew_path(const struct nvtx_process *process)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct open_ranges *open;
	struct thread *thread;
	u64 number;

	if (!config.gpu_times || !process)
		return 0;
	open = own_ranges();
	if (!open)
		return 0;
	thread = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!thread)
		return 0;
	if (open->started_count)
		drop_ended_starts(process, open);
	number = fill_path(open);
	thread->nvtx_path = number ? keep_path(process, number, &open->path) : 0;
	return 0;
}

/* The thread has begun a range with an id. */
static __always_inline void add_started(const struct nvtx_process *process,
					struct open_ranges *open, u64 name, u64 id)
{
	struct nvtx_record *record;

	if (!config.gpu_times || !open)
		return;
	if (open->started_count >= NVTX_STARTED)
		drop_ended_starts(process, open);
	if (!keep_start(open, name, id)) {
		renew_path(process);
		return;
	}
	record = record_of(process, &name);
	if (record)
		__sync_fetch_and_add(&record->uncalled, 1);
}

#endif
