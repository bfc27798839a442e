/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lists of a process that reports print: its live allocations, and the addresses freed since
 * the last report.
 */
#ifndef COLLECT_MEMORY_LISTS_H
#define COLLECT_MEMORY_LISTS_H

#include "collect/reading.h"

/* Empties the lists of the processes that get lists in this reading. 0 or -ENOMEM. */
int memory_lists__begin(const struct reading *reading);

/*
 * Adds a live allocation: to the `top` largest, which are kept in order, or with a `top` of 0 to
 * all. Most allocations are not among the largest. 0 or -ENOMEM.
 */
int memory_lists__add(struct process *process, size_t top, const struct allocation *allocation);

/*
 * Lists the frees since the last report, from the ring in the process's BPF record. Call it before
 * entries of dead memory are deleted, since it looks up which addresses are live again.
 */
void memory_lists__add_freed(const struct collector *collector, struct process *process);

/* Sorts all lists of live memory of this reading, largest first. */
void memory_lists__sort(const struct reading *reading);

#endif
