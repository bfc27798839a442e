/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the maps would have counted, had the probes of each family been in all
 * the time: where a family was sampled (`--max-overhead`, govern/governor.h), the
 * calls that a process is estimated to have made unseen are shared out in proportion to
 * what was seen of it lately: launches by kernel, of graphs and of host functions, and
 * tallies of copies and waits (calls, bytes and time); and once more by function and by thread.
 *
 * Failures by their code, histograms, gaps and call sites stay what was seen.
 */
#ifndef GOVERN_ESTIMATE_H
#define GOVERN_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/rate.h"

struct estimates;
struct process;

/* Where estimates come from: the governor. */
struct estimate_source {
	/* Calls of the process in the slot that were missed so far; never goes back. */
	uint64_t (*missed)(void *arg, uint32_t slot, enum rate_family family);
	/*
	 * Calls that its threads were seen to enter so far (struct thread_rate, threads that ended included), as of
	 * the latest refresh: tells how many of them are counted, since one that is nested in another is not by
	 * itself. NULL: all are.
	 */
	uint64_t (*seen)(void *arg, uint32_t slot, enum rate_family family);
	/*
	 * Until when the family's probes were out the last time, CLOCK_BOOTTIME; UINT64_MAX: they are out; 0: they never
	 * were. What began before that may have made calls that nothing is known of. NULL: only `missed` tells.
	 */
	uint64_t (*unseen_until)(void *arg, enum rate_family family);
	/* The maps are about to be read: `seen` and `missed` are to tell of this moment. NULL: nothing is to be done. */
	void (*refresh)(void *arg);
	/* The process in the slot has been read for the last time. NULL: nothing is to be done. */
	void (*forget)(void *arg, uint32_t slot);
	void *arg;
};

/* `source` is copied; slots are below `max_processes`. Free with estimates__free. NULL without memory. */
struct estimates *estimates__new(const struct estimate_source *source, uint32_t max_processes);
void estimates__free(struct estimates *estimates);

/* A reading of the maps begins. */
void estimates__begin(struct estimates *estimates);

/*
 * Adds to what a reading has taken in of the process what it is estimated to have missed: before
 * kernel_table__list and tally__finish. Sets process->family_calls. Returns 0 or -ENOMEM.
 */
int estimates__apply(struct estimates *estimates, struct process *process);

/* Since when threads are watched, until when the profile tells of them, and whether no more calls come. */
struct profile_span {
	uint64_t began_ns, now_ns;
	bool over;
};

/*
 * Shares the same out among functions and threads of its profile, whose counts stay: sets profile_function.missed,
 * profile.missed and profile.all_missed. After kernel_table__list. Returns 0 or -ENOMEM.
 */
int estimates__apply_profile(struct estimates *estimates, struct process *process, const struct profile_span *span);

/* The process in the slot has been read for the last time. */
void estimates__forget(struct estimates *estimates, uint32_t slot);

#endif
