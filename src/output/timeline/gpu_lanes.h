/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Slices of one track must not overlap. Those of a stream hardly do, but they come in any order,
 * from programs that may say anything. A lane knows the times of its latest slices, and says
 * whether another one fits.
 */
#ifndef OUTPUT_TIMELINE_GPU_LANES_H
#define OUTPUT_TIMELINE_GPU_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_LANE_SLICES 256

struct gpu_lane_slice {
	uint64_t begin_ns, end_ns;
};

/* Initially all zero. */
struct gpu_lane {
	uint64_t closed_ns; /* what begins before it does not fit */
	size_t count;
	struct gpu_lane_slice slices[GPU_LANE_SLICES]; /* in order, separate */
};

/* Takes the slice if it fits. */
bool gpu_lane__take(struct gpu_lane *lane, uint64_t begin_ns, uint64_t end_ns);

#endif
