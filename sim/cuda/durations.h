/* SPDX-License-Identifier: BSD-2-Clause */
/* How long the device takes for each kind of work, from CUDA_SIM_CLOCK. */
#ifndef SIM_CUDA_DURATIONS_H
#define SIM_CUDA_DURATIONS_H

#include "cuda/driver.h"

/*
 * Reads the environment; returns whether there is a clock. Ends the process if it does not
 * understand a setting.
 */
bool durations__read(void);
/* The time of a piece of work, in ns; `amount` as in stream__issue(). */
uint64_t durations__of(enum work work, uint64_t amount);
/* The additional time of a kernel, copy or memset as a graph node, in ns. */
uint64_t durations__of_node(void);
/* How long each piece of work takes at least from its call to its start, in ns. */
uint64_t durations__latency(void);
/* How many unfinished pieces of work a stream's queue holds. */
uint32_t durations__queue(void);

#endif
