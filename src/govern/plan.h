/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the probes cost each thread, and for which share of time families may be watched so that no
 * thread exceeds the budget.
 */
#ifndef GOVERN_PLAN_H
#define GOVERN_PLAN_H

#include "govern/threads.h"

#define PLAN_PERIOD_NS 1000000000ull /* the budget applies to each period of one second */

/* Input of a plan. */
struct plan_basis {
	const struct governed_threads *threads;
	const struct call_costs *costs;
	double allowed;	   /* share of a thread's active time, for costs with warm caches */
	double cold;	   /* call_costs.cold, at least 1 */
	uint64_t cycle_ns; /* start of the cycle, from which threads' costs count */
	uint64_t now_ns;
	unsigned int sampling; /* the families that may be sampled, 1 << enum rate_family */
	/* 1 << enum rate_family: for these the rates of their windows count (held_rate) */
	unsigned int sampled;
};

/* Slowdown of the worst-hit thread since the cycle began. */
double plan__overhead(const struct plan_basis *basis);

/* Whether a thread has paid the budget of a whole period. */
bool plan__is_overspent(const struct plan_basis *basis);

/* The cycle is over: carries what threads have paid too much or too little over to the next one. */
void plan__carry_over(const struct plan_basis *basis);

/*
 * The shares that keep each thread within the budget. *exact_cost is the highest cost of
 * never-sampled calls to a thread, relative to its active time.
 */
void plan__shares(const struct plan_basis *basis, double share[RATE_FAMILIES], double *exact_cost);

#endif
