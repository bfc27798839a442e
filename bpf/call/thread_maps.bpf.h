// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The maps of threads in the monitor's object. The objects that follow threads and sum up NVTX
 * ranges read them: userspace gives them the monitor's maps (src/probe/host_object.c,
 * nvtx_object.c).
 */
#ifndef BPF_CALL_THREAD_MAPS_BPF_H
#define BPF_CALL_THREAD_MAPS_BPF_H

#include "core/base.bpf.h"
#include "gpuprobe/profile.h"

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

/* Indexed by the thread's counter slot, minus 1. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct thread_profile);
} thread_accounts SEC(".maps");

#endif
