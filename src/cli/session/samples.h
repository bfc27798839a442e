/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of the model for what is judged by its course: growth of call sites,
 * of the memory that is taken; calls that are not seen, by what was seen lately. Taken at uneven times, and for a tenth of the time at most,
 * however much there is to read.
 */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include <stdbool.h>

#include "base/error.h"
#include "cli/session/live_model.h"

struct samples;

struct samples_options {
	double period;		 /* seconds, about */
	bool with_lists;	 /* lists of allocations and live sites are read, too: a walk over all of them */
	void (*take)(void *arg); /* the model was read anew; may be NULL */
	void *arg;
};

/* Begins with one at once; between live_model__prepare and live_model__attach. 0 or a negative errno. */
int samples__new(struct live_model *live, const struct samples_options *options, struct samples **out,
		 struct error *err);

/* NULL is fine. Before live_model__free. */
void samples__free(struct samples *samples);

#endif
