/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the probes cost each thread, and for how much of the time families may be
 * watched so that none pays more than the budget.
 */
#ifndef GOVERN_PLAN_H
#define GOVERN_PLAN_H

#include "govern/threads.h"

#define PLAN_PERIOD_NS 1000000000ull /* what a budget is for: a second */

/* What a plan is made from. */
struct plan_basis {
	const struct governed_threads *threads;
	const struct call_costs *costs;
	double allowed;	   /* of a thread's active time, by what calls cost in the caches */
	double cold;	   /* call_costs.cold, 1 at the least */
	uint64_t cycle_ns; /* since when threads pay */
	uint64_t now_ns;
	unsigned int sampling; /* the families that may be sampled, 1 << enum rate_family */
	unsigned int sampled;  /* 1 << enum rate_family: of these their windows' rates count (held_rate) */
};

/* What the thread has paid since the cycle began. */
double plan__paid_ns(const struct plan_basis *basis, const struct governed_thread *thread);

/* By how much the thread is slower that has paid most since then. */
double plan__overhead(const struct plan_basis *basis);

/* Whether a thread has paid what the budget has for a whole period. */
bool plan__is_overspent(const struct plan_basis *basis);

/* Sets off what threads have paid too much or too little with what they may pay later. The cycle is over. */
void plan__carry_over(const struct plan_basis *basis);

/*
 * The shares that hold each thread to the budget. *exact_cost is the most that what is never sampled costs a thread, of
 * its active time.
 */
void plan__shares(const struct plan_basis *basis, double share[RATE_FAMILIES], double *exact_cost);

#endif
