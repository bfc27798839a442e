/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what processes have freed since an allocation failed (enum late_free), for what they held
 * at the failure (model/at_failure.h). Without stacks they are only deleted again.
 */
#ifndef COLLECT_LATE_FREES_H
#define COLLECT_LATE_FREES_H

#include "collect/reading.h"

/* Before memory and tensors are read, which add what is live. Returns 0 or -ENOMEM. */
int late_frees__begin(struct reading *reading);

/*
 * Whether the reading must walk over all allocations of the process, which has a slot: for lists
 * after a failure, and once to delete what is too old.
 */
bool late_frees__needs_walk(const struct reading *reading, const struct process *process);

/* Takes in an entry of `allocations` that is a late free (reading_step.take). */
int late_frees__take(struct reading *reading, struct process *process,
		     const struct allocation_key *key, const struct allocation_record *freed);

/* After these: forgets failures that are too long ago. Returns 0. */
int late_frees__forget(struct reading *reading);

/* Last: makes the lists, with the stacks that are named. Returns 0 or -ENOMEM. */
int late_frees__list(struct reading *reading);

#endif
