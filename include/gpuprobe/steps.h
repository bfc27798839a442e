/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Steps: what a thread submits over and over. Each thread that submits work has a record with what it
 * submitted lately, as codes. Userspace finds the period in them and chooses an anchor that comes once in each;
 * from then on BPF ends a step at each anchor and sums up what was in it. Times are CLOCK_BOOTTIME nanoseconds.
 *
 * A record is written by its thread alone, but for `wanted`, `settled` and `helpers`, which are userspace's.
 */
#ifndef GPUPROBE_STEPS_H
#define GPUPROBE_STEPS_H

#include "gpuprobe/profile.h"

#define STEP_RECORDS 64		 /* threads that have one at a time */
#define STEP_RECORDS_EACH 16	 /* of these, those of one process */
#define STEP_FIRST 4		 /* a thread that has submitted so much gets one */
#define STEP_HISTORY 16384	 /* codes that are kept: three periods of 5,000 submissions; a power of two */
#define STEP_STAMP_SHIFT 10	 /* their times are in units of 1,024 ns */
#define STEP_SLOWEST 8		 /* steps that are kept one by one */
#define STEP_HELPERS 6		 /* other threads of the process, whose work is in the steps too */
#define STEP_CONTEXT 16		 /* submissions before one that its context tells */
#define STEP_CLOCKED_LAUNCHES 16 /* without a profile the clock is read at each so many launches */

/*
 * Codes: a launch is the handle of its kernel or executable graph, an address. Others have the highest bit, and
 * below it their operation and what kind of it.
 */
#define STEP_CODE_OTHER (1ull << 63)
#define STEP_CODE_OPERATION_SHIFT 8

static inline __u64 step_code(__u8 operation, __u8 kind)
{
	return STEP_CODE_OTHER | (__u64)operation << STEP_CODE_OPERATION_SHIFT | kind;
}

/*
 * A hash of what came before. Each submission moves the earlier ones 4 bits up, so that the lower 4 * n bits
 * tell of the latest n alone, and all of it of the latest STEP_CONTEXT.
 */
static inline __u64 step_context(__u64 context, __u64 code)
{
	__u64 mixed = code * 0x9e3779b97f4a7c15ull;

	return (context << 4) + (mixed ^ mixed >> 32);
}

/* What comes once in a period: a submission, after those that `before` stands for. */
struct step_anchor {
	__u64 code;
	__u64 before, mask; /* the bits of the context that count */
	__u32 launches;	    /* of the thread in a period; at least 1 */
	__u32 serial;	    /* 0: none */
};

enum step_direction {
	STEP_TO_DEVICE = 0,
	STEP_TO_HOST,
	STEP_ELSEWHERE, /* within a device, between two, in the host; sets are no copies */
	STEP_DIRECTIONS,
};

static inline enum step_direction step_direction_of(__u8 kind)
{
	return kind == COPY_H2D ? STEP_TO_DEVICE : kind == COPY_D2H ? STEP_TO_HOST :
								      STEP_ELSEWHERE;
}

/* What a thread did: since its record began, or in a step. */
struct step_sums {
	__u64 launches; /* of kernels and graphs that are executed */
	__u64 copies[STEP_DIRECTIONS], bytes[STEP_DIRECTIONS];
	__u64 waits;
	__u64 allocations, frees;
	__u64 inside[TIME_CLASSES]; /* time in outermost calls; TIME_LAUNCH with a profile alone */
};

struct slow_step {
	__u64 begin_ns, ns;
	struct step_sums sums;
};

struct step_record {
	/* What each launch looks at, together */
	struct step_anchor wanted; /* userspace's */
	struct step_anchor anchor; /* `wanted`, once it has been taken over */
	__u64 latest_ns;	   /* the clock as read last */
	__u64 count;		   /* submissions so far; the latest is at (count - 1) % STEP_HISTORY */
	__u64 context;		   /* of the next one */
	__u64 settled;		   /* userspace's: not 0: submissions are kept of steps alone that become too long */
	__u64 kept_from;	   /* those before, by `count`, are not all kept */
	struct step_sums totals;

	__u32 slot;
	__s32 tid;	/* in gpuprobe's pid namespace */
	__u64 start_ns; /* of the thread; 0: the record is nobody's */
	__u64 ended_ns; /* 0: it lives */
	char comm[16];
	__u32 helpers[STEP_HELPERS]; /* userspace's: numbers of their records plus 1; 0: none */

	/* Since `anchor` became what is wanted. While `changing` is odd it and `anchor` are being written */
	__u64 changing;
	__u64 from;		     /* `count` when the first step began; 0: none has */
	__u64 begin_ns;		     /* of the step in progress */
	__u64 latest;		     /* `count` then */
	__u32 counted[STEP_HELPERS]; /* `helpers`, as they were then */
	struct step_sums at;	     /* then, its helpers' included */
	__u64 own_launches;	     /* then, of the thread alone */
	__u64 steps, ns, max_ns;
	__u64 first_ns;		       /* the begin of the first */
	__u64 irregular, irregular_ns; /* with more or fewer launches by half, or not seen as a whole: not among `steps` */
	struct step_sums sums;	       /* of `steps` */
	__u64 buckets[TIME_BUCKETS];
	struct slow_step slowest[STEP_SLOWEST]; /* in no order; ns 0: none */

	__u64 codes[STEP_HISTORY];
	__u32 stamps[STEP_HISTORY]; /* lower 32 bits of the time of each, >> STEP_STAMP_SHIFT */
};

#endif
