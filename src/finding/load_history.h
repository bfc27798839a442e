/* SPDX-License-Identifier: BSD-2-Clause */
/* The load of processes (model/load.h) in the latest minute: what a window of it is taken from. */
#ifndef FINDING_LOAD_HISTORY_H
#define FINDING_LOAD_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/load.h"

struct load_history;

/* NULL without memory. */
struct load_history *load_history__new(void);
void load_history__free(struct load_history *history);

/* 0 or -ENOMEM. Processes beyond LOAD_PROCESSES are not followed. */
int load_history__sample(struct load_history *history, const struct model *model);

#define LOAD_PROCESSES 256

/*
 * The load of the process from the latest sample that is not after `from_ns` to now, or from the first that is kept: its sums, and in `ns`
 * how long that is. NVML's are of all readings in between. False where there is no sample, or no time since.
 */
bool load_history__window(const struct load_history *history, const struct model *model, const struct process *process,
			  uint64_t from_ns, struct load *window);

/* When the process was sampled first; 0: it was not. */
uint64_t load_history__first_ns(const struct load_history *history, const struct process *process);

#endif
