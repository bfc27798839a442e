// SPDX-License-Identifier: BSD-2-Clause
// Memory pools, see pools.h; bpf/memory/pool.bpf.h explains the estimates.
#include "collect/pools.h"

#include <errno.h>
#include <stdlib.h>

static int add_pool(struct process *process, const struct pool_totals *pool)
{
	struct pool_totals *grown;
	size_t at = process->pool_count;

	grown = realloc(process->pools, (process->pool_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	process->pools = grown;
	process->pool_count++;
	for (;
	     at && (grown[at - 1].device > pool->device ||
		    (grown[at - 1].device == pool->device && grown[at - 1].handle > pool->handle));
	     at--)
		grown[at] = grown[at - 1];
	grown[at] = *pool;
	return 0;
}

int pools__begin(struct reading *reading)
{
	struct model *model = &reading->collector->model;

	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].slot != NO_PROCESS)
			model->processes[i].pool_count = 0;
	return 0;
}

int pools__take(struct reading *reading, struct process *process, const void *key,
		const void *value)
{
	const struct pool_record *record = value;
	struct pool_totals pool = {
		.handle = record->handle,
		.device = record->device,
		.used = pool_record__used(record),
		.reserved = record->reserved,
		.threshold = record->threshold,
		.estimated = record->estimated,
		.destroyed = record->destroyed,
	};
	uint64_t least = POOL_STEPS(record->threshold > pool.used ? record->threshold : pool.used);

	(void)key;
	/* These waits have trimmed the pool, but BPF only accounts for them at its next event. */
	if (record->waits != reading->collector->records[process->slot].waits &&
	    pool.reserved > least) {
		pool.reserved = least;
		pool.estimated = true;
	}
	if (!record->alias && add_pool(process, &pool))
		return -ENOMEM;
	return ELEMENT_KEEP;
}
