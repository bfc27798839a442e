// SPDX-License-Identifier: BSD-2-Clause
// Live allocations, see memory.h.
#include "collect/memory.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "base/saturate.h"
#include "collect/context_ends.h"
#include "collect/ended_memory.h"
#include "collect/late_frees.h"
#include "collect/memory_lists.h"
#include "collect/ranges.h"
#include "collect/shares.h"
#include "collect/site_maps.h"
#include "collect/tensors.h"
#include "gen/gpuprobe.skel.h"
#include "model/at_failure.h"
#include "model/devices.h"
#include "stack/stacks.h"

static bool lives_in_context(const struct allocation_record *record)
{
	switch (record->kind) {
	case MEMORY_DEVICE:
	case MEMORY_MANAGED:
	case MEMORY_HOST:
	case MEMORY_REGISTERED:
	case MEMORY_ARRAY:
	case MEMORY_IMPORTED: return record->context;
	default: return false;
	}
}

/* Whether the allocation has certainly ended with its context. */
static bool is_dead(const struct collector *collector, uint32_t slot,
		    const struct allocation_record *record)
{
	return lives_in_context(record) &&
	       contexts__took(collector->contexts, slot, record->context, record->start_ns) &&
	       contexts__is_settled(collector->contexts, slot, record->context);
}

/*
 * If the address has been allocated again since its record was deleted, the range of the new
 * allocation was removed with the old one's: adds it again.
 */
static void restore_range(struct collector *collector, const struct allocation_key *key)
{
	const struct gpuprobe_bpf *skeleton = collector->skeleton;
	struct allocation_record record;

	if (!bpf_map__lookup_elem(skeleton->maps.allocations, key, sizeof(*key), &record,
				  sizeof(record), 0))
		ranges__fill(skeleton->maps.ranges, skeleton->maps.allocations,
			     &collector->records[key->slot], key, &record);
}

/*
 * Deletes the allocations found dead, after the walk over the map. If an address has been allocated
 * again since, puts the new allocation back.
 */
static int clear_dead(struct collector *collector)
{
	const struct bpf_map *allocations = collector->skeleton->maps.allocations;
	const struct allocation_key *keys = (const void *)collector->dead.keys;
	int ret = 0;

	for (size_t i = 0; i < collector->dead.count && !ret; i++) {
		const struct allocation_key *key = &keys[i];
		struct process *process = collector__process_at(collector, key->slot);
		struct allocation_record record;
		bool died;

		if (!process ||
		    bpf_map__lookup_elem(allocations, key, sizeof(*key), &record, sizeof(record),
					 0) ||
		    !is_dead(collector, key->slot, &record) ||
		    bpf_map__lookup_and_delete_elem(allocations, key, sizeof(*key), &record,
						    sizeof(record), 0))
			continue;
		died = is_dead(collector, key->slot, &record);
		if (died) {
			shares__deleted_live(collector, key->slot);
			ret = context_ends__add(process, record.kind, record.device, record.size);
		}
		if (died && !ret) {
			ranges__remove(collector->skeleton->maps.ranges, key, &record);
			restore_range(collector, key);
		} else {
			bpf_map__update_elem(allocations, key, sizeof(*key), &record,
					     sizeof(record), BPF_NOEXIST);
		}
	}
	collector->dead.count = 0;
	return ret;
}

/* Adds live device memory to the lists, or counts it as left out. */
static int list_live(const struct collector *collector, struct process *process,
		     const struct allocation_record *record, const struct allocation *allocation)
{
	if (site_maps__leaves_out(collector, process, record)) {
		saturate__add(&process->left_out_bytes, record->size);
		process->left_out_count++;
		return 0;
	}
	if (memory_lists__add(process, collector->options.top, allocation))
		return -ENOMEM;
	return site_maps__add_live(collector, process, record);
}

/* Memory that is being freed was live at the failure, too. */
static int add_held(const struct reading *reading, const struct process *process,
		    const struct allocation_record *record)
{
	if (!process->at_failure || !memory_kind__is_device(record->kind) ||
	    !reading__lists(reading, process))
		return 0;
	return at_failure__add(process->at_failure, record,
			       stacks__same(reading->collector->stacks, record->stack));
}

static int take_allocation(struct reading *reading, struct process *process, const void *key_data,
			   const void *value)
{
	const struct allocation_key *key = key_data;
	const struct allocation_record *record = value;
	struct collector *collector = reading->collector;
	struct allocation allocation = {
		.address = key->address,
		.size = record->size,
		.start_ns = record->start_ns,
		.kind = record->kind,
		.device = record->device,
		.stack_id = record->stack,
	};

	if (key->late)
		return late_frees__take(reading, process, key, record);
	if (is_dead(collector, key->slot, record))
		return key_list__add(&collector->dead, key, sizeof(*key)) ? -ENOMEM : ELEMENT_SKIP;
	if (tensors__take_segment(reading, process, key, record))
		return -ENOMEM;
	if (add_held(reading, process, record))
		return -ENOMEM;
	if (memory_kind__is_device(record->kind) && key->space != SPACE_ENDING &&
	    reading__lists(reading, process) && list_live(collector, process, record, &allocation))
		return -ENOMEM;
	if (record->kind == MEMORY_HOST && reading__lists(reading, process) &&
	    !site_maps__leaves_out(collector, process, record) &&
	    site_maps__add_live(collector, process, record))
		return -ENOMEM;
	if (process->fills_ranges && memory_kind__is_device(record->kind))
		ranges__fill(collector->skeleton->maps.ranges,
			     collector->skeleton->maps.allocations, &collector->records[key->slot],
			     key, record);
	return ELEMENT_KEEP;
}

/* Only late frees are deleted during the walk. */
static void delete_allocation(struct reading *reading, const void *key)
{
	struct collector *collector = reading->collector;

	if (!bpf_map__delete_elem(collector->skeleton->maps.allocations, key,
				  sizeof(struct allocation_key), 0))
		shares__deleted_live(collector, ((const struct allocation_key *)key)->slot);
}

static const struct reading_step walk_allocations = {
	IN_MAP(allocations, allocation_key, slot),
	.take = take_allocation,
	.delete = delete_allocation,
};
static const struct reading_step walk_ranges = {IN_MAP(ranges, range_key, slot)};

static bool has_live_memory(const struct process *process)
{
	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		if ((int64_t)process->memory[kind].live_count > 0)
			return true;
	return false;
}

/* Zero-size entries would outlive the process and be attributed to the next one in this slot. */
bool memory__needs_reaping(const struct process *process)
{
	return process->slot != NO_PROCESS &&
	       (process->recorded_as_nothing || has_live_memory(process));
}

/* Whether this reading makes lists of allocations that were not gathered in advance. */
static bool lists_at_once(const struct reading *reading)
{
	return reading->with_lists && !largest__is_complete(reading->collector->largest);
}

static bool needs_walk_for(const struct reading *reading, const struct process *process)
{
	if (process->slot == NO_PROCESS)
		return false;
	if (process->deaths_seen != process->deaths_swept || process->fills_ranges ||
	    late_frees__needs_walk(reading, process))
		return true;
	if (reading__reaps(reading, process) && memory__needs_reaping(process) &&
	    !ended_memory__has(reading->collector->ended_memory, process->slot))
		return true;
	return lists_at_once(reading) && has_live_memory(process);
}

/*
 * Whether all live allocations must be walked over. A process without live memory needs no walk for
 * its end or its lists, since other processes may have a million allocations.
 */
static bool needs_walk(const struct reading *reading)
{
	const struct collector *collector = reading->collector;

	/* If counters were lost, it is uncertain whether a process has live memory. */
	if ((reading->reap || lists_at_once(reading)) &&
	    (collector->model.lost[LOSS_TALLY_MAP_FULL] || collector->model.lost[LOSS_NO_MEMORY]))
		return true;
	for (size_t i = 0; i < collector->model.process_count; i++)
		if (needs_walk_for(reading, &collector->model.processes[i]))
			return true;
	return false;
}

/*
 * The process makes copies that get their direction from their addresses: the ranges of older
 * memory must be added.
 */
static void note_unified(const struct collector *collector, struct process *process)
{
	process->fills_ranges =
		!process->filled_ranges &&
		__atomic_load_n(&collector->records[process->slot].unified, __ATOMIC_ACQUIRE);
}

static bool has_gathered(const struct reading *reading)
{
	return (reading->with_lists && largest__is_complete(reading->collector->largest)) ||
	       (reading->reap && ended_memory__is_complete(reading->collector->ended_memory));
}

/* Takes in the allocations that were gathered before, as a walk over all would. */
static int take_gathered(struct reading *reading)
{
	struct collector *collector = reading->collector;
	const struct bpf_map *allocations = collector->skeleton->maps.allocations;
	int ret;

	collector->dead.count = 0;
	reading__begin_walk(reading, &walk_allocations);
	if (reading->with_lists && largest__is_complete(collector->largest))
		ret = largest__each(collector->largest, allocations, reading__take, reading);
	else
		ret = ended_memory__each(collector->ended_memory, allocations, reading__take,
					 reading);
	reading__delete(reading);
	return ret ? ret : clear_dead(collector);
}

static int walk(struct reading *reading)
{
	struct collector *collector = reading->collector;
	int ret;

	collector->dead.count = 0;
	ret = reading__walk(reading, &walk_allocations);
	if (!ret)
		ret = clear_dead(collector);
	for (size_t i = 0; i < collector->model.process_count && !ret; i++) {
		struct process *process = &collector->model.processes[i];

		process->deaths_swept = process->deaths_seen;
		process->filled_ranges |= process->fills_ranges;
	}
	return ret;
}

static int apply_context_ends(struct collector *collector)
{
	int ret = 0;

	for (size_t i = 0; i < collector->model.process_count && !ret; i++)
		if (collector->model.processes[i].slot != NO_PROCESS)
			ret = context_ends__apply(&collector->model.processes[i]);
	return ret;
}

int memory__read(struct reading *reading)
{
	struct collector *collector = reading->collector;
	int ret = memory_lists__begin(reading);

	if (ret)
		return ret;
	/* Before the walk: it may delete allocations that is_live looks up. */
	for (size_t i = 0; i < collector->model.process_count; i++) {
		struct process *process = &collector->model.processes[i];

		if (reading__lists(reading, process))
			memory_lists__add_freed(collector, process);
		if (process->slot != NO_PROCESS)
			note_unified(collector, process);
	}
	if (needs_walk(reading))
		ret = walk(reading);
	else if (has_gathered(reading))
		ret = take_gathered(reading);
	memory_lists__sort(reading);
	return ret ? ret : apply_context_ends(collector);
}

int memory__clear_ranges(struct reading *reading)
{
	struct collector *collector = reading->collector;

	for (size_t i = 0; i < collector->model.process_count; i++) {
		const struct process *process = &collector->model.processes[i];
		const struct process_record *record;

		if (process->slot == NO_PROCESS || !reading__reaps(reading, process))
			continue;
		record = &collector->records[process->slot];
		if (record->host_levels || record->device_levels)
			return reading__walk(reading, &walk_ranges);
	}
	return 0;
}
