/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arithmetic of the overhead governor. A budget is relative to the time that a thread would
 * take without probes: at 0.2, 100 s become 120 s. Costs of calls are shares of the thread's wall
 * time, excluding the time that it waited for a CPU.
 */
#ifndef GOVERN_BUDGET_H
#define GOVERN_BUDGET_H

#include "gpuprobe/rate.h"

#define BUDGET_MIN_SHARE 0.005 /* smallest share of time that a family is watched */

/* Converts an overhead to a share of a thread's wall time, and back. */
double budget__of_wall(double overhead);
double budget__overhead(double of_wall);

/*
 * The shares of time for which families may be watched, so that a thread pays `allowed` of its wall
 * time in total; `cost` is the cost of each while it is watched. The costliest families are reduced
 * to a common level; those below it, and RATE_EXACT, keep all their time. If RATE_EXACT alone uses
 * up the budget, the others get the smallest share.
 */
void budget__shares(const double cost[RATE_FAMILIES], double allowed, double share[RATE_FAMILIES]);

/*
 * How often a thread would make calls without probes, which cost it `cost` of its time meanwhile.
 */
double budget__rate_without(double rate, double cost);

#endif
