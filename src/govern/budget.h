/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arithmetic of the overhead governor. A budget, as an overhead, is of the time that a
 * thread would take without probes: at 0.2, what takes 100 s takes 120. What calls cost is
 * a share of the thread's wall time, without that in which it waited for a CPU.
 */
#ifndef GOVERN_BUDGET_H
#define GOVERN_BUDGET_H

#include "gpuprobe/rate.h"

#define BUDGET_MIN_SHARE 0.005 /* of the time that a family is watched at least */

/* The share of a thread's wall time that makes up the overhead, and the other way round. */
double budget__of_wall(double overhead);
double budget__overhead(double of_wall);

/*
 * The shares of the time that families may be watched, so that a thread pays `allowed` of its wall time in all;
 * `cost` is what each would take while it is watched. The families that cost most are brought
 * down to one level, those below it stay whole, and RATE_EXACT does. Where that one alone takes all the others
 * have the least share.
 */
void budget__shares(const double cost[RATE_FAMILIES], double allowed, double share[RATE_FAMILIES]);

/* How often a thread would make calls without probes that cost it `cost` of its time meanwhile. */
double budget__rate_without(double rate, double cost);

#endif
