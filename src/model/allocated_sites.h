/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process's allocations at each of its call sites, summed over functions. Sorted for lookup: a
 * process may have tens of thousands of sites, and as many with live memory that need this.
 */
#ifndef MODEL_ALLOCATED_SITES_H
#define MODEL_ALLOCATED_SITES_H

#include <stddef.h>

#include "model/model.h"

struct allocated_site {
	const struct stack *stack;
	size_t index; /* index of the last of its sites in the process's list */
	uint64_t calls, bytes;
	uint16_t row; /* function of that site */
};

struct allocated_sites {
	struct allocated_site *list; /* ordered by stack */
	size_t count;
};

/* Leaves out sites with unknown stacks. Returns 0 or -ENOMEM; the list is empty then. */
int allocated_sites__read(const struct process *process, struct allocated_sites *sites);
void allocated_sites__clear(struct allocated_sites *sites);

/* NULL: nothing was allocated there. */
const struct allocated_site *allocated_sites__find(const struct allocated_sites *sites,
						   const struct stack *stack);

#endif
