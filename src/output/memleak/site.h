/* SPDX-License-Identifier: BSD-2-Clause */
/* Sites of `gpuprobe memleak` and what is known of each, the same for text and JSON. */
#ifndef OUTPUT_MEMLEAK_SITE_H
#define OUTPUT_MEMLEAK_SITE_H

#include "model/allocated_sites.h"
#include "output/memleak/memleak.h"

/* A process, and what its sites are looked up in: there may be ten thousands of them. */
struct memleak_process {
	const struct process *process;
	struct allocated_sites allocated;      /* once it has ended */
	const struct allocation **allocations; /* by stack, those of one in their order; where each is to be shown */
	size_t allocation_count;
};

struct memleak_site {
	const struct process *process;
	const struct live_site *live;
	const struct allocation **allocations; /* from there */
	size_t allocation_count;
	struct growth_evidence growth;
	uint64_t allocated;  /* once the process has ended: successful calls from there; 0: not known */
	uint64_t freed;	     /* of these */
	enum loss untracked; /* memleak_site__untracked's */
	bool leak;	     /* the process has ended, and it grew or freed most and kept some */
};

/* Sums over the sites of a process that are not left out. */
struct memleak_sums {
	uint64_t sites, growing, leaks;
	uint64_t bytes, count;
	uint64_t left_out_bytes, left_out_count; /* live, and in none of these sites */
};

/* Why some allocations are not known, so that neither frees nor what is live can be: a loss, or LOSS_COUNT. */
enum loss memleak_site__untracked(const struct model *model);

bool memleak_site__shows(const struct live_site *live, const struct memleak_options *options);

/* 0, or -ENOMEM: then there is nothing to end. */
int memleak_process__begin(struct memleak_process *known, const struct process *process,
			   const struct memleak_options *options);
void memleak_process__end(struct memleak_process *known);

void memleak_site__know(const struct model *model, const struct memleak_process *known, const struct live_site *live,
			const struct growth *growth, const struct memleak_options *options, struct memleak_site *site);

void memleak_site__sum(const struct model *model, const struct memleak_process *known, const struct growth *growth,
		       const struct memleak_options *options, struct memleak_sums *sums);

#endif
