// SPDX-License-Identifier: BSD-2-Clause
// Costs per thread, and shares of families, see plan.h.
#include "govern/plan.h"

#include <string.h>

#include "govern/budget.h"
#include "govern/private.h"

#define MIN_LIFE_NS (50 * NS_PER_MS) /* a younger thread's costs are spread over this time */
/* largest debt carried from one cycle to the next, relative to a period's allowance */
#define MOST_OWED 0.8
/* the same if less was paid: short bursts can then be watched completely */
#define MOST_SAVED 2.0
#define CALM 0.8	    /* share of the allowance: a sampled family becomes exact below it */
#define NOT_CALM_SHARE 0.95 /* share for a family that only the full allowance would make exact */

/* What the thread has paid since the cycle began. */
static double paid_ns(const struct plan_basis *basis, const struct governed_thread *thread)
{
	double paid = 0;

	for (int family = 0; family < RATE_FAMILIES; family++)
		paid += basis->costs->ns[family] *
			(double)(thread->calls[family].now - thread->calls[family].at_cycle);
	return paid;
}

static double active_ns(const struct plan_basis *basis, const struct governed_thread *thread)
{
	return governed_thread__active(thread, basis->cycle_ns, basis->now_ns,
				       &thread->run_at_cycle);
}

static double life_ns(const struct plan_basis *basis, const struct governed_thread *thread)
{
	double ns = active_ns(basis, thread);

	return ns > (double)MIN_LIFE_NS ? ns : (double)MIN_LIFE_NS;
}

double plan__overhead(const struct plan_basis *basis)
{
	struct governed_thread *thread, *next;
	double worst = 0;

	HASH_ITER (hh, basis->threads->table, thread, next) {
		double share = paid_ns(basis, thread) / life_ns(basis, thread);

		worst = share > worst ? share : worst;
	}
	return budget__overhead(worst * basis->cold);
}

/* Assumes that the thread stays as active for a whole period as it has been so far. */
static bool has_overspent(const struct plan_basis *basis, const struct governed_thread *thread)
{
	double ns = (double)governed_thread__time(thread, basis->cycle_ns, basis->now_ns);
	double paid = paid_ns(basis, thread) + thread->debt_ns;

	return paid * ns > basis->allowed * (double)PLAN_PERIOD_NS * active_ns(basis, thread);
}

bool plan__is_overspent(const struct plan_basis *basis)
{
	struct governed_thread *thread, *next;

	HASH_ITER (hh, basis->threads->table, thread, next)
		if (has_overspent(basis, thread))
			return true;
	return false;
}

void plan__carry_over(const struct plan_basis *basis)
{
	double period = basis->allowed * (double)PLAN_PERIOD_NS;
	struct governed_thread *thread, *next;

	HASH_ITER (hh, basis->threads->table, thread, next) {
		double paid = paid_ns(basis, thread);
		double debt_ns = thread->debt_ns + paid - basis->allowed * active_ns(basis, thread);

		thread->debt_ns = clamp(debt_ns, -MOST_SAVED * period, MOST_OWED * period);
	}
}

/*
 * The share of its time that each family costs the thread, or would cost while watched; RATE_EXACT
 * includes everything that is never sampled.
 */
static void costs_of(const struct plan_basis *basis, const struct governed_thread *thread,
		     double cost[RATE_FAMILIES])
{
	double life = life_ns(basis, thread);

	memset(cost, 0, RATE_FAMILIES * sizeof(*cost));
	for (int family = 0; family < RATE_FAMILIES; family++) {
		const struct governed_calls *calls = &thread->calls[family];
		double rate = is_in(basis->sampled, family) ?
				      calls->held_rate :
				      (double)(calls->now - calls->at_cycle) / life;

		cost[is_in(basis->sampling, family) ? family : RATE_EXACT] +=
			rate * basis->costs->ns[family];
	}
}

/* Share of the thread's wall time, in the next cycle. */
static double allowed_for(const struct plan_basis *basis, const struct governed_thread *thread)
{
	return basis->allowed - thread->debt_ns / (double)PLAN_PERIOD_NS;
}

/* A sampled family only becomes exact again if part of the budget is enough. */
static double with_hysteresis(double share, double calm)
{
	return share >= 1 && calm < 1 ? NOT_CALM_SHARE : share;
}

static void add_thread(const struct plan_basis *basis, const struct governed_thread *thread,
		       double share[RATE_FAMILIES], double *exact_cost)
{
	double cost[RATE_FAMILIES], own[RATE_FAMILIES], calm[RATE_FAMILIES],
		allowed = allowed_for(basis, thread);

	costs_of(basis, thread, cost);
	budget__shares(cost, allowed, own);
	budget__shares(cost, CALM * allowed, calm);
	for (int family = 0; family < RATE_EXACT; family++) {
		if (is_in(basis->sampled, family))
			own[family] = with_hysteresis(own[family], calm[family]);
		share[family] = own[family] < share[family] ? own[family] : share[family];
	}
	if (cost[RATE_EXACT] > *exact_cost)
		*exact_cost = cost[RATE_EXACT];
}

void plan__shares(const struct plan_basis *basis, double share[RATE_FAMILIES], double *exact_cost)
{
	struct governed_thread *thread, *next;

	*exact_cost = 0;
	for (int family = 0; family < RATE_FAMILIES; family++)
		share[family] = 1;
	HASH_ITER (hh, basis->threads->table, thread, next)
		if (!thread->ended_ns)
			add_thread(basis, thread, share, exact_cost);
}
