/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes of one call site over time, in bounded memory, and whether they grow: see growth.h. */
#ifndef MODEL_GROWTH_HISTORY_H
#define MODEL_GROWTH_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "model/growth.h"

#define GROWTH_RECENT 61 /* samples kept individually: a window including both ends */
#define GROWTH_POINTS 64 /* stretches that cover the whole time */
#define GROWTH_STRETCH 6 /* samples in a tenth of the window */

struct growth_sample {
	uint64_t time_ns, bytes;
};

/* A stretch of samples. */
struct growth_point {
	struct growth_sample low;
	uint64_t first_ns, last_ns;
	uint64_t floor; /* the highest level that GROWTH_STRETCH consecutive samples all reached */
	uint64_t samples;
};

/* Initially all zero except window_ns. */
struct growth_history {
	uint64_t window_ns;
	uint64_t first_ns;			    /* the first sample, where the warm-up begins */
	struct growth_sample recent[GROWTH_RECENT]; /* a ring of all samples after the warm-up */
	size_t recent_next, recent_count;
	struct growth_point points[GROWTH_POINTS]; /* the last one is still being filled */
	size_t point_count;
	uint64_t stride; /* samples per point */
};

/* Adds a sample; times never decrease. */
void growth_history__add(struct growth_history *history, uint64_t time_ns, uint64_t bytes);

void growth_history__judge(const struct growth_history *history, struct growth_evidence *evidence);

#endif
