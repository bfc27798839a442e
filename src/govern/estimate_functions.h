/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the functions of a profile have missed: those that tallies are kept of what these have, those that launch
 * what kernels have; and the time that threads were given.
 */
#ifndef GOVERN_ESTIMATE_FUNCTIONS_H
#define GOVERN_ESTIMATE_FUNCTIONS_H

#include "govern/estimate_sharing.h"

/* Finds the counters of sharing->functions, which are all zero. Returns 0 or -ENOMEM. */
int estimate_functions__begin(struct sharing *sharing);

/* Gives them the calls that were missed. */
void estimate_functions__give(struct sharing *sharing);

/* The calls of the class's functions that were missed so far. */
uint64_t estimate_functions__missed(const struct sharing *sharing, enum time_class class);

/* How long those calls take that were given in this reading, as it is by the functions' own times. Nanoseconds. */
uint64_t estimate_functions__usual_ns(const struct sharing *sharing, enum time_class class);

/* Gives them the time in sharing->ns, and tells the profile what was missed. */
void estimate_functions__end(struct sharing *sharing);

#endif
