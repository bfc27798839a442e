/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of work in bursts, at random times. A thread of the library switches them: it sleeps
 * between bursts, takes no signal, and calls CUPTI as profilers do that switch records in a running
 * program. The calls of the program know nothing of it.
 */
#ifndef INJECT_SAMPLING_H
#define INJECT_SAMPLING_H

#include <stdint.h>

#include "cupti_library.h"

/* Kernels, copies and sets: all or none. Returns 0 or CUPTI's error. */
int sampling__enable_work(const struct cupti *cupti);
void sampling__disable_work(const struct cupti *cupti);

/*
 * From now on work is recorded for this share of the time, above 0 and below 1; it is on now. Call
 * once. `cupti` must outlive the process's use of CUDA. Returns 0 or -1: there can be no thread.
 */
int sampling__begin(const struct cupti *cupti, double share);

/* The process ends: nothing is switched any more. Waits a second at most. */
void sampling__end(void);

/* The number of the latest burst, never 0; without bursts 0. */
uint16_t sampling__burst(void);

/*
 * How long no burst is after one of `burst_ns`, so that bursts are `share` of the time in the mean:
 * at random from half to one and a half times the mean pause. A program that does something every
 * second is not always seen at it. `random` is any number.
 */
uint64_t sampling__pause_ns(uint64_t burst_ns, double share, uint64_t random);

#endif
