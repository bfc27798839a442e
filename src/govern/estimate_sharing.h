/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by the files that distribute missed calls within a profile, estimate_profile.c,
 * estimate_functions.c and estimate_threads.c: the state of a reading, and portions, among which an
 * amount is distributed.
 */
#ifndef GOVERN_ESTIMATE_SHARING_H
#define GOVERN_ESTIMATE_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "govern/estimate_counters.h"

/* A counter that gets a part of an amount. */
struct portion {
	struct counter *counter; /* NULL: nothing is estimated for it */
	struct tally now;	 /* its current calls and their time */
	bool shares;		 /* it shares the amount; otherwise it gets its own value */
	uint64_t calls, ns;	 /* given in this reading */
};

/* The state for one profile in one reading. */
struct sharing {
	struct process_estimates *own;
	struct process *process;
	struct profile *profile;
	const struct profile_span *span;
	struct portion *functions; /* parallel to profile->functions */
	/*
	 * for one amount: parallel to profile->threads, plus one at the end for all unlisted
	 * threads
	 */
	struct portion *threads;
	/* for each of these: time outside calls that may have been inside */
	uint64_t *room_ns;
	uint64_t ns[TIME_CLASSES]; /* given to threads, but not yet to functions */
};

/* Updates the weight of a portion that does not share. */
void portion__take_in(struct portion *portion);

/* Adds `calls` to the portion. */
void portion__give(struct portion *portion, uint64_t calls);

/*
 * Updates the weights of the portions that share, and distributes `amount` calls among them in
 * proportion to their recent increases. Returns whether any portion could take them; otherwise
 * nothing is given.
 */
bool portions__share_out(struct portion *portions, size_t count, uint64_t amount);

#endif
