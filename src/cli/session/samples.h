/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples the model for findings that follow a trend: growth of call sites and of memory in use;
 * and, for calls that are not seen, the latest rates. The intervals are irregular, and sampling
 * takes at most a tenth of the time, however much there is to read.
 */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/session/live_model.h"

struct samples;

struct samples_options {
	double period; /* approximate seconds; 0: only the first sample, and the second if set */
	/*
	 * seconds after which the second sample comes, as processes may have made no call at the
	 * first one; 0: after the period
	 */
	double second;
	/* also read the lists of allocations and live sites, which walks over all of them */
	bool with_lists;
	/*
	 * A reading that others made less than so long ago serves as the sample; nanoseconds.
	 * NULL: each sample is a reading of its own
	 */
	uint64_t (*fresh_ns)(void *arg);
	void (*take)(void *arg); /* called after each update; may be NULL */
	void *arg;
};

/*
 * Takes the first sample at once. Call it between live_model__prepare and live_model__attach.
 * Returns 0 or a negative errno.
 */
int samples__new(struct live_model *live, const struct samples_options *options,
		 struct samples **out, struct error *err);

/* The next sample comes at once. */
void samples__hurry(struct samples *samples);

/* Call it before live_model__free. NULL ok. */
void samples__free(struct samples *samples);

#endif
