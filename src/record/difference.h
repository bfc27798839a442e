/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What happened between two readings of a recording: the later one, less what had been counted by
 * the earlier one. It is as if gpuprobe had been started at the earlier one, but that names, live
 * memory and calls in progress are known from before.
 *
 * What a difference of totals cannot tell is left out: the startup, first steps, slow steps of
 * before, and what threads do outside of CUDA if that was counted from another moment. The longest
 * of several times is at most the end of its histogram's bucket, if it is not the longest of all.
 */
#ifndef RECORD_DIFFERENCE_H
#define RECORD_DIFFERENCE_H

#include <stdint.h>

#include "record/arena.h"
#include "record/types.h"

/*
 * Makes `reading` the difference to `before`, an earlier one of the same reader, which stays as it
 * is. Takes memory from `memory`, which lives as long as `reading`. Returns 0, or -ENOMEM:
 * `reading` is useless then.
 */
int recorded_reading__subtract(struct recorded_reading *reading,
			       const struct recorded_reading *before, struct arena *memory);

/* --- for the files of the difference --- */

struct differ {
	uint64_t from_ns; /* of the earlier reading */
	struct arena *memory;
	int failure;
};

/*
 * Subtracts the totals of `before`, a structure of the type. Returns whether something is left of
 * them; true if there are none.
 */
bool differ__subtract(struct differ *differ, const struct recorded_type *type, void *object,
		      const void *before);

/*
 * The same for structures one after another, which are found by their keys. Those of which nothing
 * is left are taken out, if the list has only what was counted. Returns their number.
 */
size_t differ__subtract_list(struct differ *differ, const struct recorded_type *type, void *items,
			     size_t count, const void *before, size_t before_count);

/*
 * What a structure needs besides: `object` was subtracted and `earlier` is as it was before. Both
 * have the type.
 */
void differ__finish(struct differ *differ, const struct recorded_type *type, void *object,
		    const void *earlier, const void *before);

/* Orders the lists of a process, as collect/ and model/ do. */
void differ__sort(struct process *process);

#endif
