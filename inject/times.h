/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libgpuprobe-times.so exports: the function that the CUDA driver calls, and empty functions
 * that gpuprobe's probes watch. A program without gpuprobe is not disturbed by any of it.
 */
#ifndef INJECT_TIMES_H
#define INJECT_TIMES_H

#include <stdint.h>

#include "gpuprobe/gpu_times.h"

/* The driver calls it in cuInit, because of CUDA_INJECTION64_PATH. Returns 1: all is well. */
int InitializeInjection(void);

/*
 * Hands over `count` pieces of work, at most GPU_TIMES_BATCH; `work` always has room for so many.
 * `dropped` are the records that CUPTI has lost since the last call.
 */
void gpuprobe_times_work(const struct gpu_work *work, uint64_t count, uint64_t dropped);

/* Tells the name of kernels whose work has the number `name`. */
void gpuprobe_times_name(uint64_t name, const char *text);

/*
 * Tells the time by CUPTI's clock: what watches the function knows when it was called. That time is
 * late by what the call takes, so it is called several times.
 */
void gpuprobe_times_clock(uint64_t cupti_ns);

/* There are no GPU times: why, with CUPTI's error, or 0 if it is none of CUPTI's. */
void gpuprobe_times_failure(int64_t code, const char *text);

#endif
