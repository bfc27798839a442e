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

#endif
