// SPDX-License-Identifier: BSD-2-Clause
// Lists of live and freed memory in reports, see memory_lists.h.
#include "collect/memory_lists.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "gen/gpuprobe.skel.h"

int memory_lists__begin(const struct reading *reading)
{
	struct collector *collector = reading->collector;

	for (size_t i = 0; i < collector->model.process_count; i++) {
		struct process *process = &collector->model.processes[i];

		if (!reading__lists(reading, process))
			continue;
		if (!process->freed)
			process->freed = calloc(FREED_KEPT, sizeof(*process->freed));
		if (!process->freed)
			return -ENOMEM;
		process->live_listed = 0;
		process->left_out_bytes = process->left_out_count = 0;
		process->freed_listed = 0;
	}
	return 0;
}

/* Appends to a list that is sorted once all allocations have been seen. */
static int append_allocation(struct process *process, const struct allocation *allocation)
{
	size_t capacity = process->live_capacity ? process->live_capacity * 2 : 64;
	struct allocation *grown;

	if (process->live_listed == process->live_capacity) {
		grown = realloc(process->live, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		process->live = grown;
		process->live_capacity = capacity;
	}
	process->live[process->live_listed++] = *allocation;
	return 0;
}

int memory_lists__add(struct process *process, size_t top, const struct allocation *allocation)
{
	struct allocation *live;
	size_t i;
	int ret;

	if (!top)
		return append_allocation(process, allocation);
	if (process->live_listed == top && process->live[top - 1].size >= allocation->size)
		return 0;
	if (process->live_listed < top) {
		ret = append_allocation(process, allocation);
		if (ret)
			return ret;
	}
	live = process->live;
	for (i = process->live_listed - 1; i > 0 && live[i - 1].size < allocation->size; i--)
		live[i] = live[i - 1];
	live[i] = *allocation;
	return 0;
}

static bool is_live(const struct collector *collector, const struct process *process,
		    uint64_t address)
{
	struct allocation_key key = {.address = address, .slot = process->slot};
	struct allocation_record record;

	return !bpf_map__lookup_elem(collector->skeleton->maps.allocations, &key, sizeof(key),
				     &record, sizeof(record), 0);
}

static bool is_listed_freed(const struct process *process, uint64_t address)
{
	for (size_t i = 0; i < process->freed_listed; i++)
		if (process->freed[i].address == address)
			return true;
	return false;
}

void memory_lists__add_freed(const struct collector *collector, struct process *process)
{
	const struct process_record *record = &collector->records[process->slot];
	uint32_t seen = __atomic_load_n(&record->freed_next, __ATOMIC_RELAXED);
	uint32_t fresh = seen - process->freed_reported;
	uint32_t kept = fresh < FREED_KEPT ? fresh : FREED_KEPT;

	process->freed_seen = seen;
	for (uint32_t i = 1; i <= kept; i++) {
		uint64_t address = record->freed[(seen - i) % FREED_KEPT];

		if (address && !is_listed_freed(process, address) &&
		    !is_live(collector, process, address))
			process->freed[process->freed_listed++].address = address;
	}
	process->freed_unlisted = fresh - kept;
}

static int by_size(const void *a, const void *b)
{
	const struct allocation *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return x->address < y->address ? -1 : x->address > y->address;
}

void memory_lists__sort(const struct reading *reading)
{
	struct collector *collector = reading->collector;

	for (size_t i = 0; i < collector->model.process_count; i++) {
		struct process *process = &collector->model.processes[i];

		if (reading__lists(reading, process) && process->live_listed)
			qsort(process->live, process->live_listed, sizeof(*process->live), by_size);
	}
}
