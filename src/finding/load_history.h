/* SPDX-License-Identifier: BSD-2-Clause */
/* The load of processes (model/load.h) in the latest minute, from which windows are taken. */
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
 * The load of the process from the latest sample not after `from_ns`, or else from the oldest one
 * kept, until now: its sums, and the length in `ns`. NVML's part covers all readings in between.
 * False if there is no sample, or no time has passed since.
 */
bool load_history__window(const struct load_history *history, const struct model *model,
			  const struct process *process, uint64_t from_ns, struct load *window);

/* When the process was first sampled; 0: never. */
uint64_t load_history__first_ns(const struct load_history *history, const struct process *process);

/*
 * Work from before a process was watched is assumed finished after this time. Until then nothing
 * proves its GPUs idle (bpf/profile/queue.bpf.h).
 */
#define LOAD_EARLIER_NS 2000000000ull

/* The oldest sample that is at least LOAD_EARLIER_NS after the first one; 0: none. */
uint64_t load_history__settled_ns(const struct load_history *history,
				  const struct process *process);

#endif
