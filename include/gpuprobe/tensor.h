/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tensors: pieces of memory that a framework's own allocator hands out, as its static probe points
 * (USDT) report them. The types that bpf/tensor/ and userspace share. Times are CLOCK_BOOTTIME
 * nanoseconds.
 *
 * All counts are exact from the attach on. A free takes effect at its probe point, which comes
 * before the allocator can hand the address out again.
 */
#ifndef GPUPROBE_TENSOR_H
#define GPUPROBE_TENSOR_H

#include <linux/types.h>

#include "gpuprobe/operand.h"

enum tensor_action {
	TENSOR_ALLOCATES = 1,
	TENSOR_FREES,
	TENSOR_EXHAUSTED,     /* no memory for one: the allocator is about to fail */
	TENSOR_SEGMENT_FREED, /* no point: memory that CUDA has taken back, maybe a segment */
};

/* What an operand of a probe point means. */
enum tensor_role {
	TENSOR_POINTER = 0,
	TENSOR_DEVICE,
	TENSOR_BYTES,
	TENSOR_STREAM,
	TENSOR_ALLOCATED, /* bytes in use, of TENSOR_EXHAUSTED */
	TENSOR_RESERVED,  /* bytes in segments */
	TENSOR_ROLES,
};

/* A probe point, in the map `tensor_points` at the number in the site's cookie. */
struct tensor_point {
	struct probe_operand operands[TENSOR_ROLES];
	__u8 action; /* enum tensor_action */
	__u8 pad[7];
};

#define TENSOR_POINTS 1024 /* equal ones share a number */
/* Added to the number in a site's cookie: no row of the API has it (process/confined.bpf.h). */
#define TENSOR_ROW 0x8000

#define TENSOR_DEVICE_UNKNOWN (-1)

struct tensor_key {
	__u64 address;
	__u32 slot;
	__u32 pad;
};

/* A live tensor. */
struct tensor_record {
	__u64 bytes; /* as requested */
	__u64 start_ns;
	__u64 stack;  /* stack id; 0: it was not taken */
	__u64 stream; /* the allocator's stream */
	__s32 device;
	/* as so many tensors it counts at its call site; 0: it is left out, see tensor_pace */
	__u32 weight;
};

/*
 * What happened to a tensor or a segment, in the ring `tensor_ring`, in order; with
 * config.tensor_events.
 */
struct tensor_event {
	__u64 time_ns;
	__u64 address;
	__u64 bytes;	/* as requested; 0: a free of an unknown tensor */
	__u64 stack;	/* of the allocation; 0: unknown */
	__u64 stream;	/* the allocator's, of an allocation */
	__s32 device;	/* the framework's number, or TENSOR_DEVICE_UNKNOWN */
	__s32 pid;	/* in gpuprobe's pid namespace */
	__u64 since_ns; /* of TENSOR_SEGMENT_FREED: when it was allocated */
	__u8 action;	/* enum tensor_action */
	__u8 pad[7];
};

/*
 * Under config.tensor_share a thread takes the stack of one tensor in `every`, at random, and of
 * larger ones more often: of a tensor of twice the mean size twice as often. So a site's counts,
 * with weights, are estimates without bias, and a large tensor hardly ever counts as several.
 */
struct tensor_pace {
	__u64 begin_ns;	  /* of the period */
	__u64 paid_ns;	  /* for stacks in it */
	__u64 debt_ns;	  /* what earlier ones cost too much */
	__u64 made_bytes; /* of late: earlier periods count less and less */
	__u64 mean_bytes; /* of a tensor, when the period began */
	__u32 made;	  /* as made_bytes */
	__u32 every;	  /* 0 and 1: all stacks are taken */
};

#define TENSOR_PERIOD_NS 16000000ull	   /* less if stacks cost far too much */
#define TENSOR_PERIOD_MAX_NS 1000000000ull /* a longer one counts as that */
#define TENSOR_EXCESS 4			   /* "far": this many times what a period may cost */
#define TENSOR_DEBT_PERIODS 16		   /* in which a debt is paid */
#define TENSOR_DEBT_MAX 8		   /* periods; what is beyond is forgiven */
#define TENSOR_PERIODS_MEANT 8		   /* that the mean size is of, about */
#define TENSOR_EVERY_MAX 1024

/* The key of the map `tensor_counts`. */
struct tensor_count_key {
	__u32 slot;
};

struct tensor_device_key {
	__u32 slot;
	__s32 device; /* the framework's number, or TENSOR_DEVICE_UNKNOWN */
};

/* A process's counts on one device. Frees of unknown tensors are with the unknown device. */
struct tensor_device_record {
	__u64 made, made_bytes;
	__u64 freed, freed_bytes; /* of tensors on record */
	__u64 replaced,
		replaced_bytes; /* their free was missed: the address was handed out again */
	__u64 untracked, untracked_bytes; /* part of made: without room for a record */
	__u64 unsampled;		  /* part of made: their call sites were left out */
	__u64 unknown_frees;		  /* of addresses that were not on record */
	__u64 peak_bytes;		  /* the most that was live at once, of tensors on record */
};

/* The same at one call site, that of the allocation; only tensors on record, with weights. */
struct tensor_site_key {
	__u64 stack;
	__u32 slot;
	__u32 pad;
};

struct tensor_site_record {
	__u64 made, made_bytes;
	__u64 freed, freed_bytes; /* with those whose free was missed */
	__u64 peak_bytes;
};

#endif
