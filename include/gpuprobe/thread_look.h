/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One thread as it is now: what bpf/dump.bpf.c writes and `gpuprobe dump` reads. Nothing is stopped for it. The registers are
 * those with which the thread entered the kernel last, so of one that is on a CPU they may be old.
 */
#ifndef GPUPROBE_THREAD_LOOK_H
#define GPUPROBE_THREAD_LOOK_H

#include "gpuprobe/stack.h"

#define LOOK_COMM_SIZE 16
#define LOOK_COPY_SPARE 4096 /* behind a copy: the verifier wants to see that a page more would fit */
#define NO_SYSTEM_CALL (~0ull)

/* Bits of thread_look.state, the kernel's own; 0: it runs or is ready to. */
#define TASK_SLEEPS 0x0001    /* until something comes or a signal */
#define TASK_SLEEPS_ON 0x0002 /* no signal wakes it: mostly a disk */
#define TASK_STOPPED 0x0004
#define TASK_TRACED 0x0008
#define TASK_FROZEN 0x8000 /* Linux 6.1 */

struct thread_look {
	__u64 thread_start_ns; /* CLOCK_BOOTTIME */
	__u64 python_state;    /* its PyThreadState; 0: none is known */
	__u64 system_call;     /* its number, or NO_SYSTEM_CALL; of a thread on a CPU the latest one, maybe over */
	__u64 argument[6];     /* of it */
	__u32 state;
	__u8 taken; /* by the program: the rest is valid */
	__u8 on_cpu;
	__u8 frozen; /* in a frozen cgroup, of version 2: state does not tell */
	__u8 pad;
	char comm[LOOK_COMM_SIZE];
	struct stack_record stack; /* .owner and .pid are the reader's to fill in */
	__u8 copy[STACK_COPY_MAX + LOOK_COPY_SPARE];
};

#endif
