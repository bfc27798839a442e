/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process: its slot, and the state that lives as long as it does. */
#ifndef GPUPROBE_STATE_PROCESS_H
#define GPUPROBE_STATE_PROCESS_H

#include <linux/types.h>

#define COMM_SIZE 16
#define FREED_KEPT 32 /* a process's latest frees that are remembered, see process_record */
/*
 * devices with their own launch count when kernels have no counters; one more entry takes all
 * others
 */
#define OTHER_DEVICES 16

/*
 * A process is a slot in the array `processes`, from its first call until userspace has read its
 * end.
 */
enum process_state {
	PROCESS_FREE = 0,
	PROCESS_LIVE,
	PROCESS_ENDED, /* exited, or replaced by exec */
};

struct process_record {
	__u32 state; /* enum process_state */
	__s32 pid;   /* in gpuprobe's pid namespace */
	__u32 tgid;  /* in the initial one */
	/* in gpuprobe's pid namespace, when first seen; 0: not in that namespace */
	__s32 parent;
	__u32 uid;	     /* the real user, in the initial user namespace */
	__s32 namespace_pid; /* in the process's own pid namespace */
	/* threads that have called and not exited; the end can be read once there are none */
	__u32 threads;
	/*
	 * processes that share its memory (CLONE_VM without CLONE_THREAD), have called and not
	 * ended
	 */
	__u32 users;
	/* the latest of these other than `pid`, in gpuprobe's pid namespace; 0: none yet */
	__s32 sharer;
	__u32 generation; /* module and library unloads so far; part of each kernel's key */
	__u64 start_ns;
	__u64 seen_ns;
	__u64 ended_ns;
	/*
	 * An allocation failed then, and frees since are kept, see enum late_free; 0: none of late.
	 * Userspace sets it back.
	 */
	__u64 shortage_ns;
	__u32 shortage_final;  /* it is a framework's verdict */
	__u32 late_frees;      /* since then */
	__u32 late_frees_lost; /* without room */
	__u32 late_frees_pad;
	__u64 epoch;	   /* waits and event records that have begun */
	__u64 waits;	   /* waits that have ended */
	__u64 host_levels; /* levels at which host memory was recorded, see struct range_key */
	__u64 device_levels;
	__u64 host_ranges; /* times that host memory was recorded */
	__u32 freed_next;  /* frees so far; the latest are in freed[] */
	/* captures in progress: launches look up their stream only while there are some */
	__u32 captures;
	__u32 late;	   /* set by userspace: early calls were missed */
	__u32 node_doubts; /* see struct graph_record */
	__u32 unified;	   /* some copies get their direction from their addresses */
	/* first failure with a code that CUDA documents as unrecoverable; 0: none */
	__s32 sticky_code;
	__u64 sticky_ns;
	__u64 sticky_failures; /* later calls that failed with the same code */
	__u64 after_sticky;    /* later calls that did not; sampled launches only */
	char comm[COMM_SIZE];  /* of the leader: when first seen, and again at the end */
	/* recently freed device addresses, for the report and to recognize double frees */
	__u64 freed[FREED_KEPT];
	/* other recent frees: address or handle, enum space in the upper 8 bits */
	__u64 aside[FREED_KEPT];
	__u32 aside_next; /* as freed_next */
	/* first driver library it called, numbered as in SITE_DRIVER_SHIFT; 0: none yet */
	__u8 driver;
	__u8 calls_drivers;	/* it has called more than one driver library */
	__u8 shim, behind_shim; /* `shim` was seen to call `behind_shim`; 0: no such call */
	/* bytes of its notices in the ring that userspace has not consumed */
	__u32 notice_bytes;
	/* Its entries in the maps that all processes share, see bpf/process/share.bpf.h */
	__u32 kernel_keys, failure_keys, tally_keys;
	__u32 live_keys, live_granted;
	__u32 object_keys;
	__u32 object_second, object_stacks; /* see OBJECT_STACKS */
	__u32 lost_notices;		    /* notices beyond its share of the ring */
	/* Calls without a map entry, so that all sums stay exact. */
	__u64 other_launches[OTHER_DEVICES + 1][2]; /* by device, last: others; [1]: captured */
	__u64 other_failures;
	__u64 other_calls, other_call_failures, other_call_ns;
	__u32 orders;	   /* ORDERS_* */
	__u32 order_count; /* its entries of struct stream_orders */
	__u32 deaths;	   /* contexts that have ended, with what lived in them */
	/* one of its threads has called; otherwise it was adopted, see bpf/process/process.bpf.h */
	__u32 called;
	__u32 step_records; /* its threads that have a step record */
};

/* Value of `process_of`, by tgid. */
struct process_binding {
	__u32 slot;
};

#endif
