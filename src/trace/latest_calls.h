/* SPDX-License-Identifier: BSD-2-Clause */
/* When threads made their latest calls, as the tracer's BPF programs have it, whether these were told or not. */
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

/* Reads those of all threads, as they are now. 0 or a negative errno. To be cleared in any case; zeroed at first. */
int latest_calls__read(struct latest_calls *latest, struct trace_bpf *skeleton);
void latest_calls__clear(struct latest_calls *latest);

/* When the thread's latest call began (CLOCK_BOOTTIME); 0: it has made none. */
uint64_t latest_calls__of(const struct latest_calls *latest, pid_t tid);

#endif
