// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads the memory of a task's process from sleepable programs (Linux 5.18). Include it before the
 * headers that read memory.
 */
#ifndef BPF_CORE_TASK_MEMORY_BPF_H
#define BPF_CORE_TASK_MEMORY_BPF_H

#include "core/kernel.bpf.h"

struct memory_of {
	struct task_struct *task;
};

static __always_inline struct task_struct *memory_task(const struct memory_of *of)
{
	return of->task;
}

static __always_inline long read_memory(const struct memory_of *of, void *to, u32 size, u64 from)
{
	return bpf_copy_from_user_task(to, size, (void *)from, of->task, 0);
}

#endif
