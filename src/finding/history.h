/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules judge by its course over time: live memory by call site or size,
 * the memory of devices, and what is reserved and not used.
 */
#ifndef FINDING_HISTORY_H
#define FINDING_HISTORY_H

#include "finding/finding.h"
#include "model/growth.h"

struct finding_history;

/* NULL without memory. */
struct finding_history *finding_history__new(uint64_t window_ns);
void finding_history__free(struct finding_history *history);

/* Takes a sample of all, as of model->now_ns. 0 or -ENOMEM: some is not followed then. */
int finding_history__sample(struct finding_history *history, const struct model *model);

/* The history behind a rule's `state`. */
const struct finding_history *findings__history(const struct findings *findings);

/* Growth of sites and sizes. */
const struct growth *finding_history__growth(const struct finding_history *history);

/* Whether the used memory of a GPU grows; unknown without samples where it is not followed. */
void finding_history__judge_gpu(const struct finding_history *history, const struct gpu *gpu,
				struct growth_evidence *evidence);

/* The least that was reserved and not used over a time. */
struct unused_evidence {
	bool known;	  /* it was looked at for long enough */
	uint64_t bytes;	  /* in each sample at least so many */
	double share;	  /* of what was reserved: in each sample at least */
	uint64_t span_ns; /* the time that was looked at */
	uint64_t samples; /* in it */
};

/* Of a pool of the process; of NULL: physical memory that is mapped nowhere. */
void finding_history__judge_unused(const struct finding_history *history, const struct process *process,
				   const struct pool_totals *pool, struct unused_evidence *evidence);

/* Physical memory of the process that is mapped nowhere: so much at least. *created: all there is. */
uint64_t finding_history__unmapped(const struct process *process, uint64_t *created);

#endif
