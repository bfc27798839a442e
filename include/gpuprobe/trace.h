/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the tracer's BPF programs (bpf/trace.bpf.c) and userspace: the plan that says what to
 * keep of a function's call, the configuration, and the ring buffer records. Times are
 * CLOCK_BOOTTIME nanoseconds.
 *
 * An event is as small as its function allows:
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
 * A block is a __u16 with its length in bytes, or TRACE_UNREADABLE, followed by those bytes without
 * padding. The length of a string excludes its NUL; strings longer than TRACE_STRING_SIZE are
 * truncated. A read through a null pointer, and a read at return of a failed call, has length 0.
 */
#ifndef GPUPROBE_TRACE_H
#define GPUPROBE_TRACE_H

#include <linux/types.h>

#include "gpuprobe/nvtx.h"
#include "gpuprobe/state.h"

#define TRACE_DEPTH 4	      /* nested traced calls of one thread that are followed */
#define TRACE_WORDS 22	      /* most argument words kept: six, and the id of ncclCommInitRank */
#define TRACE_READS 8	      /* most reads of one function */
#define TRACE_STRING_SIZE 256 /* bytes of a string that are shown */
#define TRACE_BLOCK_MAX 256   /* most bytes of a block; a truncated string has one more */
/* of all words and blocks of an event; further blocks are TRACE_UNREADABLE */
#define TRACE_PAYLOAD_MAX 928
#define TRACE_ARGS_MAX 16 /* kernel arguments shown */
#define TRACE_UNREADABLE 0xffff

enum trace_read_kind {
	TRACE_READ_BYTES = 0, /* `size` bytes */
	TRACE_READ_STRING,    /* up to the NUL, at most TRACE_STRING_SIZE bytes */
	TRACE_READ_POINTED,   /* the string that the pointer at this address points to */
};

struct trace_read {
	__u8 word;	/* the argument word that holds the address */
	__u8 kind;	/* enum trace_read_kind */
	__u8 at_return; /* otherwise at entry */
	__u8 pad;
	__u16 size; /* of TRACE_READ_BYTES: 1 to TRACE_BLOCK_MAX */
};

/* What a call of the function returns. */
enum trace_returns {
	/* cudaError_t or CUresult: any value but 0 and NOT_READY (600) is a failure */
	TRACE_RETURNS_ERROR = 0,
	TRACE_RETURNS_EARLIER, /* the error of an earlier call: cudaGetLastError */
	TRACE_RETURNS_VALUE,   /* a number or pointer: the whole register */
	TRACE_RETURNS_NOTHING,
	/* ncclResult_t: any value but 0 and TRACE_NCCL_IN_PROGRESS is a failure */
	TRACE_RETURNS_NCCL,
};

#define TRACE_NCCL_IN_PROGRESS 7

#define TRACE_PLAN_KERNEL 0x01 /* a launch: its kernel's handle is words[kernel_word] */
#define TRACE_PLAN_ARGS 0x02   /* has kernel arguments: words[args_word] or words[extra_word] */
#define TRACE_PLAN_ENDS 0x04   /* kernel handles may refer to other kernels afterwards: an unload */
#define TRACE_PLAN_HIDDEN 0x08 /* probed only for its effect (TRACE_PLAN_ENDS), not shown */

struct trace_plan {
	__u8 flags;   /* TRACE_PLAN_* */
	__u8 words;   /* kept, 0 to TRACE_WORDS */
	__u8 reads;   /* in use */
	__u8 returns; /* enum trace_returns */
	__u8 kernel_word;
	__u8 args_word;
	__u8 extra_word; /* TRACE_NO_WORD: none */
	__u8 layer;	 /* enum layer */
	struct trace_read read[TRACE_READS];
};

#define TRACE_NO_WORD 0xff

struct trace_config {
	__u64 min_duration_ns; /* shorter calls are not reported */
	__u64 cgroup;	       /* only tasks in this cgroup or below; 0: all tasks */
	__u64 wake_bytes;      /* wake userspace when this many bytes are in the ring */
	__u32 cgroup_level;    /* the cgroup's depth below the root */
	__u32 uid;
	__u8 by_uid;
	__u8 by_comm;
	__u8 failed;	   /* only calls that failed */
	__u8 nested;	   /* nested calls too */
	__u8 entry_return; /* two events a call */
	__u8 kernel_args;  /* arguments kept per launch, 0 to TRACE_ARGS_MAX */
	__u8 pad[2];
	char comm[COMM_SIZE];
};

/*
 * Records of the tracer's ring. It also has RECORD_EXEC and RECORD_LIBRARY as in the monitor's ring
 * (state.h), and RECORD_KERNEL_NAME, whose slot is the process's number, before the first event of
 * a launch with that handle in that generation.
 */
enum trace_record_type {
	TRACE_CALL = 64, /* struct trace_event: a call has returned */
	TRACE_ENTRY,	 /* struct trace_event: a call has begun (config.entry_return) */
	/* struct trace_event: a call will not return: its thread ended or left it by a jump */
	TRACE_UNFINISHED,
	/* struct trace_event: a call began whose return is not followed (bpf/call/switch.bpf.h) */
	TRACE_UNFOLLOWED,
	/*
	 * struct trace_thread_record: describes the thread of all later events with this thread
	 * number
	 */
	TRACE_THREAD,
	TRACE_RANGE, /* struct trace_event: an NVTX range begins or ends, or a mark */
};

/* The first four bytes match struct record's type. */
struct trace_event {
	__u32 type; /* enum trace_record_type */
	__u16 row;
	__u8 depth; /* traced calls around it */
	__u8 words; /* that follow: plan.words */
	/* TRACE_NOT_TOLD: in TRACE_UNFINISHED, if the thread's record did not fit in the ring */
	__u32 thread;
	__s32 result; /* lower half with TRACE_RETURNS_VALUE */
	__u64 start_ns;
	__u32 generation; /* generation of kernel handles in its process */
	__u32 upper;	  /* upper half of the result; only valid with TRACE_RETURNS_VALUE */
	/* 0 in TRACE_ENTRY and TRACE_UNFOLLOWED; the time so far in TRACE_UNFINISHED */
	__u64 duration_ns;
	__u64 payload[];
};

/*
 * The payload of a TRACE_RANGE event, which has no words and no result. `row` is enum
 * nvtx_function, `start_ns` the time, and `duration_ns` that of the range that ends; 0: it has not
 * begun, as far as is known.
 */
struct trace_range {
	__u64 id;	     /* of NVTX_START and NVTX_END */
	__u64 domain_length; /* `text` is "DOMAIN: MESSAGE"; 0: a message alone */
	char text[NVTX_NAME_SIZE];
	char payload[NVTX_PAYLOAD_SIZE]; /* "" if there is none */
};

struct trace_thread_record {
	__u32 type;
	__u32 thread;  /* index in `in_progress`; reused once the thread has ended */
	__u32 process; /* process number, never reused */
	__s32 tid;     /* in gpuprobe's pid namespace, as the next two */
	__s32 pid;
	__s32 parent;
	__u32 uid;	      /* the real user, in the initial user namespace */
	__s32 namespace_tid;  /* in the process's own pid namespace */
	__u64 start_ns;	      /* start of the process */
	__u64 image;	      /* gpuprobe/image.h */
	char comm[COMM_SIZE]; /* of the process's leader */
};

/*
 * Lost calls since userspace last looked. In .bss, mapped; userspace takes them by an atomic
 * exchange. Each lost call counts under one reason. Other losses, such as those of stacks, are in
 * the map `losses` as in the monitor.
 */
struct trace_lost {
	__u64 count;
	__u64 since_ns; /* time of the first of them */
};

enum trace_loss {
	TRACE_LOST_RING = 0, /* no room in the ring */
	TRACE_LOST_THREAD,   /* no storage or number for the thread */
	TRACE_LOST_DEPTH,    /* nested deeper than TRACE_DEPTH */
	/*
	 * --entry-return: no room for the return event of a call whose entry event was sent; not a
	 * lost call
	 */
	TRACE_LOST_RETURN,
	/* Not lost calls: taken from `losses`, where bpf/stack/stack.bpf.h counts them. */
	TRACE_LOST_STACK,	 /* no room in the ring of stacks */
	TRACE_LOST_STACK_MEMORY, /* no memory to receive it */
	/* Lines of NVTX ranges: no room in the ring, or for what is open. Not lost calls. */
	TRACE_LOST_RANGE,
	TRACE_LOSSES,
};

/*
 * `in_progress[thread]`, mapped: when the thread's outermost call in progress began.
 * TRACE_ENTERING: that time is being determined. 0: the thread is in no call. With
 * config.entry_return it is set only while an event is being written. If a call is not recorded
 * there, its event is already in the ring.
 */
#define TRACE_ENTERING 1
#define TRACE_THREADS 65536
/* the number may still be known as that of a thread that has ended */
#define TRACE_NOT_TOLD 0xffffffffu

/* The latest outermost call of a thread. */
struct trace_latest {
	__s32 tid; /* in gpuprobe's pid namespace */
	__u32 pad;
	__u64 start_ns; /* includes calls not reported because of --failed or --min-duration */
};

#endif
