/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live allocations: the lists that reports show, and what must be done to
 * each of them at times. Going through all takes a while, so that is done
 * only where there is a reason.
 */
#ifndef COLLECT_MEMORY_H
#define COLLECT_MEMORY_H

#include "collect/reading.h"

/* Reads what memory is live, after the counters and contexts. Returns 0 or a negative errno. */
int memory__read(struct reading *reading);

/*
 * Marks the ranges of reaped processes for the end of the reading, if one has any: ranges outlive
 * memory that ended with its process or context. Returns 0 or a negative errno.
 */
int memory__clear_ranges(struct reading *reading);

#endif
