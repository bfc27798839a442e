/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the repair of the main reason (host_reasons.h) can save at most: the rest of a step takes as
 * long as before, because a thread cannot submit faster than its other work allows.
 *
 * A reason is repaired in one of two ways. Either the loop no longer does that work, so the whole
 * statement of the loop goes, with all that it calls: its time on the CPU, launches, copies and
 * waits. Or the cause goes everywhere, such as a lock, a slow disk or allocations. The better of
 * both counts.
 */
#ifndef FINDING_REPAIR_H
#define FINDING_REPAIR_H

#include "finding/host_reasons.h"

struct repair {
	double share;	 /* of the submitting threads' time, 0 to 1 */
	bool everywhere; /* the better way is that the cause goes everywhere */
};

/* False: there are no reasons. */
bool repair__of_main_reason(const struct host_reasons *reasons, struct repair *repair);

#endif
