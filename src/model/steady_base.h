/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process had counted up to a reading with which its steady time may begin (model/steady.h).
 * What it counted since then is the difference.
 */
#ifndef MODEL_STEADY_BASE_H
#define MODEL_STEADY_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "model/load.h"
#include "model/model.h"
#include "model/profile.h"

/* A list at that time, ordered by key. */
struct kept_list {
	void *items;
	size_t count;
};

/* Everything counted up to a reading. */
struct steady_base {
	uint64_t ns;
	int mark;	  /* mark of the call sites */
	struct load load; /* NVML's part covers all readings up to then */
	struct kept_list threads, functions, sizes, copies, repeats, totals;
	struct process_profile shared;
	struct covered_totals covered[COPY_KINDS];
};

/*
 * bases[0] is from the process's first work. The others are the latest ones; each covers half as
 * much time again as the one before.
 */
struct steady {
	struct steady_base *bases[SITE_MARKS];
	size_t count;
	uint64_t worked_ns; /* the first reading with work */
	struct load use;    /* only NVML's utilization, over all readings */
};

/*
 * Keeps what the process, which has a profile, has counted by now. `load` is its load then. NULL
 * without memory.
 */
struct steady_base *steady_base__new(const struct process *process, const struct load *load);

/* Orders the lists again, in a base that was read from a recording: rows may have other numbers. */
void steady_base__sort(struct steady_base *base);

void steady_base__free(struct steady_base *base); /* NULL ok */

/* Approximate size in memory. */
size_t steady_base__bytes(const struct steady_base *base);

/*
 * Subtracts what was counted up to then from `view`, a later copy of the same process with its own
 * lists, and sorts the lists again that are ordered by time.
 */
void steady_base__subtract(const struct steady_base *base, struct process *view);

#endif
