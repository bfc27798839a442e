/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A process: its slot, and what of it lives as long as it does. */
#ifndef GPUPROBE_STATE_PROCESS_H
#define GPUPROBE_STATE_PROCESS_H

#include <linux/types.h>

#define COMM_SIZE 16
#define FREED_KEPT 32	 /* latest frees that a process remembers, see process_record */
#define OTHER_DEVICES 16 /* whose launches are told apart where kernels have no counters; one more is for all others */

/* A process is a slot in the array `processes`, from first sight until userspace has read its end. */
enum process_state {
	PROCESS_FREE = 0,
	PROCESS_LIVE,
	PROCESS_ENDED, /* exited, or replaced by exec */
};

struct process_record {
	__u32 state;	     /* enum process_state */
	__s32 pid;	     /* in gpuprobe's pid namespace */
	__u32 tgid;	     /* in the initial one */
	__s32 parent;	     /* in gpuprobe's; 0: not in it. As at first sight */
	__u32 uid;	     /* the real user, in the initial user namespace */
	__s32 namespace_pid; /* in the process's own pid namespace */
	__u32 threads;	     /* that have called and have not left: the end can be read when none has */
	__u32 users;	     /* processes with its memory that have called and have not ended: CLONE_VM without CLONE_THREAD */
	__s32 sharer;	     /* the latest of these that is not `pid`, in gpuprobe's pid namespace; 0: there was none */
	__u32 generation;    /* module and library unloads so far: part of every kernel's key */
	__u64 start_ns;
	__u64 seen_ns;
	__u64 ended_ns;
	__u64 epoch;	   /* waits and event records begun so far */
	__u64 waits;	   /* waits ended so far */
	__u64 host_levels; /* see struct range_key: levels at which host memory was recorded */
	__u64 device_levels;
	__u64 host_ranges; /* how often host memory was recorded */
	__u32 freed_next;  /* frees so far; the latest are in freed[] */
	__u32 captures;	   /* in progress: launches look their stream up only then */
	__u32 late;	   /* set by userspace: calls before some moment were not seen */
	__u32 node_doubts; /* see struct graph_record */
	__u32 unified;	   /* copies were seen whose addresses must tell their direction */
	__s32 sticky_code; /* the first failure that CUDA says no call recovers from; 0: none */
	__u64 sticky_ns;
	__u64 sticky_failures;	 /* later calls that failed with that code too */
	__u64 after_sticky;	 /* later calls that did not; of launches only those looked at */
	char comm[COMM_SIZE];	 /* of the leader, at first sight; then at the end */
	__u64 freed[FREED_KEPT]; /* addresses of device memory, for the report */
	__u64 aside[FREED_KEPT]; /* of the rest: address or handle, enum space in the upper 8 bits */
	__u32 aside_next;	 /* as freed_next */
	__u8 driver;		 /* the driver library that it called first, as SITE_DRIVER_SHIFT has it; 0: none yet */
	__u8 calls_drivers;	 /* it has called more than one */
	__u8 shim, behind_shim;	 /* the first of these was seen to call the second; 0: none was */
	__u32 notice_bytes;	 /* of its notices in the ring that have not been taken in */
	/* Its entries in maps that all processes share, see bpf/process/share.bpf.h */
	__u32 kernel_keys, failure_keys, tally_keys;
	__u32 live_keys, live_granted;
	__u32 lost_notices; /* beyond its share of the ring */
	/* What had no entries: with these all sums are exact. */
	__u64 other_launches[OTHER_DEVICES + 1][2]; /* by device, the last of any other; [1] captured */
	__u64 other_failures;
	__u64 other_calls, other_call_failures, other_call_ns;
	__u32 orders;	    /* ORDERS_* */
	__u32 order_count;  /* its struct stream_orders */
	__u32 deaths;	    /* contexts that ended so far, with what lived in them */
	__u32 called;	    /* a thread of it has called; else it was adopted, see bpf/process/process.bpf.h */
	__u32 step_records; /* its threads that have one */
};

/* What `process_of` holds by tgid. */
struct process_binding {
	__u32 slot;
};

#endif
