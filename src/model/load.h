/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work that a process has given its GPUs, and how long they delayed it, summed up to a moment.
 * A verdict (finding/verdict.h) is computed from the difference of two moments.
 */
#ifndef MODEL_LOAD_H
#define MODEL_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/profile.h"
#include "model/model.h"

/* Per device, by its number in the process; the last one is for unknown devices. */
struct load_queue {
	bool used;	  /* something was queued there at some time */
	uint64_t idle_ns; /* proven idle time, see gpuprobe/profile.h */
	uint64_t idle_times;
};

struct load {
	uint64_t ns; /* the moment, CLOCK_BOOTTIME: at most the process's end */
	struct load_queue queues[PROFILE_DEVICES];
	bool proves; /* the process's queues are tracked: idle_ns is valid */
	uint64_t launches, copies;
	struct time_totals time[TIME_CLASSES]; /* of all threads, including estimates */
	/*
	 * How long the GPU delayed calls: waits, launches that found the queue full, copies to the
	 * host that waited for earlier work. All of these are in `time` as well. Without a
	 * profile: only waits.
	 */
	uint64_t held_ns;
	uint64_t held_launch_ns, held_copy_ns; /* parts of it */
	/*
	 * Lifetimes of submitting threads, each from its first call on, and of threads that are
	 * only in the sums
	 */
	uint64_t thread_ns;
	/*
	 * blocked_ns: without a profile, time in synchronous copies and frees, which may or may
	 * not have been delayed. The queues, `time` and thread_ns are unknown then.
	 */
	bool profile;
	uint64_t blocked_ns;
	/* some calls or their ends were missed: sums of calls and times are only approximate */
	bool estimated;
	/*
	 * GPU utilization from NVML: the sum of percentages over readings, and the number of
	 * readings
	 */
	uint64_t busy_percent, busy_readings;
};

/* At `now_ns`, or at the process's end if that is earlier; without NVML's utilization. */
void load__of(const struct process *process, uint64_t now_ns, struct load *load);

/*
 * Adds NVML's latest reading of the process's busiest GPU, if there is one: the process waits for
 * that GPU. Adds nothing for an ended process.
 */
void load__add_use(const struct model *model, const struct process *process, struct load *load);

/*
 * The increase from `before`, an earlier load of the same process, to `load`; `ns` is the time
 * between them.
 */
void load__since(const struct load *load, const struct load *before, struct load *difference);

#endif
