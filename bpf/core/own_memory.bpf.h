// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads the memory of the calling process, for code that can also read another's
 * (core/task_memory.bpf.h).
 */
#ifndef BPF_CORE_OWN_MEMORY_BPF_H
#define BPF_CORE_OWN_MEMORY_BPF_H

#include "core/kernel.bpf.h"

struct memory_of {
};

static __always_inline struct task_struct *memory_task(const struct memory_of *of
						       __attribute__((unused)))
{
	return bpf_get_current_task_btf();
}

static __always_inline long read_memory(const struct memory_of *of __attribute__((unused)),
					void *to, u32 size, u64 from)
{
	return bpf_probe_read_user(to, size, (void *)from);
}

#endif
