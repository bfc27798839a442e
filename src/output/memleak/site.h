/* SPDX-License-Identifier: BSD-2-Clause */
/* Sites of `gpuprobe memleak` and the facts about each, shared by text and JSON. */
#ifndef OUTPUT_MEMLEAK_SITE_H
#define OUTPUT_MEMLEAK_SITE_H

#include "model/allocated_sites.h"
#include "model/tensors.h"
#include "output/memleak/memleak.h"

/* A process's live memory on one level. */
struct memleak_level {
	const struct process *process;
	const struct tensors *tensors; /* NULL: the level of segments */
	const struct growth *growth;
	const struct live_site *sites; /* largest first */
	size_t site_count;
	const struct allocation *live; /* largest first, if each is to be shown */
	size_t live_listed;
	uint64_t left_out_bytes, left_out_count; /* in no site, by the filter */
	uint64_t at_exit_bytes, at_exit_count;	 /* once the process has ended */
};

/* The process's levels; `tensors` only if it has any. */
void memleak_level__of_segments(struct memleak_level *level, const struct process *process,
				const struct memleak_growth *growth);
void memleak_level__of_tensors(struct memleak_level *level, const struct process *process,
			       const struct memleak_growth *growth);

/* Pinned host memory of the process, while it runs. */
void memleak_level__of_pinned(struct memleak_level *level, const struct process *process,
			      const struct memleak_growth *growth);

/* Whether the process's sites of this level are shown. */
bool memleak_level__shows_tensors(const struct process *process,
				  const struct memleak_options *options);
bool memleak_level__shows_segments(const struct process *process,
				   const struct memleak_options *options);

/*
 * A process with the indexes that its sites are looked up in: there may be tens of thousands of
 * sites.
 */
struct memleak_process {
	const struct process *process;
	struct memleak_level level;
	struct allocated_sites allocated; /* of segments, filled once the process has ended */
	/*
	 * sorted by stack, within one stack in their order of display; only if each is to be shown
	 */
	const struct allocation **allocations;
	size_t allocation_count;
};

struct memleak_site {
	const struct process *process;
	const struct live_site *live;
	const struct allocation **allocations; /* the site's allocations */
	size_t allocation_count;
	struct growth_evidence growth;
	/* once the process has ended: successful calls from the site; 0: unknown */
	uint64_t allocated;
	const struct tensor_site *made; /* of tensors; NULL: unknown */
	uint64_t freed;			/* part of `allocated` */
	enum loss untracked;		/* see memleak_site__untracked */
	/* the process has ended, and the site grew, or freed most allocations and kept some */
	bool leak;
};

/* Sums over the sites of a process that are shown. */
struct memleak_sums {
	uint64_t sites, growing, leaks;
	uint64_t too_early; /* sites that were not followed for long enough to be judged */
	uint64_t bytes, count;
	uint64_t left_out_bytes, left_out_count; /* live, but in none of these sites */
};

/*
 * The loss because of which some allocations of the level are unknown, so frees and live memory
 * are unknown too; LOSS_COUNT: none.
 */
enum loss memleak_site__untracked(const struct model *model, bool of_tensors);

/* Whether the site is not judged yet, and nothing but time is missing. */
bool memleak_site__is_early(const struct memleak_site *site);

bool memleak_site__shows(const struct live_site *live, const struct memleak_options *options);

/* Copies the level. Returns 0, or -ENOMEM, after which memleak_process__end must not be called. */
int memleak_process__begin(struct memleak_process *known, const struct memleak_level *level,
			   const struct memleak_options *options);
void memleak_process__end(struct memleak_process *known);

void memleak_site__know(const struct model *model, const struct memleak_process *known,
			const struct live_site *live, const struct memleak_options *options,
			struct memleak_site *site);

void memleak_site__sum(const struct model *model, const struct memleak_process *known,
		       const struct memleak_options *options, struct memleak_sums *sums);

#endif
