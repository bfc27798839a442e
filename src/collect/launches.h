/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launches and their shapes, read into the processes' kernels with the kernels' names: those that
 * were told, else those that are found in the live process.
 */
#ifndef COLLECT_LAUNCHES_H
#define COLLECT_LAUNCHES_H

#include "collect/reading.h"

/*
 * Sum up what the map and the threads have of each kernel's launches, in this order:
 * launches__begin, the map with launches__take, launches__add_own, launches__sum_up. They return 0
 * or a negative errno.
 *
 * launches__sum_up takes the sums over, with the names that are known by then. It marks for
 * reading__delete what has been taken over for good: launches of a generation that is over.
 * Launches of reaped processes go with those.
 */
int launches__begin(struct reading *reading);
int launches__take(struct reading *reading, struct process *process, const void *key, const void *value);
int launches__add_own(struct reading *reading);
int launches__sum_up(struct reading *reading);

/* Closes files in which no name has been looked up for a while. Returns 0. */
int launches__forget_files(struct reading *reading);

/* Deletes a key of launches, its share of the map, and its kernel's name. */
void launches__delete(struct reading *reading, const void *key);

/*
 * Takes in the shape of a kernel's launches. It is deleted once all the kernel's launches are of a
 * generation that is over, as the previous launches__sum_up found.
 */
int launches__take_shape(struct reading *reading, struct process *process, const void *key, const void *value);

#endif
