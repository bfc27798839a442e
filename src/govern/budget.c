// SPDX-License-Identifier: BSD-2-Clause
// How much a thread may pay, and how families share that, see budget.h.
#include "govern/budget.h"

#define MOST_OF_WALL 0.9 /* higher costs are not believed: a rate would grow without bound */
/*
 * The same limit for a probe's share of the loop that it counts, by which the rate is corrected.
 * Launches take 2 us or more and their probes at most 3 us; the calibrated cost may be too high for
 * a loop that does nothing else.
 */
#define MOST_OF_LOOP 0.6

double budget__of_wall(double overhead)
{
	return overhead / (1 + overhead);
}

double budget__overhead(double of_wall)
{
	double share = of_wall < MOST_OF_WALL ? of_wall : MOST_OF_WALL;

	return share / (1 - share);
}

/* The cheapest family that is not done; negative: none is left. */
static int cheapest(const double cost[RATE_FAMILIES], unsigned int done)
{
	int found = -1;

	for (int family = 0; family < RATE_EXACT; family++)
		if (!(done & 1u << family) && (found < 0 || cost[family] < cost[found]))
			found = family;
	return found;
}

static double at_level(double cost, double level)
{
	double share = cost > level ? level / cost : 1;

	return share > BUDGET_MIN_SHARE ? share : BUDGET_MIN_SHARE;
}

void budget__shares(const double cost[RATE_FAMILIES], double allowed, double share[RATE_FAMILIES])
{
	double left = allowed - cost[RATE_EXACT];
	unsigned int done = 0;
	int family;

	share[RATE_EXACT] = 1;
	for (int others = RATE_EXACT; others > 0; others--) {
		double level = left > 0 ? left / others : 0;

		family = cheapest(cost, done);
		share[family] = at_level(cost[family], level);
		left -= cost[family] * share[family];
		done |= 1u << family;
	}
}

double budget__rate_without(double rate, double cost)
{
	return rate / (1 - (cost < MOST_OF_LOOP ? cost : MOST_OF_LOOP));
}
