/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steady time of a process, which the verdict and findings cover: startup with its loads and
 * first launches is not a fault of a program that runs for hours, and must not hide one.
 *
 * It begins with the first step that is no longer than those after it (model/steps.h). If nothing
 * repeats and gpuprobe started after the process, it begins with the process's first work seen, or
 * rather once its GPU's idle time can be proven. If gpuprobe was there from the start, half of the
 * time since the first work counts as startup, at most START_MOST_NS. In practice it begins at the
 * first kept reading after that moment: some readings are kept, with everything counted up to them.
 */
#ifndef MODEL_STEADY_H
#define MODEL_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/load.h"
#include "model/model.h"

#define START_MOST_NS 30000000000ull
#define STEADY_LEAST_NS 2000000000ull /* a shorter time does not show how the process goes on */
#define STEADY_BASES SITE_MARKS	      /* kept readings */

struct steady;

/*
 * Called at a reading, with a profile: keeps the reading if the steady time may begin with it. 0
 * or -ENOMEM.
 */
int steady__follow(const struct model *model, struct process *process);
void steady__free(struct steady *steady);

/* Approximate size in memory; 0 for NULL. */
size_t steady__bytes(const struct steady *steady);

/*
 * Since when it has been steady, as known at `now_ns`; 0: unknown, or for less than
 * STEADY_LEAST_NS.
 */
uint64_t steady__since_ns(const struct process *process, uint64_t now_ns);

/* The mark of that moment (model/sites.h); -1: none. */
int steady__mark(const struct process *process, uint64_t now_ns);

/*
 * The load in the steady time, whose length is `ns`; NVML's part covers all readings in it. False:
 * not known to be steady.
 */
bool steady__load(const struct process *process, uint64_t now_ns, struct load *load);

/* For other users of marks: keep what was counted when a mark was made. */
struct steady_marks {
	uint64_t ns[SITE_MARKS]; /* when each was made; 0: it was not made */
	int mark;		 /* as returned by steady__mark */
	uint64_t end_ns;	 /* the end of the process, or else now */
};

void steady__marks(const struct process *process, uint64_t now_ns, struct steady_marks *marks);

/*
 * A copy of a process without estimates that only has the counts of its steady time: threads,
 * functions, sizes of allocations and copies, repeated copies, and the model's counters by
 * function. Everything else is as in `process`. Threads begin no earlier than the steady time.
 * Returns 0, -ENOMEM, or -EINVAL if the process is not known to be steady; release with
 * steady__clear_view. `process` must outlive it.
 */
int steady__view(const struct process *process, uint64_t now_ns, struct process *view);
void steady__clear_view(struct process *view);

#endif
