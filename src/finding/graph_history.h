/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many executable graphs processes created while they launched graphs. Graphs created at
 * startup and launched from then on do not count.
 */
#ifndef FINDING_GRAPH_HISTORY_H
#define FINDING_GRAPH_HISTORY_H

#include <stdint.h>

#include "model/model.h"

struct graph_history;

/* NULL without memory. */
struct graph_history *graph_history__new(void);
void graph_history__free(struct graph_history *history);

/* 0 or -ENOMEM. */
int graph_history__sample(struct graph_history *history, const struct model *model);

/* Instantiations so far, in intervals between samples in which graphs were launched too. */
uint64_t graph_history__made_between(const struct graph_history *history,
				     const struct process *process);

#endif
