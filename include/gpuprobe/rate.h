/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How many calls each thread makes, by the families whose probes may be taken
 * out for a part of the time so that they do not cost a thread too much. Kept
 * by BPF where config.rates is set (`--max-overhead`).
 */
#ifndef GPUPROBE_RATE_H
#define GPUPROBE_RATE_H

#include "gpuprobe/function.h"

/*
 * Memory, contexts, modules, objects, graphs and captures are always watched: what is live cannot be
 * told from a part of the calls. Their calls are counted too, since they cost as well.
 */
enum rate_family {
	RATE_LAUNCH = 0, /* OP_LAUNCH, OP_GRAPH_LAUNCH, OP_LAUNCH_LIST, OP_HOST_FUNCTION */
	RATE_COPY,	 /* OP_COPY, OP_SET */
	RATE_WAIT,	 /* OP_WAIT, OP_QUERY, OP_EVENT_RECORD */
	RATE_EXACT,	 /* all others: never sampled */
	RATE_FAMILIES,
};

static inline enum rate_family rate_family_of(__u8 operation)
{
	switch (operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_LAUNCH_LIST:
	case OP_HOST_FUNCTION:
		return RATE_LAUNCH;
	case OP_COPY:
	case OP_SET:
		return RATE_COPY;
	case OP_WAIT:
	case OP_QUERY:
	case OP_EVENT_RECORD:
		return RATE_WAIT;
	default:
		return RATE_EXACT;
	}
}

#define RATE_THREADS 4096 /* that are told apart at a time; calls of others are nobody's */

/* A thread that makes watched calls: its alone to write, without atomic operations. Userspace gives its place free. */
struct thread_rate {
	__u32 slot;		    /* of its process */
	__s32 tid;		    /* in gpuprobe's pid namespace */
	__u64 start_ns;		    /* of the thread, CLOCK_BOOTTIME */
	__u64 ended_ns;		    /* 0: it lives */
	__u64 calls[RATE_FAMILIES]; /* entries of probes, nested calls too: each pays */
};

#endif
