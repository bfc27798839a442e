/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads memory pools from the BPF map `pools` into the model. */
#ifndef COLLECT_POOLS_H
#define COLLECT_POOLS_H

#include "collect/reading.h"

/* Empties the processes' lists before the map is read into them. Returns 0. */
int pools__begin(struct reading *reading);

/* Adds a pool to its process's list (reading_step.take). */
int pools__take(struct reading *reading, struct process *process, const void *key,
		const void *value);

#endif
