/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The profile of one followed thread at a moment: what BPF has counted for it, and what it is doing
 * just now.
 */
#ifndef HOST_COUNTS_H
#define HOST_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/host.h"

struct host_counts {
	uint64_t at_ns; /* time of these values: now, or the thread's end */
	bool began, ended;
	uint64_t ns[HOST_ACTIVITIES][HOST_CLASSES];
	uint64_t times[HOST_ACTIVITIES];
	uint64_t samples[HOST_CLASSES];
};

/* Reads a profile while BPF programs may be writing it. */
void host_counts__read(struct host_counts *counts, const volatile struct host_profile *profile,
		       uint64_t now_ns);

/* Subtracts `before`, an earlier reading of the same thread. */
void host_counts__since(struct host_counts *counts, const struct host_counts *before);

/*
 * Distributes the CPU time among the classes by the samples; without samples it counts as outside
 * of calls.
 */
void host_counts__share_cpu(struct host_counts *counts);

/* The time by whether the thread had a CPU, lacked one, or slept. */
struct host_split {
	uint64_t running_ns, ready_ns, asleep_ns;
};

struct host_split host_counts__split(const struct host_counts *counts);

#endif
