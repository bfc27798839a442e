/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that ended with its context and that userspace has deleted from the maps: from then on,
 * only these counts know of it.
 */
#ifndef COLLECT_CONTEXT_ENDS_H
#define COLLECT_CONTEXT_ENDS_H

#include "model/model.h"

/* Counts one allocation. Returns 0 or -ENOMEM. */
int context_ends__add(struct process *process, uint8_t kind, uint8_t device, uint64_t bytes);

/*
 * Subtracts what has been counted from the process's totals, which tally__apply has summed up.
 * Returns 0 or -ENOMEM.
 */
int context_ends__apply(struct process *process);

#endif
