/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files that share missed calls out in a profile have in common, estimate_profile.c, estimate_functions.c and
 * estimate_threads.c: the state of a reading, and portions, which an amount is shared out among.
 */
#ifndef GOVERN_ESTIMATE_SHARING_H
#define GOVERN_ESTIMATE_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "govern/estimate_counters.h"

/* A counter that is given a part of an amount. */
struct portion {
	struct counter *counter; /* NULL: nothing is estimated of it */
	struct tally now;	 /* what its calls and their time are told to be */
	bool shares;		 /* in the amount; if not it is given what is its own */
	uint64_t calls, ns;	 /* given in this reading */
};

/* Of a profile in a reading. */
struct sharing {
	struct process_estimates *own;
	struct process *process;
	struct profile *profile;
	const struct profile_span *span;
	struct portion *functions; /* as profile->functions */
	struct portion *threads;   /* of one amount: as profile->threads, at the end one for all that are not listed */
	uint64_t *room_ns;	   /* of these: time outside of calls that may have been inside */
	uint64_t ns[TIME_CLASSES]; /* given to threads, and not yet to functions */
};

/* Takes in what was told of a portion that has no share. */
void portion__take_in(struct portion *portion);

/* Gives the portion so many calls more. */
void portion__give(struct portion *portion, uint64_t calls);

/*
 * Takes in what was told of those that share, and gives them `amount` calls in all, in proportion to what each has told
 * lately. Returns whether there was any that could take them; if not, nothing is given.
 */
bool portions__share_out(struct portion *portions, size_t count, uint64_t amount);

#endif
