/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples of the model for what is judged by its course: growth of call sites,
 * of the memory that is taken. Taken at uneven times, and for a tenth of the time at most,
 * however much there is to read.
 */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include "base/error.h"
#include "cli/counting.h"

struct samples;

/*
 * Begins with one at once, between counting__prepare and counting__attach; then `take` is called, with
 * the model read anew, about every `period` seconds. 0 or a negative errno.
 */
int samples__new(struct counting *counting, double period, void (*take)(void *arg), void *arg, struct samples **out,
		 struct error *err);

/* NULL is fine. Before counting__free. */
void samples__free(struct samples *samples);

#endif
