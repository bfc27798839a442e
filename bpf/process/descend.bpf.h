// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Processes from fork to exit, as far as the set of watched processes is concerned: children of
 * watched processes are watched, and userspace learns of each exec.
 */
#ifndef BPF_PROCESS_DESCEND_BPF_H
#define BPF_PROCESS_DESCEND_BPF_H

#include "process/confined.bpf.h"
#include "process/mapping.bpf.h"

/* Whether the task exits; otherwise it is executing another program. */
static __always_inline bool is_exiting(struct task_struct *task)
{
	return BPF_CORE_READ(task, flags) & PF_EXITING;
}

SEC("raw_tp/sched_process_fork")
int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *parent = (void *)ctx->args[0];
	struct task_struct *child = (void *)ctx->args[1];
	s32 parent_pid, pid;
	u8 state = WATCHED;
	bool inherits, shares;

	if (!config.only_watched)
		return 0;
	if (BPF_CORE_READ(child, pid) != BPF_CORE_READ(child, tgid))
		return 0; /* a thread */
	parent_pid = pid_of(BPF_CORE_READ(parent, group_leader));
	if (!parent_pid || !bpf_map_lookup_elem(&watched, &parent_pid))
		return 0;
	pid = pid_of(child);
	shares = BPF_CORE_READ(child, mm) == BPF_CORE_READ(parent, mm);
	inherits = inherits_breakpoints(parent_pid, shares);
	if (inherits && config.hold)
		state = WATCHED_FORKED;
	if (pid && bpf_map_update_elem(&watched, &pid, &state, BPF_ANY))
		lose(LOSS_NO_MEMORY);
	if (pid && inherits && !config.hold)
		report_change(pid, RECORD_FORK, shares ? parent_pid : 0);
	return 0;
}

/* The calling process has executed another program. */
static __always_inline void report_exec(struct task_struct *task)
{
	s32 pid = pid_of(task);

	if (!pid || !pid_is_watched(pid))
		return;
	if (config.stack_mode)
		bpf_map_delete_elem(&code_changes, &pid);
	report_change(pid, RECORD_EXEC, 0);
}

/* The calling process ends with this thread, its last. */
static __always_inline void forget_process(struct task_struct *task)
{
	s32 pid = pid_of(BPF_CORE_READ(task, group_leader));

	if (!pid)
		return;
	if (config.stack_mode)
		bpf_map_delete_elem(&code_changes, &pid);
	if (config.only_watched)
		bpf_map_delete_elem(&watched, &pid);
	if (config.hold)
		bpf_map_delete_elem(&held, &pid);
}

#endif
