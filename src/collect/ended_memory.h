/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live allocations of processes that have ended, if there are so many of others' that a walk over
 * all of them would hold up everything else. They are gathered in steps before the processes are
 * reaped. An ended process allocates nothing more, so none is missing.
 */
#ifndef COLLECT_ENDED_MEMORY_H
#define COLLECT_ENDED_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/map_reader.h"

struct ended_memory;

/* For slots below `slots`. NULL without memory. */
struct ended_memory *ended_memory__new(uint32_t slots);
void ended_memory__free(struct ended_memory *memory); /* NULL ok */

/* Begins a walk for this slot's process, too; call it before the first step. */
void ended_memory__want(struct ended_memory *memory, uint32_t slot);

/* Whether a slot was wanted since the latest ended_memory__forget. */
bool ended_memory__is_begun(const struct ended_memory *memory);

/*
 * Walks over more of `allocations` for a few milliseconds. Returns 1 if there is more to do, 0 if
 * all has been gathered, or a negative errno: then nothing is wanted any more.
 */
int ended_memory__step(struct ended_memory *memory, struct map_reader *reader,
		       const struct bpf_map *allocations);

/* Whether the walk is complete. False for NULL. */
bool ended_memory__is_complete(const struct ended_memory *memory);

/* Whether all allocations of the slot's process were gathered. False for NULL. */
bool ended_memory__has(const struct ended_memory *memory, uint32_t slot);

/*
 * Calls `fn` for each gathered allocation that is still in the map, with its record. Returns 0, or
 * what `fn` returned.
 */
int ended_memory__each(const struct ended_memory *memory, const struct bpf_map *allocations,
		       map_entry_fn fn, void *arg);

/* Forgets what was wanted and gathered. */
void ended_memory__forget(struct ended_memory *memory);

#endif
