/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which lines of a trace are calls that submit work to GPUs: each call once, also if it has two
 * lines, and without those inside it, which submit the same work.
 */
#ifndef TRACE_GPU_CALLS_H
#define TRACE_GPU_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/gpu_times.h"
#include "trace/line.h"

#define GPU_CALLS_THREADS 1024 /* whose latest call is known; a power of two */
#define GPU_CALL_NO_END (UINT64_MAX / 2)

struct gpu_latest_call {
	pid_t tid;
	uint8_t depth;
	uint64_t end_ns; /* GPU_CALL_NO_END: it is in progress */
};

/* Initially all zero. */
struct gpu_calls {
	struct gpu_latest_call latest[GPU_CALLS_THREADS];
};

/*
 * Whether the line is of such a call, of a process that is known, and did not fail. Fills in its
 * threads and its times; a call that has not returned ends at GPU_CALL_NO_END.
 */
bool gpu_calls__take(struct gpu_calls *calls, const struct trace_line *line, struct gpu_call *call);

#endif
