/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The period of what a thread submits, and an anchor that comes once in each
 * (gpuprobe/steps.h), found in the codes of its latest submissions.
 *
 * An anchor that comes again after about the same number of launches each time tells a period. There are
 * such anchors for layers within a step, for steps, and for what comes after so many steps, such as a line in a
 * log: the shortest period is taken outside of which next to nothing is launched. What copies to the device in each round is
 * believed to be a step, though more comes in between, such as an evaluation.
 */
#ifndef COLLECT_PERIOD_H
#define COLLECT_PERIOD_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/steps.h"

struct period {
	struct step_anchor anchor; /* its serial is 0 */
	uint32_t launches;	   /* in each round; 0: nothing repeats */
	double outside;		   /* of the launches since the first round: those that rounds have too many or too few */
	size_t first, last;	   /* places of the first and the latest anchor in the codes */
	size_t count;		   /* of anchors: at least 3 */
};

/*
 * Finds the period of `count` codes, oldest first. Where one of the `known_count` anchors at `known` tells it as well as another,
 * it is taken again. Returns 0, or -ENOMEM.
 */
int period__find(const uint64_t *codes, size_t count, const struct step_anchor *known, size_t known_count,
		 struct period *out);

/* Whether the submission `code`, which comes after `context`, is the anchor. */
int step_anchor__is_at(const struct step_anchor *anchor, uint64_t code, uint64_t context);

#endif
