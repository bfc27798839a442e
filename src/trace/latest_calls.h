/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When threads made their latest calls, from the tracer's BPF programs, including calls that are
 * filtered.
 */
#ifndef TRACE_LATEST_CALLS_H
#define TRACE_LATEST_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprobe/trace.h"

struct trace_bpf;

struct latest_calls {
	struct trace_latest *list;
	size_t count;
};

/*
 * Reads the calls of all threads now. Returns 0 or a negative errno. Zero it first, and clear it in
 * any case.
 */
int latest_calls__read(struct latest_calls *latest, struct trace_bpf *skeleton);
void latest_calls__clear(struct latest_calls *latest);

/* When the thread's latest call began (CLOCK_BOOTTIME); 0 if it has made none. */
uint64_t latest_calls__of(const struct latest_calls *latest, pid_t tid);

#endif
