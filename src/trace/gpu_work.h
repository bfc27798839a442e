/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that a GPU has done, as a line of a trace (LINE_GPU). The line's start and duration are the
 * GPU's, on gpuprobe's clock; its thread is that of the call that submitted the work, 0 if that
 * call is unknown; its kernel is the one that ran. All of it comes from a library in the watched
 * program, which may say anything.
 */
#ifndef TRACE_GPU_WORK_H
#define TRACE_GPU_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/gpu_times.h"

struct trace_gpu_work {
	uint8_t kind;	 /* enum gpu_work_kind, but GPU_WORK_CALL */
	uint8_t copy;	 /* enum gpu_copy_kind */
	bool has_call;	 /* the call is known: its thread is the line's */
	uint32_t device; /* as the process numbers it */
	uint32_t stream; /* as CUPTI numbers the streams of a context */
	uint64_t bytes;	 /* of copies and sets */
	/* With `has_call`: when the call began, CLOCK_BOOTTIME; the thread and this identify it. */
	uint64_t called_ns;
};

/* How long the work waited from its call to its start; 0 if the clocks say that it did not. */
static inline uint64_t trace_gpu_work__delay(const struct trace_gpu_work *work, uint64_t start_ns)
{
	return start_ns > work->called_ns ? start_ns - work->called_ns : 0;
}

static inline bool trace_gpu_work__is_kernel(const struct trace_gpu_work *work)
{
	return work->kind == GPU_WORK_KERNEL || work->kind == GPU_WORK_GRAPH_KERNEL;
}

static inline bool trace_gpu_work__has_bytes(const struct trace_gpu_work *work)
{
	return work->kind == GPU_WORK_COPY || work->kind == GPU_WORK_SET;
}

#endif
