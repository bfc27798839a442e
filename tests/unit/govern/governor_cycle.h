/* SPDX-License-Identifier: BSD-2-Clause */
/* A governor whose cycles a test steps through by hand. Include after cmocka.h. */
#ifndef TESTS_GOVERNOR_CYCLE_H
#define TESTS_GOVERNOR_CYCLE_H

#include "governor_hand.h"

#define LAUNCHES (1u << RATE_LAUNCH)
#define COPIES (1u << RATE_COPY)
#define ALL ((1u << RATE_FAMILIES) - 1)
#define OVERHEAD 0.25 /* a fifth of the wall time */

static const struct log everything = {.level = LOG_INFO};

static inline struct governor *begin(struct hand *hand)
{
	const struct governor_hooks hooks = hand__hooks(hand);
	struct call_costs costs = {.cold = 1};
	struct governor *governor;

	for (int family = 0; family < RATE_FAMILIES; family++)
		costs.ns[family] = HAND_CALL_NS;
	hand->now_ns = BEGIN_NS;
	hand->in = ALL;
	governor = governor__new(OVERHEAD, GOVERNED_FAMILIES, &costs, &hooks, &everything);
	assert_non_null(governor);
	return governor;
}

static inline struct governed_calls *calls_of(const struct governor *governor, size_t thread,
					      enum rate_family family)
{
	return &hand__thread(&governor->threads, thread)->calls[family];
}

static inline void call(struct hand *hand, enum rate_family family, uint64_t calls)
{
	hand->rates[0].calls[family] += calls;
}

/* Advances the time by `ns` and ticks. Returns the time until the next tick is due. */
static inline uint64_t after(struct hand *hand, struct governor *governor, uint64_t ns)
{
	hand->now_ns += ns;
	return governor__tick(governor);
}

static inline uint64_t missed(struct governor *governor)
{
	governor__refresh(governor);
	return governor__missed(governor, 0, RATE_LAUNCH);
}

static inline struct governor *with_shares(struct hand *hand, double launches, double copies,
					   double lag_ns)
{
	struct governor *governor = begin(hand);

	governor->share[RATE_LAUNCH] = launches;
	governor->share[RATE_COPY] = copies;
	governor->sampled = (launches < 1 ? LAUNCHES : 0) | (copies < 1 ? COPIES : 0);
	governor->lag_ns = lag_ns;
	governor__plan_windows(governor);
	return governor;
}

#endif
