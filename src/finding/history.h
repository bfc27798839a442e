/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The history that rules need: live memory by call site or size (model/growth.h), the memory of
 * devices, reserved but unused memory, graphs, and the load of GPUs in the latest minute.
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
	struct load_history *loads; /* NULL: the latest minute is not needed */
};

/* `latest`: keep `loads`. NULL without memory. */
struct finding_history *finding_history__new(uint64_t window_ns, bool latest);
void finding_history__free(struct finding_history *history);

/* Samples all of them at model->now_ns. 0 or -ENOMEM: some are not followed then. */
int finding_history__sample(struct finding_history *history, const struct model *model);

/* The history behind a rule's `state`. */
const struct finding_history *findings__history(const struct findings *findings);

#endif
