/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls per thread by family. Families can have their probes removed part of the time to limit a
 * thread's overhead. BPF counts if config.rates is set (`--max-overhead`).
 */
#ifndef GPUPROBE_RATE_H
#define GPUPROBE_RATE_H

#include "gpuprobe/function.h"

/*
 * Memory, contexts, modules, objects, graphs and captures are always watched: a sample of the calls
 * does not show what is live. Their calls are counted too, because they also cost.
 */
enum rate_family {
	RATE_LAUNCH = 0, /* OP_LAUNCH, OP_GRAPH_LAUNCH, OP_LAUNCH_LIST, OP_HOST_FUNCTION */
	RATE_COPY,	 /* OP_COPY, OP_SET */
	RATE_WAIT,	 /* OP_WAIT, OP_QUERY, OP_EVENT_RECORD */
	RATE_EXACT,	 /* all other operations: never sampled */
	RATE_FAMILIES,
};

static inline enum rate_family rate_family_of(__u8 operation)
{
	switch (operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_LAUNCH_LIST:
	case OP_HOST_FUNCTION: return RATE_LAUNCH;
	case OP_COPY:
	case OP_SET: return RATE_COPY;
	case OP_WAIT:
	case OP_QUERY:
	case OP_EVENT_RECORD: return RATE_WAIT;
	default: return RATE_EXACT;
	}
}

/* threads counted at a time; calls of any further threads are not attributed */
#define RATE_THREADS 4096

/*
 * A thread that makes watched calls. Only the thread itself writes it, without atomic operations.
 * Userspace frees its entry.
 */
struct thread_rate {
	__u32 slot;		    /* of its process */
	__s32 tid;		    /* in gpuprobe's pid namespace */
	__u64 start_ns;		    /* of the thread, CLOCK_BOOTTIME */
	__u64 ended_ns;		    /* 0: alive */
	__u64 calls[RATE_FAMILIES]; /* probe entries, nested calls included: each one costs */
};

#endif
