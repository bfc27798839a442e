/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything gpuprobe knows at one moment: plain data, filled from the BPF maps (collect/) and read
 * by the forms of output (output/).
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "gpuprobe/function.h"
#include "gpuprobe/losses.h"
#include "gpuprobe/rate.h"
#include "model/silent_targets.h"
#include "device/gpu.h"
#include "model/process.h"

enum section {
	SECTION_MEMORY = 1 << 0,
	SECTION_LAUNCH = 1 << 1,
	SECTION_COPY = 1 << 2,
	SECTION_ALL = SECTION_MEMORY | SECTION_LAUNCH | SECTION_COPY,
	/* objects that hold memory, beside another section; part of SECTION_ALL anyway */
	SECTION_OBJECTS = 1 << 3,
};

struct host_side;
struct nccl_jobs;
struct nccl_note;
struct oom;
struct xids;
struct gpu_times;

/* The overhead budget that probes keep to, and how. */
struct sampling {
	/* largest allowed slowdown of a thread, 0.05: 5 %; 0: no limit, all probes stay attached */
	double max_overhead;
	bool by_default; /* the default; the user did not request it */
	double overhead; /* estimated slowdown of the worst-hit thread */
	/* share of time that the family's probes are attached now; 1: always */
	double share[RATE_FAMILIES];
	bool sampled[RATE_FAMILIES]; /* the share was below 1 at some time */
};

struct model {
	struct timespec wall;	    /* CLOCK_REALTIME of the snapshot */
	uint64_t now_ns;	    /* CLOCK_BOOTTIME of the snapshot */
	unsigned int sections;	    /* enum section, the selected ones */
	unsigned int launch_sample; /* one launch in this many is checked; 1: each; 0: none */
	/* grid and block are read for one launch in this many; 1: each */
	unsigned int shape_sample;
	bool final; /* the last report of this run */
	/* the reading was incomplete: totals and lists may lack something */
	bool broken_off;
	bool no_returns;	 /* --no-return-probes: see struct unfollowed_totals */
	bool stacks;		 /* stacks are taken, so there may be call sites */
	uint64_t stacks_kept;	 /* distinct stacks */
	uint64_t stacks_evicted; /* so far, for lack of room */
	uint64_t stacks_unwound; /* stack copies unwound so far */
	uint64_t min_wait_ns;	 /* shorter waits do not count at call sites */
	/* The first launch of a kernel at a site has its stack taken, then one in this many */
	unsigned int stack_sample;

	struct process *processes; /* in order of first sight */
	size_t process_count;

	struct target_processes targets; /* not owned by the model */

	struct gpu *gpus; /* the machine's, from NVML; while there are CUDA processes */
	size_t gpu_count;
	uint64_t gpus_ns; /* when NVML was queried for them, CLOCK_BOOTTIME; 0: never */

	struct sampling sampling;

	const struct host_side *host; /* NULL: threads are not followed; not owned by the model */

	uint64_t lost[LOSS_COUNT];
	uint64_t probes_attached[LAYER_COUNT];
	uint64_t sites_missing; /* functions of the table that a library lacks */
	size_t libraries;	/* library files with probes */
	/*
	 * by row of api_functions: the kernel must single-step the call's probe; NULL: none; not
	 * owned by the model
	 */
	const bool *slow;
	uint64_t live_at_exit_bytes; /* sum over all ended processes */
	const struct oom *ooms;	     /* reports so far; not owned by the model */
	size_t oom_count;
	/* what is wrong with NCCL's ranks; not owned by the model, and valid until its update */
	const struct nccl_note *nccl;
	size_t nccl_count;
	/*
	 * communicators of NCCL with their ranks, nccl/jobs.h; NULL: its calls are not traced, or
	 * nobody uses it; not owned by the model
	 */
	const struct nccl_jobs *nccl_jobs;
	uint64_t nccl_lost; /* calls that have not reached these */
	/* GPU errors that the driver reported, model/xids.h; NULL: not watched; not owned */
	const struct xids *xids;
	/* times of GPUs' own clocks, model/gpu_times.h; NULL: not asked for; not owned */
	const struct gpu_times *gpu_times;
};

/*
 * The process with that pid that had not ended by `alive_ns`, the first of several; NULL: none in
 * the model.
 */
const struct process *model__process_of(const struct model *model, int32_t pid, uint64_t alive_ns);

/* Whether anything was lost. */
bool model__has_losses(const struct model *model);

/* Releases all that the model owns and leaves it empty. */
void model__clear(struct model *model);

#endif
