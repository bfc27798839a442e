/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A thread and its calls in progress. */
#ifndef GPUPROBE_STATE_THREAD_H
#define GPUPROBE_STATE_THREAD_H

#include "gpuprobe/state/streams.h"
#include "gpuprobe/tensor.h"

#define CALL_DEPTH 8 /* nested watched calls per thread */
#define LIBRARY_CALL CALL_DEPTH
#define CONTEXT_DEPTH 8	   /* pushed contexts per thread */
#define DURATIONS_KNOWN 32 /* functions whose histogram a thread finds without a map lookup */
#define NO_COUNTER_SLOT (~0u)
#define PAGEABLE_KNOWN 8 /* pageable addresses that a thread remembers; a power of two */

/*
 * Devices are identified by their number in the process, as in the API. This value stands for an
 * unknown device.
 */
#define DEVICE_UNKNOWN 0xff

/*
 * A call that enters through two links and was counted by the first, see
 * bpf/process/confined.bpf.h.
 */
struct taken_call {
	__u64 sp; /* stack pointer at entry; 0: none */
	__u32 row;
	__u32 pad;
};

/* A call whose return is not probed, see bpf/call/switch.bpf.h. */
struct unfollowed_call {
	__u64 sp;     /* stack pointer at entry */
	__u64 caller; /* its return address, which stays at `sp` until the call returns */
	__u16 row;
	__u8 operation;
	__u8 driver; /* its library, as in SITE_DRIVER_SHIFT */
	__u8 pad[4];
};

/* A thread's outermost unfollowed calls. This many concurrent coroutines are kept apart. */
#define UNFOLLOWED_CALLS 4 /* a power of two */

struct unfollowed_calls {
	struct unfollowed_call calls[UNFOLLOWED_CALLS]; /* .sp 0: none */
	__u32 next;
	__u32 pad;
};

/* A watched call in progress in a thread, from its entry to its return. */
struct call {
	__u64 sp; /* stack pointer at entry; the frame is gone once the stack pointer is above it */
	__u64 start_ns;
	/* set at return; excludes the time for which gpuprobe held the process during the call */
	__u64 end_ns;
	__u64 arg[4];	   /* meaning depends on the operation, see the family files */
	__u64 function;	   /* address of the function */
	__u64 caller;	   /* return address; set only if stacks are copied */
	__u64 stack;	   /* id of the call's stack, taken at its return; 0: not taken */
	__u64 freed_stack; /* OP_FREE: stack id in the allocation record that it removed */
	/* profile only, one-range copy between host and device; otherwise `from` is 0 */
	__u64 from, to;
	__u64 version; /* version of such a copy, see struct repeat_record */
	__u16 row;
	__u8 operation;
	__u8 kind;
	__u8 flag;   /* meaning depends on the operation */
	__u8 device; /* the device it acts on, or DEVICE_UNKNOWN */
	union {
		__u16 extra; /* meaning depends on the operation */
		/* device of the context that the call makes or ends, or DEVICE_UNKNOWN */
		__u8 named;
	};
	/* enum site_kind under which its call site is counted; SITE_KINDS: not counted */
	__u8 site;
	/*
	 * OBJECT_* flags of a new object; with a profile, depends on the operation: see
	 * bpf/profile/work.bpf.h
	 */
	__u8 marked;
	__u8 unfollowed;    /* its return is not probed: counted at entry */
	__u8 driver;	    /* its library, as in SITE_DRIVER_SHIFT */
	__u32 counter_slot; /* as in struct thread */
	__u64 noted;	    /* as `marked` */
};

/* An address known to be pageable while the version stays the same, see bpf/copy/sides.bpf.h. */
struct pageable_address {
	__u64 address;
	__u64 version;
};

/*
 * The stream's work of epochs below `epoch` is done. What this proves of other streams is still to
 * be examined.
 */
struct stream_proof {
	__u64 stream, scope; /* as in stream_key */
	__u64 epoch;
};

#define STREAM_PROOFS 16 /* a power of two */

enum thread_state {
	THREAD_NEW = 0,
	THREAD_WATCHED,
	THREAD_IGNORED,
};

struct thread {
	__u32 state; /* enum thread_state */
	__u32 slot;
	__u64 seen_ns; /* process_record.seen_ns of the slot's process when the thread joined it */
	__u32 depth;   /* entries of `calls` in use */
	__u32 context_depth;
	__u64 context[CONTEXT_DEPTH]; /* the last entry in use is current; 0: unknown */
	/* devices of these contexts, in the process's numbering, or DEVICE_UNKNOWN */
	__u8 device[CONTEXT_DEPTH];
	/*
	 * index of its struct thread_counts and struct thread_profile, plus 1; 0: none yet;
	 * NO_COUNTER_SLOT: none was free
	 */
	__u32 counter_slot;
	__u32 rate;	   /* as `counter_slot`, for struct thread_rate */
	__u32 steps;	   /* as `counter_slot`, for struct step_record */
	__u32 submissions; /* submissions counted until it has a step record */
	/* by row: row << 16 | index of its struct duration_record plus 1 */
	__u32 durations[DURATIONS_KNOWN];
	struct pageable_address pageable[PAGEABLE_KNOWN];
	struct unfollowed_calls unfollowed;
	struct taken_call taken;
	/*
	 * followed calls, all on one stack; the last is that of a library above CUDA, which is none
	 * of `depth`
	 */
	struct call calls[CALL_DEPTH + 1];
	/* the latest allocation that failed for lack of memory and was reported; 0: none */
	__u64 short_ns, short_bytes;
	/* Used while the end of a wait is examined, see bpf/wait/order.bpf.h */
	__u32 proof_count;
	__u32 in_library; /* calls[LIBRARY_CALL] is in progress */
	struct stream_proof proofs[STREAM_PROOFS];
	struct tensor_pace tensors;
	/* Written by nvtx.bpf.c */
	__u64 nvtx_path; /* see struct nvtx_path_key */
	__u64 in_step;	 /* with config.step_range: in such a range */
};

#endif
