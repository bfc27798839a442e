/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Distributes missed calls among counters of observed calls (govern/estimate.h), in proportion to
 * the recent increase of each; the latest reading with an increase counts most.
 */
#ifndef MODEL_MISSED_H
#define MODEL_MISSED_H

#include <stdint.h>

struct missed_share {
	double ratio; /* missed calls per weight of 1; 0: none were missed */
	double fade;  /* factor that a counter's previous weight is multiplied by */
};

/* The weight of a counter that had `weight` and has increased by `fresh`. */
static inline double missed_share__weigh(const struct missed_share *share, double weight,
					 uint64_t fresh)
{
	return weight * share->fade + (double)fresh;
}

/*
 * How many missed calls a counter of that weight gets. The rounding remainder carries over to the
 * next counter in `rest`, initially 0, so the sum is exact and each share is within one.
 */
static inline uint64_t missed_share__of(const struct missed_share *share, double weight,
					double *rest)
{
	double exact = share->ratio * weight + *rest;
	/* Tolerance, so that rounding errors do not lose a whole call. */
	uint64_t whole = exact + 1e-6 >= 1 ? (uint64_t)(exact + 1e-6) : 0;

	*rest = exact - (double)whole;
	return whole;
}

#endif
