/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that ended with its context and that userspace has cleared away: by
 * then nothing else knows of it.
 */
#ifndef COLLECT_CONTEXT_ENDS_H
#define COLLECT_CONTEXT_ENDS_H

#include "model/model.h"

/* Counts one allocation. Returns 0 or -ENOMEM. */
int context_ends__add(struct process *process, uint8_t kind, uint8_t device, uint64_t bytes);

/* Takes what has been counted off the process's totals, which tally__apply has summed up. Returns 0 or -ENOMEM. */
int context_ends__apply(struct process *process);

#endif
