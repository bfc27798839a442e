/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps: work that a thread submits repeatedly. Each submitting thread has a record of its latest
 * submissions, as codes. Userspace finds their period and chooses an anchor that occurs once in
 * each. From then on BPF ends a step at each anchor and sums up its contents. Times are
 * CLOCK_BOOTTIME nanoseconds.
 *
 * Only its own thread writes a record, except `wanted`, `settled` and `helpers`, which userspace
 * writes.
 */
#ifndef GPUPROBE_STEPS_H
#define GPUPROBE_STEPS_H

#include "gpuprobe/profile.h"

#define STEP_RECORDS 64	     /* threads with a record at a time */
#define STEP_RECORDS_EACH 16 /* of these, threads of one process */
#define STEP_FIRST 4	     /* a thread gets a record after this many submissions */
#define STEP_HISTORY 16384   /* codes kept: three periods of 5,000 submissions; a power of two */
#define STEP_STAMP_SHIFT 10  /* stamps are in units of 1,024 ns */
#define STEP_SLOWEST 8	     /* steps kept individually */
#define STEP_HELPERS 6	     /* other threads of the process whose work counts in the steps */
#define STEP_CONTEXT 16	     /* preceding submissions that the context identifies */
/* without a profile the clock is read at every this many launches */
#define STEP_CLOCKED_LAUNCHES 16

/*
 * Codes: a launch's code is the address of its kernel handle or executable graph. Other codes have
 * the highest bit set, and below it the operation and its kind.
 */
#define STEP_CODE_OTHER (1ull << 63)
#define STEP_CODE_OPERATION_SHIFT 8

static inline __u64 step_code(__u8 operation, __u8 kind)
{
	return STEP_CODE_OTHER | (__u64)operation << STEP_CODE_OPERATION_SHIFT | kind;
}

/*
 * A hash of the preceding submissions. Each submission shifts it by 4 bits, so the lower 4 * n bits
 * depend on the latest n only, and the whole on the latest STEP_CONTEXT.
 */
static inline __u64 step_context(__u64 context, __u64 code)
{
	__u64 mixed = code * 0x9e3779b97f4a7c15ull;

	return (context << 4) + (mixed ^ mixed >> 32);
}

/* A submission that occurs once per period, identified by its code and the context before it. */
struct step_anchor {
	__u64 code;
	__u64 before, mask; /* the bits of the context to compare */
	__u32 launches;	    /* the thread's launches per period; at least 1 */
	__u32 serial;	    /* 0: none */
};

enum step_direction {
	STEP_TO_DEVICE = 0,
	STEP_TO_HOST,
	STEP_ELSEWHERE, /* within a device, between two, within the host; sets are not copies */
	STEP_DIRECTIONS,
};

static inline enum step_direction step_direction_of(__u8 kind)
{
	return kind == COPY_H2D ? STEP_TO_DEVICE : kind == COPY_D2H ? STEP_TO_HOST : STEP_ELSEWHERE;
}

/* A thread's work, since its record began or within a step. */
struct step_sums {
	__u64 launches; /* executed launches of kernels and graphs */
	__u64 copies[STEP_DIRECTIONS], bytes[STEP_DIRECTIONS];
	__u64 waits;
	__u64 allocations, frees;
	__u64 inside[TIME_CLASSES]; /* time in outermost calls; TIME_LAUNCH only with a profile */
};

struct slow_step {
	__u64 begin_ns, ns;
	struct step_sums sums;
};

struct step_record {
	/* Fields that each launch reads, kept together */
	struct step_anchor wanted; /* written by userspace */
	struct step_anchor anchor; /* copy of `wanted` that BPF has adopted */
	__u64 latest_ns;	   /* the clock when last read */
	/* submissions so far; the latest is at (count - 1) % STEP_HISTORY */
	__u64 count;
	__u64 context; /* context of the next submission */
	/* written by userspace; not 0: only record submissions of steps that become too long */
	__u64 settled;
	__u64 kept_from; /* submissions before this `count` are not all kept */
	struct step_sums totals;

	__u32 slot;
	__s32 tid;	/* in gpuprobe's pid namespace */
	__u64 start_ns; /* start of the thread; 0: the record is free */
	__u64 ended_ns; /* 0: alive */
	char comm[16];
	/* written by userspace: indexes of their records plus 1; 0: none */
	__u32 helpers[STEP_HELPERS];

	/*
	 * Since `anchor` was adopted. `changing` is odd while this and `anchor` are being written
	 */
	__u64 changing;
	__u64 from;		     /* `count` when the first step began; 0: none has */
	__u64 begin_ns;		     /* start of the step in progress */
	__u64 latest;		     /* `count` at that time */
	__u32 counted[STEP_HELPERS]; /* `helpers` at that time */
	struct step_sums at;	     /* sums at that time, helpers included */
	__u64 own_launches;	     /* launches of this thread alone at that time */
	__u64 steps, ns, max_ns;
	__u64 first_ns; /* start of the first */
	/*
	 * steps whose launches differ from the period's by more than half, or that were not fully
	 * seen; excluded from `steps`
	 */
	__u64 irregular, irregular_ns;
	struct step_sums sums; /* sums over `steps` */
	__u64 buckets[TIME_BUCKETS];
	struct slow_step slowest[STEP_SLOWEST]; /* unordered; ns 0: none */

	__u64 codes[STEP_HISTORY];
	/* lower 32 bits of each submission's time, >> STEP_STAMP_SHIFT */
	__u32 stamps[STEP_HISTORY];
};

#endif
