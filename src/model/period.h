/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The period of a thread's submissions, and an anchor that occurs once per period
 * (gpuprobe/steps.h), found in the codes of the latest submissions.
 *
 * A submission that recurs after about the same number of launches indicates a period. There are
 * such anchors for layers within a step, for whole steps, and for work done every few steps, such
 * as a line in a log. The search takes the shortest period that has next to no launches outside of
 * it. If every round copies to the device, it counts as a step even if more happens in between,
 * such as an evaluation.
 */
#ifndef MODEL_PERIOD_H
#define MODEL_PERIOD_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprobe/steps.h"

struct period {
	struct step_anchor anchor; /* its serial is 0 */
	uint32_t launches;	   /* per round; 0: nothing repeats */
	/* share of the launches since the first round that rounds have too many or too few */
	double outside;
	size_t first, last; /* indexes of the first and the latest anchor in the codes */
	size_t count;	    /* number of anchors, at least 3 */
};

/*
 * Finds the period of `count` codes, oldest first. Prefers one of the `known_count` anchors at
 * `known` if it fits as well as another. Returns 0 or -ENOMEM.
 */
int period__find(const uint64_t *codes, size_t count, const struct step_anchor *known,
		 size_t known_count, struct period *out);

/*
 * The launches of the latest round of a period found in these codes, oldest first, in an array that
 * the caller frees. NULL without memory; *length is 0 then.
 */
uint64_t *period__latest_round(const uint64_t *codes, size_t count, const struct period *period,
			       size_t *length);

/* Whether the submission `code` with the context `context` is the anchor. */
int step_anchor__is_at(const struct step_anchor *anchor, uint64_t code, uint64_t context);

#endif
