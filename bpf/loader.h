// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The dynamic loader's _dl_debug_state, which it calls around every change
 * to the list of loaded objects: tells userspace of processes that have just
 * mapped a CUDA library, before any of its code has run. A process that is
 * held (COMMAND and its descendants) is stopped there until its probes are
 * in; strangers are never stopped.
 */
#ifndef BPF_LOADER_H
#define BPF_LOADER_H

#include "call.h"

#define MAX_OBJECTS 512 /* objects of a process that are looked at, latest last */
#define RT_CONSISTENT 0

/* From <link.h>, whose layout is fixed by the debugger interface of System V. */
struct r_debug {
	int r_version;
	u64 r_map;
	u64 r_brk;
	int r_state;
};

struct link_map {
	u64 l_addr;
	u64 l_name;
	u64 l_ld;
	u64 l_next;
};

/*
 * Whether the path has "libcuda" in it. Not static, so that the verifier looks
 * at it once and not at each turn of the loop that calls it.
 */
__noinline int names_cuda(u64 name)
{
	char path[256];
	long size = bpf_probe_read_user_str(path, sizeof(path), (void *)name);

	if (size < 8)
		return 0;
	for (int i = 0; i + 7 < (int)sizeof(path); i++) {
		if (i + 7 >= size)
			return 0;
		if (path[i] == 'l' && path[i + 1] == 'i' && path[i + 2] == 'b' && path[i + 3] == 'c' &&
		    path[i + 4] == 'u' && path[i + 5] == 'd' && path[i + 6] == 'a')
			return 1;
	}
	return 0;
}

static __noinline bool has_cuda_library(u64 map)
{
	struct link_map object;

	for (int i = 0; i < MAX_OBJECTS && map; i++) {
		if (bpf_probe_read_user(&object, sizeof(object), (void *)map))
			return false;
		if (names_cuda(object.l_name))
			return true;
		map = object.l_next;
	}
	return false;
}

/* The cookie is where _r_debug is, relative to the probed function. */
SEC("uprobe")
int loader_entry(struct pt_regs *ctx)
{
	u64 where = ctx->ip + (s64)bpf_get_attach_cookie(ctx);
	struct task_struct *task = bpf_get_current_task_btf();
	struct record_library *record;
	struct r_debug debug;
	s32 pid;

	pid = pid_of(BPF_CORE_READ(task, group_leader));
	if (!pid || !pid_is_watched(pid))
		return 0;
	if (bpf_probe_read_user(&debug, sizeof(debug), (void *)where))
		return 0;
	if (debug.r_state != RT_CONSISTENT)
		return 0;
	if (!config.hold && !has_cuda_library(debug.r_map))
		return 0;
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		lose(LOSS_RING_FULL);
		return 0;
	}
	record->header.type = RECORD_LIBRARY;
	record->header.slot = 0;
	record->pid = pid;
	record->stopped = config.hold && !bpf_send_signal(19 /* SIGSTOP */);
	bpf_ringbuf_submit(record, 0);
	return 0;
}

#endif
