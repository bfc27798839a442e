/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process has allocated at each of its call sites, whatever the function. It may have ten thousands of sites,
 * and as many with live memory, of each of which that is asked.
 */
#ifndef MODEL_ALLOCATED_SITES_H
#define MODEL_ALLOCATED_SITES_H

#include <stddef.h>

#include "model/model.h"

struct allocated_site {
	const struct stack *stack;
	size_t place; /* of the last of its sites in the process's list */
	uint64_t calls, bytes;
	uint16_t row; /* of that site */
};

struct allocated_sites {
	struct allocated_site *list; /* by stack */
	size_t count;
};

/* Sites whose stacks are not known are left out. 0, or -ENOMEM: then there are none. */
int allocated_sites__read(const struct process *process, struct allocated_sites *sites);
void allocated_sites__clear(struct allocated_sites *sites);

/* NULL: nothing was allocated there. */
const struct allocated_site *allocated_sites__find(const struct allocated_sites *sites, const struct stack *stack);

#endif
