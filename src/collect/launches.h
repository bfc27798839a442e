/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads launches and their shapes into the processes' kernels, with the kernels' names: names from
 * records, otherwise names found in the live process.
 */
#ifndef COLLECT_LAUNCHES_H
#define COLLECT_LAUNCHES_H

#include "collect/reading.h"

/*
 * Sum up each kernel's launches in the map and in the threads, in this order: launches__begin, the
 * map with launches__take, launches__add_own, launches__sum_up. They return 0 or a negative errno.
 *
 * launches__sum_up takes the sums over, with the names known by then. It marks keys for
 * reading__delete whose launches are taken over for good, because their generation is over.
 * Launches of reaped processes are deleted with those.
 */
int launches__begin(struct reading *reading);
int launches__take(struct reading *reading, struct process *process, const void *key,
		   const void *value);
int launches__add_own(struct reading *reading);
int launches__sum_up(struct reading *reading);

/* Closes files in which no name has been looked up for a while. Returns 0. */
int launches__forget_files(struct reading *reading);

/* Deletes a launch key, its share of the map and the name of its kernel. */
void launches__delete(struct reading *reading, const void *key);

/*
 * Takes in the shape of a kernel's launches. Deletes it once all launches of the kernel belong to
 * past generations, as the previous launches__sum_up found.
 */
int launches__take_shape(struct reading *reading, struct process *process, const void *key,
			 const void *value);

#endif
