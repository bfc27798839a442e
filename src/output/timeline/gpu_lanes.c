// SPDX-License-Identifier: BSD-2-Clause
// Which slices fit on a track, see gpu_lanes.h.
#include "output/timeline/gpu_lanes.h"

#include <string.h>

/* The number of slices that begin at or before that time. */
static size_t before(const struct gpu_lane *lane, uint64_t begin_ns)
{
	size_t low = 0, high = lane->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (lane->slices[middle].begin_ns <= begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Forgets the earlier half. */
static void make_room(struct gpu_lane *lane)
{
	const size_t half = GPU_LANE_SLICES / 2;

	lane->closed_ns = lane->slices[half - 1].end_ns;
	lane->count -= half;
	memmove(lane->slices, lane->slices + half, lane->count * sizeof(*lane->slices));
}

/*
 * A slice may begin where the one before ends. It must end before the next one begins, which was
 * written earlier: readers order the parts of one moment as they were written.
 */
bool gpu_lane__take(struct gpu_lane *lane, uint64_t begin_ns, uint64_t end_ns)
{
	size_t at;

	if (lane->count == GPU_LANE_SLICES)
		make_room(lane);
	at = before(lane, begin_ns);
	if (begin_ns < lane->closed_ns || (at && lane->slices[at - 1].end_ns > begin_ns) ||
	    (at < lane->count && lane->slices[at].begin_ns <= end_ns))
		return false;
	memmove(lane->slices + at + 1, lane->slices + at,
		(lane->count - at) * sizeof(*lane->slices));
	lane->slices[at] = (struct gpu_lane_slice){begin_ns, end_ns};
	lane->count++;
	return true;
}
