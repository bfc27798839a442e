/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call stacks, as BPF programs take them (bpf/stack/stack.bpf.h) and userspace names
 * them (src/stack/).
 *
 * A stack has an id, a hash of what tells it from others of its process. What
 * it consists of goes to userspace once, when the id is first seen, in a
 * struct stack_record through the ring `stack_ring`; everything else refers to
 * the id alone.
 *
 * Those of the caller of a CUDA function are as they are once the call has
 * returned, whether taken at its entry or at its return: registers.ip is the
 * return address, registers.sp lies above it. Those of followed threads
 * (gpuprobe/host.h) are wherever the thread is: STACK_INTERRUPTED.
 */
#ifndef GPUPROBE_STACK_H
#define GPUPROBE_STACK_H

#include <linux/types.h>

#include "gpuprobe/python.h"

#define STACK_FRAMES_MAX 127 /* what the kernel walks at most (kernel.perf_event_max_stack) */
#define STACK_COPY_MAX 32768 /* bytes */
#define STACK_CALLERS 8

enum stack_mode {
	STACK_OFF = 0,
	STACK_FP,    /* frame pointers, walked by the kernel */
	STACK_DWARF, /* registers and a copy of the stack, unwound in userspace */
	STACK_AUTO,  /* frame pointers where they lead to the stack's beginning, else as STACK_DWARF */
};

struct stack_registers {
	__u64 ip, sp, bp, bx, r12, r13, r14, r15;
};

/* A call in progress: the kernel has put its trampoline in place of its return address. */
struct stack_caller {
	__u64 place;   /* where on the stack the return address is */
	__u64 address; /* what was there */
};

#define STACK_CUT 0x01	       /* native[] may go on: the kernel's limit was reached */
#define STACK_INTERRUPTED 0x02 /* registers.ip is of an instruction that is to be executed, no return address */

struct stack_record {
	__u64 id;
	__u64 chain;	    /* a hash of native[] and the process, with STACK_AUTO: see `whole_chains` */
	__u64 start_ns;	    /* of the process, CLOCK_BOOTTIME: with `pid` tells which it is */
	__u64 code_version; /* of executable mappings: another number tells that they have changed */
	__u64 function;	    /* address of the CUDA function, which is in no array below; 0: not known */
	__u32 owner;	    /* number of the process: the monitor's slot, the tracer's number */
	__s32 pid;	    /* in gpuprobe's pid namespace */
	__u32 copied;	    /* bytes of copy[], from registers.sp on; 0: none was taken */
	__u8 natives, pythons, callers;
	__u8 flags; /* STACK_CUT, STACK_INTERRUPTED */
	struct stack_registers registers;
	struct stack_caller caller[STACK_CALLERS];
	__u64 native[STACK_FRAMES_MAX]; /* return addresses by frame pointers, innermost first; a first that is 0 does not count */
	__u64 pad;
	struct python_frame python[PYTHON_FRAMES_MAX + 1]; /* innermost first, see struct python_frame */
	__u8 copy[];
};

/*
 * Where a process may have code, written by userspace, read by BPF to tell
 * return addresses from data in a copy of the stack: a bit for each 2 MiB that
 * have executable mappings, by a hash of their number. Too many bits cost
 * time alone: one call site may then have several ids.
 */
#define CODE_MAP_BITS 65536
#define CODE_MAP_SHIFT 21

struct code_map {
	__u64 bits[CODE_MAP_BITS / 64];
};

static inline __u32 code_map_bit(__u64 address)
{
	return (__u32)((address >> CODE_MAP_SHIFT) * 0x9e3779b97f4a7c15ull >> 48);
}

/* Calls by what they did and from where. */
enum site_kind {
	SITE_ALLOCATION = 0, /* successful; what: row; amount: bytes */
	SITE_LAUNCH,	     /* what: the kernel's handle, with its generation; calls alone */
	SITE_WAIT,	     /* successful calls of at least config.min_wait_ns; what: row; amount: nanoseconds */
	SITE_FAILURE,	     /* what: row << 32 | code */
	SITE_COPY,	     /* successful asynchronous copies and sets that were executed; what: row; amount: nanoseconds */
	SITE_KINDS,
};

struct call_site_key {
	__u64 stack; /* id; 0: it could not be taken */
	__u64 what;
	__u32 generation; /* of SITE_LAUNCH */
	__u16 slot;
	__u8 kind; /* enum site_kind */
	__u8 pad;
};

struct call_site_record {
	__u64 calls;
	__u64 amount;
};

/*
 * Launches of one kernel from one place, as told by the return address and how
 * deep the stack is: a stack is taken of the first and of one in
 * config.stack_sample after it, and stands for those since the one before.
 * Which launches those are is drawn by lot: a step often has a multiple of 64
 * launches, and by turns each stack would be that of the same one.
 */
struct launch_site_key {
	__u64 handle;
	__u64 caller; /* return address */
	__u64 depth;  /* bytes */
	__u32 slot;
	__u32 generation;
};

struct launch_site_record {
	__u64 launches;
	__u64 reported;  /* of these: those that are in SITE_LAUNCH's */
	__u64 stack; /* latest id: of the rest */
	__u64 next;  /* the launch whose stack is taken next, counted from 0 */
};

#endif
