/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The counters of a process, by topic. They are totals since gpuprobe first saw the process, and
 * never decrease, unless a comment says that they are of things that are live or in progress.
 */
#ifndef MODEL_TOTALS_H
#define MODEL_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/state.h"

/*
 * Live allocations are all allocations minus those in never_live, replaced and with_context, and
 * minus the frees.
 */
struct memory_totals {
	uint64_t allocations; /* successful calls */
	uint64_t allocation_failures;
	uint64_t allocation_ns; /* time inside successful calls */
	uint64_t frees;		/* successful calls, whatever they freed */
	uint64_t free_failures;
	uint64_t unknown_frees; /* part of `frees`: of addresses never seen allocated */
	/*
	 * part of `allocations`: of zero bytes, which have no address, or without room for a record
	 */
	uint64_t never_live;
	/* part of `allocations`: their free was missed, as a reuse of the address shows */
	uint64_t replaced;
	uint64_t with_context; /* ended with their context, not by a call */
	uint64_t with_context_bytes;
	uint64_t live_bytes;
	uint64_t live_count;
	/* source of live_bytes: bytes allocated minus bytes freed; only for collect/ */
	__int128 balance;
};

/* Whether any call was counted or memory is live. */
static inline bool memory_totals__has_any(const struct memory_totals *totals)
{
	return totals->allocations || totals->allocation_failures || totals->frees ||
	       totals->free_failures || totals->live_count;
}

/* Memory that ended with its context, of one kind on one device. */
struct context_ends {
	uint8_t kind, device;
	uint64_t count;
	__int128 bytes;
};

/* A memory pool. */
struct pool_totals {
	uint64_t handle; /* 0: unknown */
	uint8_t device;	 /* its number in the process, or DEVICE_UNKNOWN */
	/* bytes of live allocations, as rounded by the driver once it has reported them */
	uint64_t used;
	uint64_t reserved;
	uint64_t threshold; /* release threshold: bytes that waits leave reserved */
	bool estimated;	    /* `reserved` is estimated, not reported by the driver */
	bool destroyed;	    /* destroyed, except for its live allocations */
};

struct copy_totals {
	uint64_t calls; /* successful */
	uint64_t bytes; /* of successful calls */
	uint64_t ns;	/* inside successful calls; for asynchronous ones the time to enqueue */
	/* Part of these, if the host side is known to be pinned or pageable. */
	uint64_t pinned_calls, pinned_bytes;
	uint64_t pageable_calls, pageable_bytes;
	/* In addition: captured into graphs, not executed. */
	uint64_t captured_calls, captured_bytes;
	/* In addition: calls whose return was not followed. */
	uint64_t unfollowed_calls, unfollowed_bytes;
};

/* Asynchronous copies covered by waits, which give a lower bound of their speed. */
struct covered_totals {
	uint64_t calls, bytes;
	uint64_t ns; /* from the issue of the oldest copy of each segment to the end of its wait */
};

struct copy_inflight {
	uint64_t calls, bytes;
	uint64_t oldest_ns; /* age of the oldest; 0: there is none */
};

/* Objects of a kind. `with_context` and `live` only include objects whose creation was seen. */
struct object_totals {
	uint64_t created;	    /* successful calls, including loads of modules and libraries */
	uint64_t destroyed;	    /* successful calls */
	uint64_t unknown_destroyed; /* part of `destroyed`: of handles whose creation was missed */
	uint64_t with_context;	    /* ended with their context */
	uint64_t live;
	uint64_t ns;	    /* inside the calls that created them */
	uint64_t in_launch; /* created inside launches, which slowed those down */
	uint64_t in_launch_ns;
};

/* Time that threads spent blocked, or querying whether they would block. */
struct wait_totals {
	uint64_t calls; /* successful */
	uint64_t ns;	/* inside them, including `beside_ns` */
	/* part of `ns`: inside calls that failed, have not returned yet, or never did */
	uint64_t beside_ns;
	uint64_t open;	     /* calls in progress */
	uint64_t unfollowed; /* in addition: calls whose return was not followed */
};

struct query_totals {
	uint64_t calls;	    /* that returned an answer */
	uint64_t not_ready; /* part of `calls`: work not finished */
};

/*
 * Calls whose return was not followed: with --no-return-probes, or because their thread had
 * switched stacks inside a call. Their success and duration are unknown. Copies and waits among
 * them are also in the counters of copies and waits.
 */
struct unfollowed_totals {
	uint64_t calls; /* all except launches, which are counted at entry anyway */
	uint64_t allocations, allocated_bytes;
	uint64_t frees; /* frees of recorded memory are assumed to succeed */
};

/* Executed launches of graphs of one size. */
struct graph_run {
	uint64_t kernels; /* in each launch */
	bool unknown;	  /* the number is unknown */
	uint64_t launches;
};

/* A process's activity on one device. */
struct device_totals {
	uint8_t device; /* its number in the process, or DEVICE_UNKNOWN */
	uint64_t launches;
	uint64_t allocations, live_bytes, live_count; /* memory of the device */
	uint64_t allocated_bytes;		      /* by these allocations so far */
	__int128 balance;			      /* as in memory_totals */
	uint64_t copies, copy_bytes;
	uint64_t wait_ns;
	struct wait_totals waits[WAIT_SCOPES], copy_waits, free_waits; /* as in struct process */
	uint64_t objects[OBJECT_KINDS];				       /* live */
	/* live ones existed in an earlier reading */
	bool had_objects[OBJECT_KINDS];
};

/*
 * Calls of a family whose probes may be detached part of the time (`--max-overhead`). Totals of
 * such calls are the sum of both fields. Memory, objects, failures by code, histograms, gaps and
 * call sites include only the counted ones.
 */
struct family_calls {
	uint64_t counted;
	uint64_t missed; /* estimated */
	/* more may have been missed, because the probes were detached at some time in its life */
	bool sampled;
};

/* Counters of one function, separated as in the BPF maps: see struct tally_key. */
struct function_totals {
	uint16_t row; /* in api_functions */
	uint16_t flags;
	uint8_t kind, device;
	uint64_t calls, failures, bytes, ns;
	uint64_t other_ns;	/* inside calls that failed or that their thread ended in */
	uint64_t open, open_ns; /* calls in progress, and the time in them so far */
};

#endif
