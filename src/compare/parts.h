/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts of comparison__make: the kernels, functions and places of two processes side by side. */
#ifndef COMPARE_PARTS_H
#define COMPARE_PARTS_H

#include <stdbool.h>

#include "compare/compare.h"

/* The comparison of a pair of processes in progress. */
struct comparing {
	struct comparison *comparison;
	size_t pair;
	const struct compared_process *a, *b;
	bool by_steps;
	double share;
	bool parted[COUNTED_ASK + 1]; /* classes whose parts a difference has shown */
};

/* The lists of c->a or c->b: of a step, or of the whole run. */
const struct counted_lists *comparing__lists(const struct comparing *c,
					     const struct compared_process *process);

/* Whether counts x and y of an item differ by more than the ends of the counted time explain. */
bool comparing__counts_differ(const struct comparing *c, const struct counted_list *a,
			      const struct counted_list *b, double x, double y);

/*
 * Calls `each` for every name in either list; an item is NULL if only the other list has it. Ends
 * if it returns something else than 0, and returns that.
 */
int counted_lists__each(const struct counted_list *a, const struct counted_list *b,
			int (*each)(const struct counted *x, const struct counted *y, void *arg),
			void *arg);

/* Adds the kernels whose launches differ. */
void comparing__add_kernels(const struct comparing *c, struct difference *difference);

/* Adds the parts of a difference, once for each class: places, else functions; or kernels. */
void comparing__explain(struct comparing *c, struct difference *difference,
			enum counted_class class);

#endif
