/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the maps would have counted if the probes of each family had been attached all the time. If
 * a family was sampled (`--max-overhead`, govern/governor.h), the estimated number of missed calls
 * of a process is distributed in proportion to its recent calls: launches by kernel, of graphs and
 * of host functions, and tallies of copies and waits (calls, bytes and time); and once more by
 * function and by thread.
 *
 * Failures by code, histograms, gaps and call sites are not extrapolated.
 */
#ifndef GOVERN_ESTIMATE_H
#define GOVERN_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/rate.h"

struct estimates;
struct process;

/* The source of estimates: the governor. */
struct estimate_source {
	/* Missed calls so far of the process in the slot; never decreases. */
	uint64_t (*missed)(void *arg, uint32_t slot, enum rate_family family);
	/*
	 * Calls that its threads were seen to enter so far (struct thread_rate, ended threads
	 * included), at the latest refresh. It shows how many of these are counted, since a nested
	 * call is not counted by itself. NULL: all are counted.
	 */
	uint64_t (*seen)(void *arg, uint32_t slot, enum rate_family family);
	/*
	 * When the latest absence of the family's probes ended, CLOCK_BOOTTIME; UINT64_MAX: they
	 * are detached now; 0: they never were. Processes that started before may have made unknown
	 * calls. NULL: only `missed` is used.
	 */
	uint64_t (*unseen_until)(void *arg, enum rate_family family);
	/*
	 * Called before the maps are read: `seen` and `missed` must reflect this moment. NULL:
	 * nothing to do.
	 */
	void (*refresh)(void *arg);
	/* The process in the slot has been read for the last time. NULL: nothing to do. */
	void (*forget)(void *arg, uint32_t slot);
	void *arg;
};

/*
 * Copies `source`; slots are below `max_processes`. Free with estimates__free. NULL without memory.
 */
struct estimates *estimates__new(const struct estimate_source *source, uint32_t max_processes);
void estimates__free(struct estimates *estimates);

/* A reading of the maps begins. */
void estimates__begin(struct estimates *estimates);

/*
 * Adds the estimated missed calls to the process's data from this reading; call it before
 * kernel_table__list and tally__finish. Sets process->family_calls. Returns 0 or -ENOMEM.
 */
int estimates__apply(struct estimates *estimates, struct process *process);

/*
 * Since when threads are watched, the time of the profile's data, and whether no more calls will
 * come.
 */
struct profile_span {
	uint64_t began_ns, now_ns;
	bool over;
};

/*
 * Distributes the same calls among functions and threads of the process's profile, without changing
 * their counts: sets profile_function.missed, profile.missed and profile.all_missed. Call it after
 * kernel_table__list. Returns 0 or -ENOMEM.
 */
int estimates__apply_profile(struct estimates *estimates, struct process *process,
			     const struct profile_span *span);

/* The process in the slot has been read for the last time. */
void estimates__forget(struct estimates *estimates, uint32_t slot);

#endif
