/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One thread at this moment: bpf/dump.bpf.c writes it, `gpuprobe dump` reads it. The thread is not
 * stopped. The registers are those of its latest entry into the kernel, so they may be stale for a
 * thread on a CPU.
 */
#ifndef GPUPROBE_THREAD_LOOK_H
#define GPUPROBE_THREAD_LOOK_H

#include "gpuprobe/stack.h"

#define LOOK_COMM_SIZE 16
#define LOOK_COPY_SPARE 4096 /* space after a copy: the verifier requires room for one more page */
#define NO_SYSTEM_CALL (~0ull)

/* Bits of thread_look.state, the kernel's values; 0: running or runnable. */
#define TASK_SLEEPS 0x0001    /* interruptible sleep */
#define TASK_SLEEPS_ON 0x0002 /* uninterruptible sleep: mostly a disk */
#define TASK_STOPPED 0x0004
#define TASK_TRACED 0x0008
#define TASK_FROZEN 0x8000 /* Linux 6.1 */

struct thread_look {
	__u64 thread_start_ns; /* CLOCK_BOOTTIME */
	__u64 python_state;    /* address of its PyThreadState; 0: unknown */
	/* system call number, or NO_SYSTEM_CALL; on a CPU: the latest one, maybe already over */
	__u64 system_call;
	__u64 argument[6]; /* arguments of the system call */
	__u32 state;
	__u8 taken; /* the program filled this in: the rest is valid */
	__u8 on_cpu;
	__u8 frozen; /* in a frozen cgroup (version 2), which `state` does not show */
	__u8 pad;
	char comm[LOOK_COMM_SIZE];
	struct stack_record stack; /* the reader fills in .owner and .pid */
	__u8 copy[STACK_COPY_MAX + LOOK_COPY_SPARE];
};

#endif
