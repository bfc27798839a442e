/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steady time of a process, which the verdict and findings are about: a start with its loads and first launches
 * makes no fault of a program that runs for hours, and hides none.
 *
 * It begins with the first step that lasts as long as those after it do (model/steps.h). Where nothing repeats it begins with
 * the process's first work, if gpuprobe came later than the process, or rather when its GPU's idle time can be proved; else half of the time since that is taken for the start, or
 * START_MOST_NS. In fact it begins at the first reading after that which is kept here: some are, with all that was counted by then.
 */
#ifndef MODEL_STEADY_H
#define MODEL_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/load.h"
#include "model/model.h"

#define START_MOST_NS 30000000000ull
#define STEADY_LEAST_NS 2000000000ull /* less of it says nothing of how it goes on */
#define STEADY_BASES SITE_MARKS	      /* readings that are kept */

struct steady;

/* At a reading, with a profile: keeps it where the steady time may begin with it. 0 or -ENOMEM. */
int steady__follow(const struct model *model, struct process *process);
void steady__free(struct steady *steady);

/* What it takes in memory, about; 0 for NULL. */
size_t steady__bytes(const struct steady *steady);

/* Since when it is steady, as known at `now_ns`; 0: it is not known to be, or for less than STEADY_LEAST_NS. */
uint64_t steady__since_ns(const struct process *process, uint64_t now_ns);

/* The mark of that moment (model/sites.h); -1: there is none. */
int steady__mark(const struct process *process, uint64_t now_ns);

/* The load of the steady time, which `ns` is the length of; NVML's is of all readings in it. False: it is not known to be steady. */
bool steady__load(const struct process *process, uint64_t now_ns, struct load *load);

/* For who counts by marks, too: what was counted when a mark was made is to be kept with it. */
struct steady_marks {
	uint64_t ns[SITE_MARKS]; /* when each was made; 0: it was not */
	int mark;		 /* as steady__mark */
};

void steady__marks(const struct process *process, uint64_t now_ns, struct steady_marks *marks);

/*
 * A copy of a process of which nothing is estimated with only what was counted in its steady time, of what is counted: threads, functions,
 * sizes of allocations and copies, repeated copies, and what the model has by function. All else is as in `process`. Threads
 * began then, at the earliest. Returns 0, -ENOMEM, or -EINVAL where it is not known to be steady; release with steady__clear_view. `process` must outlive it.
 */
int steady__view(const struct process *process, uint64_t now_ns, struct process *view);
void steady__clear_view(struct process *view);

#endif
