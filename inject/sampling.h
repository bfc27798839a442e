/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of work in bursts (bursts.h). CUPTI calls back after calls of the driver that wait or
 * copy, and during bursts also after launches. There the records are switched, as NVIDIA's own
 * example of an injected library does after calls that start and stop profiling.
 */
#ifndef INJECT_SAMPLING_H
#define INJECT_SAMPLING_H

#include <stdint.h>

#include "cupti_library.h"

/* Kernels, copies and sets: all or none. Returns 0 or CUPTI's error. */
int sampling__enable_work(const struct cupti *cupti);
void sampling__disable_work(const struct cupti *cupti);

/*
 * From now on work is recorded for this share of the time; it is on now. Call once. `cupti` must
 * outlive the process's use of CUDA. Returns 0 or CUPTI's error.
 */
int sampling__begin(const struct cupti *cupti, void *subscriber, double share);

/* The callback of the subscription; does nothing before sampling__begin. */
void sampling__called(void *arg, int domain, uint32_t function, const void *data);

/* The number of the burst, never 0; without bursts 0. */
uint16_t sampling__burst(void);

#endif
