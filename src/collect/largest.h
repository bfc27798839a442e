/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The largest live allocations of each process where there are so many that
 * going through all of them would hold up everybody else: they are gathered a
 * step at a time before a report, which then lists what of them is still live.
 * What comes meanwhile may be missing in that report.
 */
#ifndef COLLECT_LARGEST_H
#define COLLECT_LARGEST_H

#include <stdbool.h>

#include "collect/map_reader.h"

struct largest;

/* For slots below `slots`, to list `top` (> 0) each. NULL without memory. */
struct largest *largest__new(unsigned int slots, size_t top);
/* NULL is fine. */
void largest__free(struct largest *largest);

/*
 * Looks at some more of `allocations`, for a few milliseconds; the first step,
 * and one after largest__each, begins anew. Returns 1 while there is more to
 * look at, 0 when all has been seen, or a negative errno: then it begins anew.
 */
int largest__step(struct largest *largest, struct map_reader *reader, const struct bpf_map *allocations);

/* Whether all has been seen, and not been used up. NULL has not. */
bool largest__is_complete(const struct largest *largest);

/*
 * Calls `fn` for each that was gathered and is still in the map, with its record of now, and
 * uses them up. Returns 0, or what `fn` returned.
 */
int largest__each(struct largest *largest, const struct bpf_map *allocations, map_entry_fn fn, void *arg);

#endif
