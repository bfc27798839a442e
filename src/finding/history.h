/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules judge by its course over time: live memory by call site or size
 * (model/growth.h), the memory of devices, what is reserved and not used, graphs,
 * and what GPUs were given to do in the latest minute.
 */
#ifndef FINDING_HISTORY_H
#define FINDING_HISTORY_H

#include "finding/device_history.h"
#include "finding/finding.h"
#include "finding/graph_history.h"
#include "finding/load_history.h"
#include "finding/unused_history.h"
#include "model/growth.h"

struct finding_history {
	uint64_t window_ns, sampled_ns;
	struct growth *growth;
	struct device_history *devices;
	struct unused_history *unused;
	struct graph_history *graphs;
	struct load_history *loads; /* NULL: nobody asks for the latest minute */
};

/* `latest`: with `loads`. NULL without memory. */
struct finding_history *finding_history__new(uint64_t window_ns, bool latest);
void finding_history__free(struct finding_history *history);

/* Takes a sample of all, as of model->now_ns. 0 or -ENOMEM: some is not followed then. */
int finding_history__sample(struct finding_history *history, const struct model *model);

/* The history behind a rule's `state`. */
const struct finding_history *findings__history(const struct findings *findings);

#endif
