/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Call stacks, as BPF programs take them (bpf/stack/stack.bpf.h) and userspace names them
 * (src/stack/).
 *
 * A stack has an id, a hash of the properties that distinguish it within its process. When an id is
 * new, BPF sends the content once, in a struct stack_record through the ring `stack_ring`.
 * Everything else refers to the id.
 *
 * A stack of a CUDA call describes the caller after the return, whether it was taken at entry or at
 * return: registers.ip is the return address, registers.sp lies above it. A stack of a followed
 * thread (gpuprobe/host.h) describes wherever the thread is: STACK_INTERRUPTED.
 */
#ifndef GPUPROBE_STACK_H
#define GPUPROBE_STACK_H

#include <linux/types.h>

#include "gpuprobe/python.h"

#define STACK_FRAMES_MAX 127 /* the kernel's maximum (kernel.perf_event_max_stack) */
#define STACK_COPY_MAX 32768 /* bytes */
#define STACK_CALLERS 8

enum stack_mode {
	STACK_OFF = 0,
	STACK_FP,    /* frame pointers, walked by the kernel */
	STACK_DWARF, /* registers and a copy of the stack, unwound in userspace */
	/* frame pointers if they reach the bottom of the stack, otherwise as STACK_DWARF */
	STACK_AUTO,
};

struct stack_registers {
	__u64 ip, sp, bp, bx, r12, r13, r14, r15;
};

/* A call in progress whose return address the kernel replaced by its trampoline. */
struct stack_caller {
	__u64 stack_address; /* stack address of the return address */
	__u64 address;	     /* the original return address */
};

#define STACK_CUT 0x01	       /* native[] may be incomplete: the kernel's limit was reached */
#define STACK_INTERRUPTED 0x02 /* registers.ip is the next instruction, not a return address */
#define STACK_PYTHON 0x04      /* Python frames alone: no native frame was looked for */

struct stack_record {
	__u64 id;
	__u64 chain; /* STACK_AUTO: a hash of native[] and the process, see `whole_chains` */
	/* start of the process, CLOCK_BOOTTIME; with `pid` it identifies the process */
	__u64 start_ns;
	/* version of the executable mappings: it differs once they have changed */
	__u64 code_version;
	/* address of the CUDA function, which no array below contains; 0: unknown */
	__u64 function;
	__u32 owner;  /* process number: the monitor's slot or the tracer's number */
	__s32 pid;    /* in gpuprobe's pid namespace */
	__u32 copied; /* bytes in copy[], from registers.sp on; 0: no copy */
	__u8 natives, pythons, callers;
	__u8 flags; /* STACK_CUT, STACK_INTERRUPTED */
	struct stack_registers registers;
	struct stack_caller caller[STACK_CALLERS];
	/* return addresses by frame pointers, innermost first; ignore the first if it is 0 */
	__u64 native[STACK_FRAMES_MAX];
	__u64 pad;
	/* innermost first, see struct python_frame */
	struct python_frame python[PYTHON_FRAMES_MAX + 1];
	__u8 copy[];
};

/*
 * Where a process may have code. Userspace writes it; BPF uses it to tell return addresses from
 * data in a copied stack. Each 2 MiB block with executable mappings sets one bit, by a hash of the
 * block number. Extra bits cost only time: one call site may then get several ids.
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

/* Call sites by what the call did. */
enum site_kind {
	SITE_ALLOCATION = 0, /* successful; what: row; amount: bytes */
	/* `what`: the kernel's handle, with its generation; only `calls` is counted */
	SITE_LAUNCH,
	/* successful calls of at least config.min_wait_ns; what: row; amount: nanoseconds */
	SITE_WAIT,
	SITE_FAILURE, /* what: row << 32 | code */
	/*
	 * successful asynchronous copies and sets that were executed; what: row; amount:
	 * nanoseconds
	 */
	SITE_COPY,
	SITE_OBJECT, /* successful calls that create an object other than memory; what: row */
	SITE_KINDS,
};

struct call_site_key {
	__u64 stack; /* stack id; 0: it could not be taken */
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
 * Launches of one kernel from one call site, identified by return address and stack depth. A stack
 * is taken of the first launch and then of one in config.stack_sample; it stands for the launches
 * since the previous one. The sampled launch is chosen at random: a step often has a multiple of 64
 * launches, so a fixed interval would always sample the same launch.
 */
struct launch_site_key {
	__u64 handle;
	__u64 caller; /* return address */
	__u64 depth;  /* in bytes */
	__u32 slot;
	__u32 generation;
};

struct launch_site_record {
	__u64 launches;
	__u64 reported; /* launches that SITE_LAUNCH counts include already */
	__u64 stack;	/* latest stack id, used for the rest */
	__u64 next;	/* number of the launch whose stack is taken next, counted from 0 */
};

#endif
