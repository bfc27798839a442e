/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A thread and its calls in progress. */
#ifndef GPUPROBE_STATE_THREAD_H
#define GPUPROBE_STATE_THREAD_H

#include "gpuprobe/state/streams.h"

#define CALL_DEPTH 8	   /* watched calls nested in one thread */
#define CONTEXT_DEPTH 8	   /* contexts pushed in one thread */
#define DURATIONS_KNOWN 32 /* functions whose histogram a thread finds without a look-up */
#define NO_COUNTER_SLOT (~0u)
#define PAGEABLE_KNOWN 8 /* addresses of pageable memory that a thread remembers; a power of two */

/* A device by the number that its process knows it by, as the API has it. */
#define DEVICE_UNKNOWN 0xff

/* A call that enters where two links are, and that the first of them has counted, see bpf/process/confined.bpf.h. */
struct taken_call {
	__u64 sp; /* at entry; 0: none */
	__u32 row;
	__u32 pad;
};

/* A call whose return is not followed, see bpf/call/switch.bpf.h. */
struct unfollowed_call {
	__u64 sp;     /* at entry */
	__u64 caller; /* its return address, which stands there until it returns */
	__u16 row;
	__u8 operation;
	__u8 driver; /* the library that it is in, as SITE_DRIVER_SHIFT has it */
	__u8 pad[4];
};

/* A thread's unfollowed calls that no other one makes: so many coroutines at a time are told apart. */
#define UNFOLLOWED_CALLS 4 /* a power of two */

struct unfollowed_calls {
	struct unfollowed_call calls[UNFOLLOWED_CALLS]; /* .sp 0: none */
	__u32 next;
	__u32 pad;
};

/* A watched call in progress in a thread, from its entry to its return. */
struct call {
	__u64 sp; /* at entry; the frame is gone once the stack pointer is above it */
	__u64 start_ns;
	__u64 end_ns;	   /* once it has returned; less the time for which gpuprobe held the process in it */
	__u64 arg[4];	   /* by operation, see the family files */
	__u64 function;	   /* its address */
	__u64 caller;	   /* the return address; with copies of stacks alone */
	__u64 stack;	   /* id of where it was made, at its return; 0: not taken */
	__u64 freed_stack; /* of an OP_FREE: the id in the record that it took */
	__u64 from, to;	   /* with a profile, of a copy of one range between host and device; else `from` is 0 */
	__u64 version;	   /* of such a copy: see struct repeat_record */
	__u16 row;
	__u8 operation;
	__u8 kind;
	__u8 flag;   /* by operation */
	__u8 device; /* on which it acts, or DEVICE_UNKNOWN */
	union {
		__u16 extra; /* by operation */
		__u8 named;  /* the device whose context the call makes or ends, or DEVICE_UNKNOWN */
	};
	__u8 site;	 /* enum site_kind, what it counts as where it was made; SITE_KINDS: as nothing */
	__u8 marked;	 /* OBJECT_* of what is made; with a profile, by operation: see bpf/profile/work.bpf.h */
	__u8 unfollowed; /* its return is not seen: counted at its entry */
	__u8 driver;	 /* the library that it is in, as SITE_DRIVER_SHIFT has it */
	__u32 place;	 /* its thread's */
	__u64 noted;	 /* as `marked` */
};

/* An address of memory that is the program's own, not pinned, as long as the version is that: see bpf/copy/sides.bpf.h. */
struct pageable_address {
	__u64 address;
	__u64 version;
};

/* Work of the stream of epochs below `epoch` is done: what that proves of other streams is yet to be looked at. */
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
	__u64 seen_ns; /* of the process that had the slot when the thread joined it */
	__u32 depth;   /* calls in use */
	__u32 context_depth;
	__u64 context[CONTEXT_DEPTH]; /* the last in use is current; 0 is unknown */
	__u8 device[CONTEXT_DEPTH];   /* of these; the process's own numbers, or DEVICE_UNKNOWN */
	/* number of its struct thread_counts and struct thread_profile plus 1; 0: none yet; NO_COUNTER_SLOT: all were taken */
	__u32 place;
	__u32 rate;			  /* as `place`, of its struct thread_rate */
	__u32 steps;			  /* as `place`, of its struct step_record */
	__u32 submissions;		  /* until it has that */
	__u32 durations[DURATIONS_KNOWN]; /* by row: the row << 16, and the number of its struct duration_record plus 1 */
	struct pageable_address pageable[PAGEABLE_KNOWN];
	struct unfollowed_calls unfollowed;
	struct taken_call taken;
	struct call calls[CALL_DEPTH]; /* followed, all on one stack */
	/* While the end of a wait is looked at, bpf/wait/order.bpf.h */
	__u32 proof_count;
	__u32 pad;
	struct stream_proof proofs[STREAM_PROOFS];
};

#endif
