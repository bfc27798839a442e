/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launches, read into the processes' kernels with the kernels' names: those that were told,
 * else those that are found in the live process.
 */
#ifndef COLLECT_LAUNCHES_H
#define COLLECT_LAUNCHES_H

#include "collect/reading.h"

/*
 * Sums up what the map and the threads have of each kernel's launches, and deletes what has been taken over: of processes
 * that are done, and of generations that are over. After the shapes, which the last launches of a kernel take with
 * them. May take in notices, so that the model's processes move. Returns 0 or a negative errno.
 */
int launches__read(struct reading *reading);

#endif
