// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tasks by their pids in gpuprobe's pid namespace, and which of them are watched. */
#ifndef BPF_CORE_TASK_BPF_H
#define BPF_CORE_TASK_BPF_H

#include "core/base.bpf.h"

#define PID_LEVELS 32 /* the kernel's limit of nested pid namespaces */

/*
 * The number in the kernel's struct upid at `address` if it is that of gpuprobe's pid namespace,
 * otherwise 0. Global: the verifier goes through it once, not for each level.
 */
__noinline s32 number_at_level(u64 address)
{
	struct upid *number = (void *)address;

	return BPF_CORE_READ(number, ns, ns.inum) == config.pidns_inum ? BPF_CORE_READ(number, nr) :
									 0;
}

/*
 * The number that the kernel's struct pid at `address` has in gpuprobe's pid namespace; 0 if none.
 * A pid has a number in each namespace from the initial one down to its own. gpuprobe does not know
 * the depth of its own namespace, so it is recognized by its inode. Global: the verifier goes
 * through it once.
 */
__noinline s32 pid_number(u64 address)
{
	struct pid *pid = (void *)address;
	s32 number = 0;
	u32 level;

	if (!pid)
		return 0;
	level = BPF_CORE_READ(pid, level);
	address += bpf_core_field_offset(struct pid, numbers);
	for (u32 i = 0; i < PID_LEVELS && i <= level && !number; i++) {
		number = number_at_level(address);
		address += bpf_core_type_size(struct upid);
	}
	return number;
}

/* The pid of `task`'s thread in gpuprobe's pid namespace; 0 if it has none. */
static __always_inline s32 pid_of(struct task_struct *task)
{
	return pid_number((u64)BPF_CORE_READ(task, thread_pid));
}

/* The pid of `task`'s thread in its own, innermost pid namespace. */
static __always_inline s32 innermost_pid(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct upid *numbers;

	if (!pid)
		return 0;
	numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);
	numbers = (void *)numbers + BPF_CORE_READ(pid, level) * bpf_core_type_size(struct upid);
	return BPF_CORE_READ(numbers, nr);
}

static __always_inline bool pid_is_watched(s32 pid)
{
	return !config.only_watched || bpf_map_lookup_elem(&watched, &pid);
}

#endif
