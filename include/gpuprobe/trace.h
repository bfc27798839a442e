/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the tracer's BPF programs (bpf/trace.bpf.c) and userspace share: the
 * plan that tells what is kept of a function's call, the configuration, and
 * the records of the ring buffer. Times are CLOCK_BOOTTIME nanoseconds.
 *
 * An event is as small as its function needs:
 *
 *   struct trace_event                 40 bytes
 *   plan.words words of 8 bytes        the arguments, raw: the six registers
 *                                      rdi rsi rdx rcx r8 r9, then the stack's
 *                                      slots from sp+8 on
 *   one word                           with TRACE_PLAN_KERNEL: the handle that the
 *                                      driver was given for the launch, or 0
 *   one word                           with stack_mode of struct config: the id of the call's
 *                                      stack (gpuprobe/stack.h), which is in the ring of
 *                                      stacks before the event; 0: it could not be taken
 *   a block for each read at entry     in the order of plan.read[]
 *   a block                            with TRACE_PLAN_ARGS and config.kernel_args
 *   a block for each read at return    in the order of plan.read[]; none in an entry event
 *
 * A block is a __u16 with its length in bytes, or TRACE_UNREADABLE, and then
 * those bytes, without padding. The length of a string is without its NUL; one
 * of more than TRACE_STRING_SIZE is cut. A read through a null pointer, and
 * a read at return of a call that failed, have length 0.
 */
#ifndef GPUPROBE_TRACE_H
#define GPUPROBE_TRACE_H

#include <linux/types.h>

#include "gpuprobe/state.h"

#define TRACE_DEPTH 4	      /* traced calls nested in one thread that are told apart */
#define TRACE_WORDS 16	      /* the most argument words kept */
#define TRACE_READS 8	      /* the most reads of one function */
#define TRACE_STRING_SIZE 256 /* bytes of a string that are shown */
#define TRACE_BLOCK_MAX 256   /* the most bytes of a block; a string that is cut has one more */
#define TRACE_PAYLOAD_MAX 928 /* of all words and blocks of an event; blocks beyond have TRACE_UNREADABLE */
#define TRACE_ARGS_MAX 16     /* kernel arguments shown */
#define TRACE_UNREADABLE 0xffff

enum trace_read_kind {
	TRACE_READ_BYTES = 0, /* `size` bytes */
	TRACE_READ_STRING,    /* up to the NUL, TRACE_STRING_SIZE at most */
	TRACE_READ_POINTED,   /* the string that the pointer there points to */
};

struct trace_read {
	__u8 word;	/* which argument word is the address */
	__u8 kind;	/* enum trace_read_kind */
	__u8 at_return; /* else at entry */
	__u8 pad;
	__u16 size; /* of TRACE_READ_BYTES: 1 to TRACE_BLOCK_MAX */
};

/* What a call of the function returns. */
enum trace_returns {
	TRACE_RETURNS_ERROR = 0, /* cudaError_t or CUresult: other than 0 is a failure, but for NOT_READY (600) */
	TRACE_RETURNS_EARLIER,	 /* an error that an earlier call met: cudaGetLastError */
	TRACE_RETURNS_VALUE,	 /* a number or pointer: the whole register */
	TRACE_RETURNS_NOTHING,
};

#define TRACE_PLAN_KERNEL 0x01 /* a launch: its kernel's handle is words[kernel_word] */
#define TRACE_PLAN_ARGS 0x02   /* it has kernel arguments: words[args_word], or words[extra_word] */
#define TRACE_PLAN_ENDS 0x04   /* kernel handles may mean other kernels after it: an unload */
#define TRACE_PLAN_HIDDEN 0x08 /* probed for its effect alone (TRACE_PLAN_ENDS), not shown */

struct trace_plan {
	__u8 flags;   /* TRACE_PLAN_* */
	__u8 words;   /* kept, 0 to TRACE_WORDS */
	__u8 reads;   /* in use */
	__u8 returns; /* enum trace_returns */
	__u8 kernel_word;
	__u8 args_word;
	__u8 extra_word; /* TRACE_NO_WORD where there is none */
	__u8 layer;	 /* enum layer */
	struct trace_read read[TRACE_READS];
};

#define TRACE_NO_WORD 0xff

struct trace_config {
	__u64 min_duration_ns; /* shorter calls are not told */
	__u64 cgroup;	       /* only tasks in this cgroup or below; 0: all */
	__u64 wake_bytes;      /* userspace is woken when so many wait in the ring */
	__u32 cgroup_level;    /* its depth below the root */
	__u32 uid;
	__u8 by_uid;
	__u8 by_comm;
	__u8 failed;	   /* only calls that failed */
	__u8 nested;	   /* calls within calls too */
	__u8 entry_return; /* two events a call */
	__u8 kernel_args;  /* how many are kept of a launch, 0 to TRACE_ARGS_MAX */
	__u8 pad[2];
	char comm[COMM_SIZE];
};

/*
 * Records of the tracer's ring. In it are as well, as in the monitor's (state.h): RECORD_EXEC and
 * RECORD_LIBRARY; and RECORD_KERNEL_NAME, whose slot is the process's number, before the first event
 * of a launch with that handle in that generation.
 */
enum trace_record_type {
	TRACE_CALL = 64,  /* struct trace_event: a call has returned */
	TRACE_ENTRY,	  /* struct trace_event: a call has begun (config.entry_return) */
	TRACE_UNFINISHED, /* struct trace_event: a call will not return: its thread ended or left it by a jump */
	TRACE_UNFOLLOWED, /* struct trace_event: a call has begun whose return is not followed (bpf/call/switch.bpf.h) */
	TRACE_THREAD,	  /* struct trace_thread_record: who the events with this thread number are of, from here on */
};

/* Its first four bytes are struct record's type. */
struct trace_event {
	__u32 type; /* enum trace_record_type */
	__u16 row;
	__u8 depth;   /* traced calls that enclose it */
	__u8 words;   /* that follow: plan.words */
	__u32 thread; /* TRACE_NOT_TOLD: of TRACE_UNFINISHED, where there was no room in the ring to tell of it */
	__s32 result; /* of TRACE_RETURNS_VALUE the lower half */
	__u64 start_ns;
	__u32 generation;  /* of kernel handles in its process */
	__u32 upper;	   /* half of the result; of no meaning but with TRACE_RETURNS_VALUE */
	__u64 duration_ns; /* 0 in TRACE_ENTRY and TRACE_UNFOLLOWED; of TRACE_UNFINISHED so far */
	__u64 payload[];
};

struct trace_thread_record {
	__u32 type;
	__u32 thread;  /* number: index of `in_progress`; given anew once the thread has ended */
	__u32 process; /* number: not given twice */
	__s32 tid;     /* in gpuprobe's pid namespace, as the next two */
	__s32 pid;
	__s32 parent;
	__u32 uid;	      /* the real user, in the initial user namespace */
	__s32 namespace_pid;  /* in the process's own pid namespace */
	__u64 start_ns;	      /* of the process */
	__u64 image;	      /* gpuprobe/image.h */
	char comm[COMM_SIZE]; /* of the process's leader */
};

/*
 * Losses of calls since the last look, in .bss, mapped: userspace takes them
 * by an atomic exchange. Each lost call counts once under one reason. Losses
 * of another kind, those of stacks among them, are in the map `losses` as in the monitor.
 */
struct trace_lost {
	__u64 count;
	__u64 since_ns; /* the first of them */
};

enum trace_loss {
	TRACE_LOST_RING = 0, /* no room in the ring */
	TRACE_LOST_THREAD,   /* no storage or number for the thread */
	TRACE_LOST_DEPTH,    /* nested deeper than TRACE_DEPTH */
	TRACE_LOST_RETURN,   /* --entry-return: the second event of a call whose first was told: no lost call */
	/* No lost calls; from `losses`, where bpf/stack/stack.bpf.h counts them. */
	TRACE_LOST_STACK,	 /* no room in the ring of stacks */
	TRACE_LOST_STACK_MEMORY, /* no memory to take it in */
	TRACE_LOSSES,
};

/*
 * `in_progress[thread]`, mapped: when the thread's outermost call in progress
 * began; TRACE_ENTERING while that is being found out; 0 where it is in none.
 * With config.entry_return only while an event is being written. A call not on
 * record there has its event in the ring already.
 */
#define TRACE_ENTERING 1
#define TRACE_THREADS 65536
#define TRACE_NOT_TOLD 0xffffffffu /* its number may be known as that of a thread which has ended */

/* The latest call of a thread that has made any, of those that are within no other. */
struct trace_latest {
	__s32 tid; /* in gpuprobe's pid namespace */
	__u32 pad;
	__u64 start_ns; /* also of a call that was not told, by --failed or --min-duration */
};

#endif
