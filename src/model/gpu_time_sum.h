/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums of GPU times: how long work ran, and how long it waited to run. */
#ifndef MODEL_GPU_TIME_SUM_H
#define MODEL_GPU_TIME_SUM_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/gpu_times.h"
#include "model/gpu_sample.h"

struct gpu_time_sum {
	uint64_t count;
	uint64_t untimed;	     /* of them, those whose time CUPTI did not know */
	uint64_t ns, min_ns, max_ns; /* of the others */
	uint64_t bytes;
	struct gpu_sample sample; /* of those with a time that bursts have */
};

/* From the calls of work to its start, of work whose call is known. */
struct gpu_delay {
	uint64_t count, ns, max_ns;
};

bool gpu_work__has_time(const struct gpu_work *work);

void gpu_time_sum__add(struct gpu_time_sum *sum, const struct gpu_work *work);

/* The mean of those with a time; 0 if there are none. */
uint64_t gpu_time_sum__mean(const struct gpu_time_sum *sum);

/* Both times are by one clock. Work cannot start before its call: then the delay counts as 0. */
void gpu_delay__add(struct gpu_delay *delay, uint64_t called_ns, uint64_t start_ns);

/* 0 if there are none. */
uint64_t gpu_delay__mean(const struct gpu_delay *delay);

#endif
