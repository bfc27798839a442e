/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Missed calls of the functions of a profile: functions with tallies get what their tallies got,
 * functions that launch get what kernels got; and all get the time that threads got.
 */
#ifndef GOVERN_ESTIMATE_FUNCTIONS_H
#define GOVERN_ESTIMATE_FUNCTIONS_H

#include "govern/estimate_sharing.h"

/* Finds the counters of sharing->functions, which are all zero at first. Returns 0 or -ENOMEM. */
int estimate_functions__begin(struct sharing *sharing);

/* Gives them their missed calls. */
void estimate_functions__give(struct sharing *sharing);

/* Missed calls so far of the class's functions. */
uint64_t estimate_functions__missed(const struct sharing *sharing, enum time_class class);

/*
 * How long the calls given in this reading take, based on the functions' own durations.
 * Nanoseconds.
 */
uint64_t estimate_functions__usual_ns(const struct sharing *sharing, enum time_class class);

/* Gives them the time in sharing->ns, and stores the missed calls in the profile. */
void estimate_functions__end(struct sharing *sharing);

#endif
