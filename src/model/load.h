/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process has given its GPUs to do and how long it was held up by them, summed up to a moment; the difference of two
 * moments is what a verdict (finding/verdict.h) is made of.
 */
#ifndef MODEL_LOAD_H
#define MODEL_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/profile.h"
#include "model/model.h"

/* Of a device by its number in the process; the last has what is of no known device. */
struct load_queue {
	bool used;	  /* something was ever queued there */
	uint64_t idle_ns; /* proved to have had nothing to do, gpuprobe/profile.h */
	uint64_t idle_times;
};

struct load {
	uint64_t ns; /* the moment, CLOCK_BOOTTIME: the process's end at the latest */
	struct load_queue queues[ACCOUNT_DEVICES];
	bool proves; /* the queues of the process are followed: idle_ns means something */
	uint64_t launches, copies;
	struct time_totals time[TIME_CLASSES]; /* of all threads, with what is estimated */
	/*
	 * How long calls were held up by the GPU: waits, launches that found the queue full, copies to the host that
	 * waited for what was before them. All of these are in `time` as well. Without a profile: waits alone.
	 */
	uint64_t held_ns;
	uint64_t held_launch_ns, held_copy_ns; /* of it */
	/* The lives of the threads that submit work, each from its first call on, and of those that are only summed up */
	uint64_t thread_ns;
	/*
	 * Without a profile: synchronous copies and frees, which may have been held up or not. The queues, `time` and
	 * thread_ns are not known then.
	 */
	bool profile;
	uint64_t blocked_ns;
	bool estimated; /* some calls were not seen, or their ends: the sums of calls and times are about right at most */
	/* NVML's use of the GPUs of the process: the sum of percents over readings, and how many there were */
	uint64_t busy_percent, busy_readings;
};

/* As of `now_ns`, or the process's end, which is earlier; without NVML's use. */
void load__of(const struct process *process, uint64_t now_ns, struct load *load);

/*
 * Adds NVML's latest reading of the process's GPU that is busiest, where there is one: it is the one that the process waits for.
 * Nothing for a process that has ended.
 */
void load__add_use(const struct model *model, const struct process *process, struct load *load);

/* What `load` has more than `before`, an earlier one of the same process; `ns` is the time between. */
void load__since(const struct load *load, const struct load *before, struct load *difference);

#endif
