// SPDX-License-Identifier: BSD-2-Clause
// Reading and clearing of one map, see sweep.h.
#include "collect/sweep.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "collect/ended_keys.h"

enum sweep_verdict sweep__of_process(const struct sweep *sweep, uint32_t slot)
{
	const struct process *process = collector__process_at(sweep->collector, slot);

	return sweep->reap && process && process->ended ? SWEEP_END : SWEEP_KEEP;
}

static int take_entry(const void *key, const void *value, void *arg)
{
	struct sweep *sweep = arg;
	int ret = sweep->take(sweep, key, value);

	if (ret == SWEEP_END)
		return ended_keys__add(sweep->collector->ended, sweep->map, key);
	return ret == SWEEP_DELETE ? key_list__add(&sweep->doomed, key, bpf_map__key_size(sweep->map)) : ret;
}

int sweep__run(struct sweep *sweep)
{
	size_t size = bpf_map__key_size(sweep->map);
	int ret;

	ret = map_reader__each(sweep->collector->reader, sweep->map, take_entry, sweep);
	for (size_t i = 0; i < sweep->doomed.count; i++) {
		const char *key = sweep->doomed.keys + i * size;

		if (!bpf_map__delete_elem(sweep->map, key, size, 0) && sweep->deleted)
			sweep->deleted(sweep, key);
	}
	free(sweep->doomed.keys);
	sweep->doomed = (struct key_list){0};
	return ret;
}
