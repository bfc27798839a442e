// SPDX-License-Identifier: BSD-2-Clause
// Recent increases of counters and their estimates, see estimate_counters.h.
#include "govern/estimate_counters.h"

#include <stdlib.h>

#include "base/saturate.h"

struct counter *counter__of(struct process_estimates *own, const struct counter_key *key)
{
	return TABLE_TAKE(own->counters, key, key);
}

void process_estimates__free(struct process_estimates *own)
{
	if (!own)
		return;
	TABLE_CLEAR(own->counters, free);
	free(own);
}

struct tally counter__fresh(const struct counter *counter, const struct tally *now)
{
	return (struct tally){
		.calls = above(now->calls, counter->weighed.calls),
		.failures = above(now->failures, counter->weighed.failures),
		.bytes = above(now->bytes, counter->weighed.bytes),
		.ns = above(now->ns, counter->weighed.ns),
	};
}

void counter__weigh(struct counter *counter, const struct tally *now,
		    const struct missed_share *share)
{
	const struct tally fresh = counter__fresh(counter, now);

	counter->calls = missed_share__weigh(share, counter->calls, fresh.calls);
	counter->failures = missed_share__weigh(share, counter->failures, fresh.failures);
	counter->bytes = missed_share__weigh(share, counter->bytes, fresh.bytes);
	counter->ns = missed_share__weigh(share, counter->ns, fresh.ns);
	counter->weighed.calls += fresh.calls;
	counter->weighed.failures += fresh.failures;
	counter->weighed.bytes += fresh.bytes;
	counter->weighed.ns += fresh.ns;
}

uint64_t counter__ns(const struct counter *counter, uint64_t calls)
{
	return counter->calls > 0 ? (uint64_t)((double)calls * (counter->ns / counter->calls)) : 0;
}

uint64_t counter__share_out(struct counter *counter, const struct tally *now,
			    const struct missed_share *share, double *rest)
{
	uint64_t calls, failures;

	counter__weigh(counter, now, share);
	calls = missed_share__of(share, counter->calls, rest);
	failures = missed_share__of(share, counter->failures, rest);
	counter->missed.calls += calls;
	counter->missed.failures += failures;
	if (counter->calls > 0)
		counter->missed.bytes = saturate__sum(
			counter->missed.bytes,
			saturate__double((double)calls * (counter->bytes / counter->calls) + 0.5));
	counter->missed.ns += counter__ns(counter, calls);
	return calls + failures;
}
