/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk of bpf/stack/python.bpf.h, compiled for userspace: memory is that of the process
 * `walked_pid`, and the calling thread has the fsbase `walked_fsbase`.
 */
#ifndef TESTS_PYTHON_WALK_H
#define TESTS_PYTHON_WALK_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "target/process_memory.h"

/* In place of bpf/core/kernel.bpf.h. */
#define BPF_CORE_KERNEL_BPF_H
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;

static pid_t walked_pid;
static uint64_t walked_fsbase;

struct task_struct;

#define SEC(name)
#define __noinline __attribute__((noinline))
#define __uint(name, value) int(*name)[value]
#define __type(name, type) type *name
#define barrier_var(variable) asm volatile("" : "+r"(variable))
#define bpf_get_current_task_btf() NULL
#define BPF_CORE_READ(task, member) ((void)(task), walked_fsbase)
#define bpf_core_enum_value_exists(type, value) true
#define bpf_probe_read_user(to, size, from) \
	process_memory__read(walked_pid, (uintptr_t)(from), (to), (size))
#define bpf_loop(count, step, context, flags) \
	do { \
		for (u32 _n = 0; _n < (count); _n++) { \
			if (step(_n, (context))) \
				break; \
		} \
	} while (0)

#include "stack/python.bpf.h"

#endif
