/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the device works on what, by CUDA_SIM_CLOCK.
 */
#ifndef SIM_CUDA_DURATIONS_H
#define SIM_CUDA_DURATIONS_H

#include "cuda/driver.h"

/* Reads the environment; whether there is a clock. Ends the process at a setting that it does not understand. */
bool durations__read(void);
/* The time of a piece of work, in ns; `amount` as stream__issue() has it. */
uint64_t durations__of(enum work work, uint64_t amount);
/* What a kernel, a copy or a memset takes longer as a node of a graph, in ns. */
uint64_t durations__of_node(void);
/* How many pieces of work a stream holds that have not ended. */
uint32_t durations__queue(void);

#endif
