// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Processes from fork to exit, as far as it concerns who is watched: children
 * of watched ones are; exec brings another program, of which userspace is told.
 */
#ifndef BPF_DESCEND_H
#define BPF_DESCEND_H

#include "loader.h"

SEC("raw_tp/sched_process_fork")
int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0];
	struct task_struct *child = (void *)ctx->args[1];
	s32 parent_pid, pid;
	u8 yes = 1;

	if (!config.only_watched)
		return 0;
	if (BPF_CORE_READ(child, pid) != BPF_CORE_READ(child, tgid))
		return 0; /* a thread */
	parent_pid = pid_of(BPF_CORE_READ(parent, group_leader));
	if (!parent_pid || !bpf_map_lookup_elem(&watched, &parent_pid))
		return 0;
	pid = pid_of(child);
	if (pid && bpf_map_update_elem(&watched, &pid, &yes, BPF_ANY))
		lose(LOSS_NO_MEMORY);
	return 0;
}

/* The calling process has become another program. */
static __always_inline void tell_exec(struct task_struct *task)
{
	struct record_library *record;
	s32 pid = pid_of(task);

	if (!pid || !pid_is_watched(pid))
		return;
	bpf_map_delete_elem(&loader_cursors, &pid);
	record = bpf_ringbuf_reserve(&ring, sizeof(*record), 0);
	if (!record) {
		lose(LOSS_RING_FULL);
		return;
	}
	record->header.type = RECORD_EXEC;
	record->header.slot = 0;
	record->pid = pid;
	record->time_ns = now();
	hold_process(pid, record);
	/* The process may be waiting, whatever else is in the ring. */
	bpf_ringbuf_submit(record, BPF_RB_FORCE_WAKEUP);
}

/* The calling process ends with this thread, its last. */
static __always_inline void forget_process(struct task_struct *task)
{
	s32 pid = pid_of(BPF_CORE_READ(task, group_leader));

	if (!pid)
		return;
	bpf_map_delete_elem(&loader_cursors, &pid);
	if (config.only_watched)
		bpf_map_delete_elem(&watched, &pid);
	if (config.hold)
		bpf_map_delete_elem(&held, &pid);
}

#endif
