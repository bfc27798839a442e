// SPDX-License-Identifier: BSD-2-Clause
// Learns how long the kernel takes to attach and detach probes, see private.h.
#include "govern/private.h"

#define LEARNING 0.25	 /* weight of the latest delay */
#define ENOUGH_CALLS 100 /* calls in a window needed to learn delays from it */

static void learn(double *delay, double seen, double rate)
{
	double ns = clamp(seen / rate, 0, (double)NS_PER_S);

	*delay += LEARNING * (ns - *delay);
}

void governor__learn_lag(struct governor *governor)
{
	struct governed_thread *thread, *next;
	double late = 0, rate = 0, seen = 0;

	HASH_ITER (hh, governor->threads.table, thread, next) {
		for (int family = 0; family < RATE_EXACT; family++) {
			const struct governed_calls *calls = &thread->calls[family];

			if (is_in(governor->watched, family) || thread->ended_ns)
				continue;
			late += (double)(calls->now - calls->at_end);
			rate += calls->rate;
			seen += (double)(calls->at_end - calls->at_window);
		}
	}
	if (seen >= ENOUGH_CALLS)
		learn(&governor->lag_ns, late, rate);
}

void governor__learn_lead(struct governor *governor)
{
	struct governed_thread *thread, *next;
	double early = 0, rate = 0;

	HASH_ITER (hh, governor->threads.table, thread, next) {
		for (int family = 0; family < RATE_EXACT; family++) {
			const struct governed_calls *calls = &thread->calls[family];

			if (!is_in(governor->sampled, family) ||
			    calls->at_end - calls->at_window < ENOUGH_CALLS)
				continue;
			early += (double)(calls->at_window - calls->at_cycle);
			rate += calls->rate;
		}
	}
	if (rate > 0)
		learn(&governor->lead_ns, early, rate);
}
