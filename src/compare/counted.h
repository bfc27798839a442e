/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills the lists of what a process calls: kernels, functions and places (compare/run.h). */
#ifndef COMPARE_COUNTED_H
#define COMPARE_COUNTED_H

#include "compare/run.h"

/*
 * Reads the lists from process->json; its other members are filled. Returns 0 or -ENOMEM. They are
 * the process's also on failure.
 */
int counted__read(struct compared_process *process);

/* --- parts of it --- */

int counted__read_places(struct compared_process *process, enum figure_scope scope);

/* Orders the list by name, with one item for each. */
void counted__merge(struct counted_list *list);

/* Makes the process own a text (malloc), and returns it; NULL without memory. */
const char *counted__keep(struct compared_process *process, char *text);

enum counted_class counted__class(const char *symbol);

/*
 * What calls of the steady time are to be multiplied with to get those of a step, and by how much a
 * count may be wrong, as a share of it. As many steps passed as the launches show, but for one at
 * the beginning and one at the end. False: unknown. For the whole run the factor is 1.
 */
bool counted__scale(const struct compared_process *process, enum figure_scope scope, double *scale,
		    double *edges);

#endif
