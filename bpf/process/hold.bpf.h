// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Holds a watched process until its probes are attached: it is stopped where its libraries may be
 * new, and userspace resumes it. Held processes are in a map, so that they can be resumed whatever
 * happens to gpuprobe.
 */
#ifndef BPF_PROCESS_HOLD_BPF_H
#define BPF_PROCESS_HOLD_BPF_H

#include "core/task.bpf.h"
#include "gpuprobe/holds.h"

#define SIGSTOP 19
#define SIGNAL_STOP_STOPPED 1 /* include/linux/sched/signal.h */

/* pid in gpuprobe's namespace -> 1, from our stop until the SIGCONT that ends it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, s32);
	__type(value, u8);
} held SEC(".maps");

/*
 * pid in gpuprobe's namespace -> the times it was held. Written by userspace. A process that was
 * never held has no entry.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, s32);
	__type(value, struct holds);
} holds SEC(".maps");

/* When userspace last resumed a process. */
volatile __u64 let_go_ns;

/* A process that has become a user whom gpuprobe may not signal would stay stopped. */
static __always_inline bool can_be_let_go(struct task_struct *task)
{
	return config.hold_user == HOLD_ALL ||
	       BPF_CORE_READ(task, real_cred, uid.val) == config.hold_user ||
	       BPF_CORE_READ(task, real_cred, suid.val) == config.hold_user;
}

/*
 * Whether the task at `address` is stopped, or will be as soon as it runs. Global: it is verified
 * once.
 */
__noinline u32 is_stopped(u64 address)
{
	struct task_struct *task = (void *)address;

	return BPF_CORE_READ(task, signal, flags) & SIGNAL_STOP_STOPPED ||
	       BPF_CORE_READ(task, signal, group_stop_count) ||
	       BPF_CORE_READ(task, signal, shared_pending.signal.sig[0]) & 1ul << (SIGSTOP - 1);
}

/*
 * Which of the task at `address` and its ancestors are stopped. su and shells stop themselves when
 * a child stops; a process that is already stopped was not stopped because of us. Global: the
 * verifier goes through it once.
 */
__noinline u32 stopped_above(u64 address)
{
	struct task_struct *task = (void *)address;
	u32 stopped = 0;

	for (int i = 0; i < STOPPED_ANCESTORS; i++) {
		stopped |= is_stopped((u64)task) << i;
		task = BPF_CORE_READ(task, real_parent);
	}
	return stopped;
}

/*
 * Stops the calling process, if processes are held at all, and notes in the record whether it did.
 * A process traced by a debugger is left alone, since the debugger would see the stop.
 */
static __always_inline void hold_process(s32 pid, struct record_library *record)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u8 yes = 1;

	record->stopped = 0;
	record->stopped_above = 0;
	if (!config.hold || BPF_CORE_READ(task, ptrace) || !can_be_let_go(task))
		return;
	record->stopped_above = (u16)stopped_above((u64)BPF_CORE_READ(task, real_parent));
	if (bpf_map_update_elem(&held, &pid, &yes, BPF_ANY))
		return;
	if (bpf_send_signal(SIGSTOP))
		bpf_map_delete_elem(&held, &pid);
	else
		record->stopped = 1;
}

#endif
