/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of threads: what each repeats, found in the order of its launches, copies and waits by
 * the search of `gpuprobe stat` (model/period.h), and drawn as slices on a track for each thread.
 *
 * A thread's steps are drawn once the search has found the same ones twice, or at the end. So the
 * first ones are drawn late, and with their own times.
 */
#ifndef OUTPUT_TIMELINE_STEPS_H
#define OUTPUT_TIMELINE_STEPS_H

#include "output/timeline/tracks.h"

#define STEP_THREADS_MAX 32u /* for all processes; further threads have no steps meanwhile */

struct timeline_steps;

/* Returns NULL if out of memory. Both must outlive it. */
struct timeline_steps *timeline_steps__new(struct timeline_tracks *tracks,
					   struct timeline_form *form);
void timeline_steps__free(struct timeline_steps *steps); /* NULL is fine */

/* Whether calls of this function are part of what a thread repeats. */
bool timeline_steps__concerns(const struct api_function *row);

/*
 * Takes a call that has returned, whose function concerns steps, and that is in no other such call.
 * Returns 0 or -ENOMEM.
 */
int timeline_steps__take(struct timeline_steps *steps, const struct timeline_call *call);

/* Calls were lost: the steps in progress are not drawn. */
void timeline_steps__lose(struct timeline_steps *steps);

/* Draws what is left, before the form's end. Returns 0 or -ENOMEM. */
int timeline_steps__finish(struct timeline_steps *steps);

#endif
