/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that processes have reserved but do not use, over time: whether that lasts. */
#ifndef FINDING_UNUSED_HISTORY_H
#define FINDING_UNUSED_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

struct unused_history;

/* NULL without memory. */
struct unused_history *unused_history__new(uint64_t window_ns);
void unused_history__free(struct unused_history *history);

/* 0 or -ENOMEM. */
int unused_history__sample(struct unused_history *history, const struct model *model);

/* The least reserved but unused memory in the latest window. */
struct unused_evidence {
	bool known;	    /* it was followed for long enough */
	uint64_t bytes;	    /* lowest amount over all samples */
	double share;	    /* lowest share of the reserved memory over all samples */
	uint64_t span_ns;   /* length of the examined time */
	uint64_t needed_ns; /* required length */
	uint64_t samples;   /* number of samples in it */
};

/* For a pool of the process; NULL: physical memory that is mapped nowhere. */
void unused_history__judge(const struct unused_history *history, const struct process *process,
			   const struct pool_totals *pool, struct unused_evidence *evidence);

#endif
