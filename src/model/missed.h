/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that were not seen, shared out among counters of calls that were (govern/estimate.h): in
 * proportion to what each has told lately, the latest reading in which any did counting most.
 */
#ifndef MODEL_MISSED_H
#define MODEL_MISSED_H

#include <stdint.h>

struct missed_share {
	double ratio; /* missed calls for a weight of 1; 0: none were missed */
	double fade;  /* what is left of the weight that a counter had before */
};

/* The weight of a counter that had `weight` and has told of `fresh` more. */
static inline double missed_share__weigh(const struct missed_share *share, double weight, uint64_t fresh)
{
	return weight * share->fade + (double)fresh;
}

/*
 * How many calls come to a counter of that weight. What rounding leaves over goes to the next by
 * `rest`, which begins as 0: so the sum is exact, and a share by itself within one.
 */
static inline uint64_t missed_share__of(const struct missed_share *share, double weight, double *rest)
{
	double exact = share->ratio * weight + *rest;
	/* A sum that should be whole may lack what rounding took. */
	uint64_t whole = exact + 1e-6 >= 1 ? (uint64_t)(exact + 1e-6) : 0;

	*rest = exact - (double)whole;
	return whole;
}

#endif
