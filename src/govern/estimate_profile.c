// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the profile of a process has missed, by function and by thread: the same calls that
 * estimate.c has distributed among kernels and tallies, so that all sums agree.
 *
 * Functions with tallies get what their tallies got, functions that launch get what kernels got,
 * and threads get what the functions of a time class got. A thread's estimated time is limited by
 * its lifetime, and functions get the time that threads got.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "govern/estimate_functions.h"
#include "govern/estimate_threads.h"
#include "model/profile.h"

static int begin(struct sharing *sharing)
{
	struct profile *profile = sharing->profile;
	struct thread_missed *missed =
		realloc(profile->missed, (profile->thread_count + 1) * sizeof(*missed));

	if (!missed)
		return -ENOMEM;
	memset(missed, 0, profile->thread_count * sizeof(*missed));
	profile->missed = missed;
	profile->missed_count = profile->thread_count;
	sharing->own->reading++;
	sharing->functions = calloc(profile->function_count + 1, sizeof(*sharing->functions));
	sharing->threads = calloc(profile->thread_count + 1, sizeof(*sharing->threads));
	sharing->room_ns = calloc(profile->thread_count + 1, sizeof(*sharing->room_ns));
	return sharing->functions && sharing->threads && sharing->room_ns ?
		       estimate_functions__begin(sharing) :
		       -ENOMEM;
}

static void end(struct sharing *sharing)
{
	free(sharing->functions);
	free(sharing->threads);
	free(sharing->room_ns);
}

int estimates__apply_profile(struct estimates *estimates, struct process *process,
			     const struct profile_span *span)
{
	struct sharing sharing = {.own = estimates->of[process->slot],
				  .process = process,
				  .profile = process->profile,
				  .span = span};
	int ret;

	if (!sharing.own)
		return 0;
	ret = begin(&sharing);
	if (!ret) {
		estimate_functions__give(&sharing);
		ret = estimate_threads__share(&sharing);
		estimate_functions__end(&sharing);
	}
	end(&sharing);
	return ret;
}
