/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When each device works: the union of the intervals of its work. The caller holds the clock's
 * lock. Times are in ns of CLOCK_MONOTONIC.
 */
#ifndef SIM_CUDA_BUSY_H
#define SIM_CUDA_BUSY_H

#include <stdint.h>
#include <stdio.h>

/* The device works from `begin` to `end`, which is later. */
void busy__add(int device, uint64_t begin, uint64_t end);
/* Writes the device's member of the truth file, without the time after `now`. */
void busy__print(FILE *out, int device, uint64_t now);
/* Resets all devices to never having worked. */
void busy__forget(void);

#endif
