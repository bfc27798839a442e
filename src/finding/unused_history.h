/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that processes have reserved and do not use, over time: whether that lasts. */
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

/* The least that was reserved and not used in the latest window. */
struct unused_evidence {
	bool known;	    /* it was looked at for long enough */
	uint64_t bytes;	    /* in each sample at least so many */
	double share;	    /* of what was reserved: in each sample at least */
	uint64_t span_ns;   /* the time that was looked at */
	uint64_t needed_ns; /* so long it has to be */
	uint64_t samples;   /* in it */
};

/* Of a pool of the process; of NULL: physical memory that is mapped nowhere. */
void unused_history__judge(const struct unused_history *history, const struct process *process,
			   const struct pool_totals *pool, struct unused_evidence *evidence);

/* Physical memory of the process that is mapped nowhere: so much at least. *created: all there is. */
uint64_t unused_history__unmapped(const struct process *process, uint64_t *created);

#endif
