// SPDX-License-Identifier: BSD-2-Clause
// Distributes an amount of missed calls in portions, see estimate_sharing.h.
#include "govern/estimate_sharing.h"

void portion__take_in(struct portion *portion)
{
	bool fresh = counter__fresh(portion->counter, &portion->now).calls;
	const struct missed_share share = {.fade = fresh ? WEIGHT_FADE : 1};

	counter__weigh(portion->counter, &portion->now, &share);
}

/* Updates the weights. Returns the weight of the portions that share. */
static double weigh(struct portion *portions, size_t count)
{
	struct missed_share share = {.fade = 1};
	double weight = 0;

	for (size_t i = 0; i < count; i++)
		if (portions[i].shares &&
		    counter__fresh(portions[i].counter, &portions[i].now).calls)
			share.fade = WEIGHT_FADE;
	for (size_t i = 0; i < count; i++) {
		if (!portions[i].shares)
			continue;
		counter__weigh(portions[i].counter, &portions[i].now, &share);
		weight += portions[i].counter->calls;
	}
	return weight;
}

void portion__give(struct portion *portion, uint64_t calls)
{
	portion->calls += calls;
	portion->counter->missed.calls += calls;
}

bool portions__share_out(struct portion *portions, size_t count, uint64_t amount)
{
	double weight = weigh(portions, count), rest = 0;
	struct missed_share share = {.ratio = weight > 0 ? (double)amount / weight : 0};
	struct portion *last = NULL;

	for (size_t i = 0; i < count; i++) {
		uint64_t calls;

		if (!portions[i].shares || portions[i].counter->calls <= 0)
			continue;
		last = &portions[i];
		calls = missed_share__of(&share, last->counter->calls, &rest);
		calls = calls < amount ? calls : amount;
		portion__give(last, calls);
		amount -= calls;
	}
	/* Gives the rounding remainder to the last one. */
	if (last)
		portion__give(last, amount);
	return last;
}
