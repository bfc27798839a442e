// SPDX-License-Identifier: BSD-2-Clause
// Memory pools, see pools.h; bpf/memory/pool.bpf.h says what is reckoned, and how.
#include "collect/pools.h"

#include <errno.h>
#include <stdlib.h>

#include "gen/gpuprobe.skel.h"

static int add_pool(struct process *process, const struct pool_totals *pool)
{
	struct pool_totals *grown;
	size_t at = process->pool_count;

	grown = realloc(process->pools, (process->pool_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	process->pools = grown;
	process->pool_count++;
	for (; at && (grown[at - 1].device > pool->device ||
		      (grown[at - 1].device == pool->device && grown[at - 1].handle > pool->handle));
	     at--)
		grown[at] = grown[at - 1];
	grown[at] = *pool;
	return 0;
}

static int read_pool(const void *key_data, const void *value, void *arg)
{
	const struct pool_key *key = key_data;
	const struct pool_record *record = value;
	struct reading *reading = arg;
	struct collector *collector = reading->collector;
	struct process *process = collector__process_at(collector, key->slot);
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

	if (!process)
		return 0;
	/* Waits that the pool's next event will find. */
	if (record->waits != collector->records[key->slot].waits && pool.reserved > least) {
		pool.reserved = least;
		pool.estimated = true;
	}
	if (!record->alias && add_pool(process, &pool))
		return -ENOMEM;
	return reading__end(reading, process, key);
}

int pools__read(struct reading *reading)
{
	struct collector *collector = reading->collector;

	for (size_t i = 0; i < collector->model.process_count; i++)
		if (collector->model.processes[i].slot != NO_PROCESS)
			collector->model.processes[i].pool_count = 0;
	return reading__map(reading, collector->skeleton->maps.pools, read_pool);
}
