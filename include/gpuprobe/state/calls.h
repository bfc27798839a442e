/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of calls and of failures. */
#ifndef GPUPROBE_STATE_CALLS_H
#define GPUPROBE_STATE_CALLS_H

#include <linux/types.h>

#define FAILURES_KEPT 512 /* (function, code) counters per process: programs have a few */
#define TALLIES_KEPT 8192 /* call counters per process: programs have some hundred */

/* Calls of one function by one process on one device, kept apart by kind. */
#define TALLY_UNTRACKED 0x01 /* allocations without a record (no address, or no room) */
/* allocations whose free was missed: the same address was allocated again */
#define TALLY_REPLACED 0x02
#define TALLY_SAMPLED 0x04   /* launches whose return was sampled */
#define TALLY_NOT_READY 0x08 /* queries that returned "not ready" */
#define TALLY_CAPTURED 0x10  /* captured into a graph, not executed */
#define TALLY_PINNED 0x20    /* copies whose host side is pinned */
#define TALLY_PAGEABLE 0x40  /* copies whose host side is pageable */
/*
 * Asynchronous copies covered by a wait; not tied to one function. ns runs from the issue of the
 * oldest copy of a segment to the end of the wait. Each segment counts once.
 */
#define TALLY_COVERED 0x80
#define TALLY_FIRST 0x100	 /* the first launch of each kernel, which may load its module */
#define TALLY_IN_LAUNCH 0x200	 /* loads that a launch caused */
#define TALLY_WITH_CONTEXT 0x400 /* ended with their context, not by a call */
/* among calls that change contexts: those that made or ended one */
#define TALLY_OBJECT 0x800
#define TALLY_REFERENCE 0x1000 /* only changed a reference count: the memory lives on */
#define TALLY_DOUBLE 0x2000    /* frees of memory that had been freed before */
#define TALLY_ENDED 0x4000     /* objects that a call ended, counted apart from the call itself */
/* counted at entry from the arguments: result and duration are unknown */
#define TALLY_UNFOLLOWED 0x8000

#define ROW_NONE 0xffff /* tallies not tied to a function: see their flags */

struct tally_key {
	__u16 slot;
	__u16 row;
	__u16 flags; /* TALLY_* */
	__u8 kind;
	__u8 device; /* or DEVICE_UNKNOWN */
};

struct tally {
	__u64 calls; /* successful */
	__u64 failures;
	__u64 bytes;	/* of successful calls, modulo 2^64 */
	__u64 ns;	/* inside successful calls */
	__u64 other_ns; /* inside calls that failed, or had not returned when their thread ended */
	__u64 carries;	/* times that `bytes` wrapped around */
};

struct failure_key {
	__u32 slot;
	__s32 code;
	__u16 row;
	__u16 sampled;
	__u32 pad;
};

struct failure_record {
	__u64 count;
	__u64 first_ns;
	__u64 last_ns;
};

#endif
