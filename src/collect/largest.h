/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The largest live allocations of each process, if there are so many that a walk over all of them
 * would hold up everything else. They are gathered in steps before a report, which then lists those
 * that are still live. Allocations made meanwhile may be missing from that report.
 */
#ifndef COLLECT_LARGEST_H
#define COLLECT_LARGEST_H

#include <stdbool.h>

#include "collect/map_reader.h"

struct largest;

/*
 * For slots below `slots`; gathers what is needed to list `top` (> 0) per slot. NULL without
 * memory.
 */
struct largest *largest__new(unsigned int slots, size_t top);
/* NULL is ok. */
void largest__free(struct largest *largest);

/*
 * Walks over more of `allocations` for a few milliseconds. The first step, and one after
 * largest__each, starts a new walk. Returns 1 if there is more to do, 0 if the walk is complete, or
 * a negative errno: the next step then starts a new walk.
 */
int largest__step(struct largest *largest, struct map_reader *reader,
		  const struct bpf_map *allocations);

/* Whether a walk is complete and its result unused. False for NULL. */
bool largest__is_complete(const struct largest *largest);

/*
 * Calls `fn` for each gathered allocation that is still in the map, with its current record. This
 * uses up the result. Returns 0, or what `fn` returned.
 */
int largest__each(struct largest *largest, const struct bpf_map *allocations, map_entry_fn fn,
		  void *arg);

#endif
