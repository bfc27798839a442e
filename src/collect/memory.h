/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live allocations: the lists in reports, and occasional work on each of them. A walk over all
 * takes a while, so it only happens for a reason.
 */
#ifndef COLLECT_MEMORY_H
#define COLLECT_MEMORY_H

#include "collect/reading.h"

/*
 * Whether the process, if it has ended, has allocations in the map that must go; by the counts of
 * the latest reading.
 */
bool memory__needs_reaping(const struct process *process);

/* Reads the live memory, after the counters and contexts. Returns 0 or a negative errno. */
int memory__read(struct reading *reading);

/*
 * Marks the ranges of reaped processes, if any, for deletion at the reading's end: ranges outlive
 * memory that ended with its process or context. Returns 0 or a negative errno.
 */
int memory__clear_ranges(struct reading *reading);

#endif
