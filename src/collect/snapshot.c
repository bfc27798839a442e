// SPDX-License-Identifier: BSD-2-Clause
/*
 * One reading of all BPF maps into the model. Kernels whose generation is over
 * are deleted on the way, entries of ended processes at its end: what they counted
 * has been taken over by then.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/profile_maps.h"
#include "collect/count_table.h"
#include "collect/ended_keys.h"
#include "collect/graphs.h"
#include "collect/inflight.h"
#include "collect/launches.h"
#include "collect/memory.h"
#include "collect/objects.h"
#include "collect/open_calls.h"
#include "collect/thread_counts_reader.h"
#include "collect/private.h"
#include "collect/reading.h"
#include "collect/shapes.h"
#include "collect/shares.h"
#include "collect/site_maps.h"
#include "collect/steps.h"
#include "collect/tally.h"
#include "gen/gpuprobe.skel.h"
#include "gpuprobe/rate.h"
#include "api/api.h"
#include "model/failures.h"
#include "target/proc.h"

#define LEAVE_NS (10 * NS_PER_S) /* how long an ended process's threads may take to leave */

int reading__doom(struct reading *reading, const void *key)
{
	return key_list__add(&reading->collector->doomed, key, bpf_map__key_size(reading->map));
}

int reading__make_room(struct reading *reading)
{
	return key_list__make_room(&reading->collector->doomed, bpf_map__key_size(reading->map));
}

int reading__end(struct reading *reading, const struct process *process, const void *key)
{
	return reading__dooms(reading, process) ? ended_keys__add(reading->collector->ended, reading->map, key) : 0;
}

static void clear_object(struct collector *collector, const struct object_key *key)
{
	struct process *process = collector__process_at(collector, key->slot);

	if (process)
		objects__clear_away(process, collector->contexts, collector->skeleton->maps.objects, key);
}

/* Several launch keys may have needed the name, so it goes after all have been read. */
static void delete_kernel(struct reading *reading, const struct launch_key *key)
{
	if (!bpf_map__delete_elem(reading->map, key, sizeof(*key), 0))
		shares__deleted_kernel(reading->collector, key->kernel.slot);
	kernel_names__drop(reading->collector->names, &key->kernel);
}

void reading__delete_doomed(struct reading *reading)
{
	struct key_list *list = &reading->collector->doomed;
	size_t size = bpf_map__key_size(reading->map);

	for (size_t i = 0; i < list->count; i++) {
		if (reading->map == reading->collector->skeleton->maps.objects) {
			clear_object(reading->collector, (const void *)(list->keys + i * size));
			continue;
		}
		if (reading->map == reading->collector->skeleton->maps.launches)
			delete_kernel(reading, (const void *)(list->keys + i * size));
		else
			bpf_map__delete_elem(reading->map, list->keys + i * size, size, 0);
	}
	list->count = 0;
}

int reading__map(struct reading *reading, struct bpf_map *map, map_entry_fn fn)
{
	int ret;

	reading->map = map;
	reading->collector->doomed.count = 0;
	ret = map_reader__each(reading->collector->reader, map, fn, reading);
	reading__delete_doomed(reading);
	return ret;
}

/* The map is only a part of it: threads keep the rest. */
static int read_shared_tally(const void *key_data, const void *value, void *arg)
{
	struct reading *reading = arg;
	const struct tally_key *key = key_data;
	struct collector *collector = reading->collector;
	struct process *process = collector__process_at(collector, key->slot);
	int ret;

	if (!process)
		return 0;
	ret = count_table__add(thread_counts_reader__tallies(collector->thread_counts_reader), COUNT_MAP, key, value);
	if (ret)
		return ret;
	return reading__end(reading, process, key);
}

static int take_tally(const void *key_data, const struct tally *sum, bool living, void *arg)
{
	const struct reading *reading = arg;
	const struct tally_key *key = key_data;
	struct process *process = collector__process_at(reading->collector, key->slot);

	(void)living;
	if (!process)
		return 0;
	return tally__apply(process, key, sum);
}

static int read_tallies(struct reading *reading)
{
	const struct thread_counts_reader *own = reading->collector->thread_counts_reader;
	struct count_table *table = thread_counts_reader__tallies(own);
	int ret;

	count_table__begin(table);
	ret = reading__map(reading, reading->collector->skeleton->maps.tallies, read_shared_tally);
	if (!ret)
		ret = thread_counts_reader__add_tallies(own);
	return ret ? ret : count_table__each(table, take_tally, reading);
}

static int read_failure(const void *key_data, const void *value, void *arg)
{
	struct reading *reading = arg;
	const struct failure_key *key = key_data;
	const struct failure_record *record = value;
	struct process *process = collector__process_at(reading->collector, key->slot);
	int ret;

	if (!process || key->row >= api_function_count)
		return 0;
	ret = failures__add(process, key, record);
	if (ret)
		return ret;
	return reading__end(reading, process, key);
}

/* Copies or waits have not been seen, for the latest time until then. */
static uint64_t copies_unseen_until(const struct collector *collector)
{
	const volatile __u64 *until = (const volatile __u64 *)collector->skeleton->bss->unseen_until;

	return until[RATE_COPY] > until[RATE_WAIT] ? until[RATE_COPY] : until[RATE_WAIT];
}

static int read_stream(const void *key_data, const void *value, void *arg)
{
	struct reading *reading = arg;
	const struct stream_key *key = key_data;
	const struct stream_record *stream = value;
	struct collector *collector = reading->collector;
	struct process *process = collector__process_at(collector, key->slot);

	if (!process)
		return 0;
	inflight__add(process, stream, contexts__find(collector->contexts, key->slot, stream->context),
		      collector->model.now_ns, copies_unseen_until(collector));
	return reading__end(reading, process, key);
}

/* What died with its context is cleared away as well. */
static int read_object(const void *key_data, const void *value, void *arg)
{
	struct reading *reading = arg;
	const struct object_key *key = key_data;
	const struct object_record *record = value;
	const struct contexts *contexts = reading->collector->contexts;
	struct process *process = collector__process_at(reading->collector, key->slot);

	if (!process)
		return 0;
	if (objects__add(process, contexts, key, record))
		return -ENOMEM;
	if (reading__dooms(reading, process))
		return reading__end(reading, process, key);
	return contexts__took(contexts, key->slot, record->context, record->start_ns) &&
			       contexts__is_settled(contexts, key->slot, record->context) ?
		       reading__doom(reading, key) :
		       0;
}

/* Events, what streams wait for, and unnamed kernels: nothing to show, only to clear away. */
static int read_event(const void *key_data, const void *value, void *arg)
{
	const struct event_key *key = key_data;
	struct reading *reading = arg;
	struct process *process = collector__process_at(reading->collector, key->slot);

	(void)value;
	return process ? reading__end(reading, process, key) : 0;
}

static int read_orders(const void *key_data, const void *value, void *arg)
{
	const struct stream_key *key = key_data;
	struct reading *reading = arg;
	struct process *process = collector__process_at(reading->collector, key->slot);

	(void)value;
	return process ? reading__end(reading, process, key) : 0;
}

static int read_context(const void *key_data, const void *value, void *arg)
{
	const struct context_key *key = key_data;
	struct reading *reading = arg;
	struct process *process = collector__process_at(reading->collector, key->slot);

	if (!process)
		return 0;
	if (contexts__add(reading->collector->contexts, key, value))
		return -ENOMEM;
	return reading__end(reading, process, key);
}

static int read_device(const void *key_data, const void *value, void *arg)
{
	const struct device_key *key = key_data;
	const struct device_record *record = value;
	struct reading *reading = arg;
	struct process *process = collector__process_at(reading->collector, key->slot);

	if (!process)
		return 0;
	if (record->has_uuid && attribution__report_uuid(process, key->device, record->uuid))
		return -ENOMEM;
	return reading__end(reading, process, key);
}

static int read_unnamed(const void *key_data, const void *value, void *arg)
{
	const struct kernel_key *key = key_data;
	struct reading *reading = arg;
	struct process *process = collector__process_at(reading->collector, key->slot);

	(void)value;
	if (!process)
		return 0;
	if (reading__dooms(reading, process) || key->generation == reading->collector->records[key->slot].generation)
		return reading__end(reading, process, key);
	return reading__doom(reading, key);
}

static void read_losses(struct collector *collector)
{
	size_t cpus = (size_t)libbpf_num_possible_cpus();
	uint64_t *per_cpu = calloc(cpus, sizeof(*per_cpu));

	for (uint32_t reason = 0; per_cpu && reason < LOSS_COUNT; reason++) {
		if (reason == LOSS_LIBRARY_SKIPPED || reason == LOSS_ENDED_FORGOTTEN || reason == LOSS_ENDED_EARLY) /* not counted in BPF */
			continue;
		if (bpf_map__lookup_elem(collector->skeleton->maps.losses, &reason, sizeof(reason), per_cpu,
					 cpus * sizeof(*per_cpu), 0))
			continue;
		collector->model.lost[reason] = 0;
		for (size_t cpu = 0; cpu < cpus; cpu++)
			collector->model.lost[reason] += per_cpu[cpu];
	}
	free(per_cpu);
}

static void read_sticky(struct process *process, const struct process_record *record)
{
	process->sticky.code = __atomic_load_n(&record->sticky_code, __ATOMIC_ACQUIRE);
	process->sticky.ns = record->sticky_ns;
	process->sticky.same = record->sticky_failures;
	process->sticky.others = record->after_sticky;
}

/* What had no entries of its own. */
static void read_others(struct process *process, const struct process_record *record)
{
	failures__add_rest(process, __atomic_load_n(&record->other_failures, __ATOMIC_RELAXED));
	process->other_calls = __atomic_load_n(&record->other_calls, __ATOMIC_RELAXED);
	process->other_call_failures = __atomic_load_n(&record->other_call_failures, __ATOMIC_RELAXED);
	process->other_call_ns = __atomic_load_n(&record->other_call_ns, __ATOMIC_RELAXED);
	process->lost_notices = __atomic_load_n(&record->lost_notices, __ATOMIC_RELAXED);
}

static void read_shim(struct process *process, const struct process_record *record)
{
	process->called = __atomic_load_n(&record->called, __ATOMIC_ACQUIRE);
	process->shim_number = __atomic_load_n(&record->shim, __ATOMIC_ACQUIRE);
	process->driver_number = record->behind_shim;
}

/*
 * All of its threads have left, and what they have counted stays as it is. The end of one may not have been seen (the
 * kernel leaves a BPF program out that is in the middle of itself on that CPU): it is not waited for without end.
 */
static bool has_ended(const struct process_record *record, uint64_t now_ns)
{
	if (__atomic_load_n(&record->state, __ATOMIC_ACQUIRE) != PROCESS_ENDED)
		return false;
	return !__atomic_load_n(&record->threads, __ATOMIC_ACQUIRE) || now_ns > record->ended_ns + LEAVE_NS;
}

/* Sees new and ended processes, and sets what is summed up anew to 0. */
static int refresh_processes(struct collector *collector)
{
	struct model *model = &collector->model;
	int ret = 0;

	for (uint32_t slot = 0; slot < collector->options.max_processes && !ret; slot++)
		if (collector->records[slot].state != PROCESS_FREE && collector->index_of[slot] == NO_PROCESS)
			ret = collector__add_process(collector, slot);
	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];
		struct process_info info;

		if (process->slot == NO_PROCESS)
			continue;
		if (has_ended(&collector->records[process->slot], model->now_ns)) {
			process->ended = true;
			process->ended_ns = collector->records[process->slot].ended_ns;
			memcpy(process->comm, collector->records[process->slot].comm, sizeof(process->comm) - 1);
		} else if (!proc__info(process->pid, &info)) {
			memcpy(process->comm, info.comm, sizeof(process->comm) - 1);
		}
		collector__look_at_sharer(collector, process);
		read_sticky(process, &collector->records[process->slot]);
		read_shim(process, &collector->records[process->slot]);
		process->deaths_seen =
			__atomic_load_n(&collector->records[process->slot].deaths, __ATOMIC_ACQUIRE);
		tally__reset(process);
		failures__begin(process);
		read_others(process, &collector->records[process->slot]);
		shares__trim(collector, process->slot);
		memset(process->inflight, 0, sizeof(process->inflight));
	}
	return ret;
}

static int finish_processes(struct collector *collector)
{
	int ret = 0;

	for (size_t i = 0; i < collector->model.process_count && !ret; i++) {
		struct process *process = &collector->model.processes[i];

		if (process->slot == NO_PROCESS)
			continue;
		if (collector->estimates)
			ret = estimates__apply(collector->estimates, process);
		if (ret)
			return ret;
		tally__finish(process);
		ret = failures__finish(process);
		if (!ret)
			ret = kernel_table__list(process->kernel_table, process);
	}
	return ret;
}

/* Nothing is read any more that could fail. */
static void delete_ended(struct reading *reading)
{
	if (!reading->reap)
		return;
	thread_counts_reader__release(reading);
	profile_maps__release(reading);
	ended_keys__delete(reading->collector->ended);
}

/* Of a reading that broke off: not less than nothing is live. */
static void finish_tallies(struct collector *collector)
{
	for (size_t i = 0; i < collector->model.process_count; i++)
		if (collector->model.processes[i].slot != NO_PROCESS)
			tally__finish(&collector->model.processes[i]);
}

int collector__read_maps(struct collector *collector, bool with_lists, bool reap)
{
	struct reading reading = {.collector = collector, .with_lists = with_lists, .reap = reap};
	const struct gpuprobe_bpf *skeleton = collector->skeleton;
	int ret;

	collector->model.now_ns = clock__boot_ns();
	collector->model.wall = clock__wall();
	read_losses(collector);
	if (collector->estimates)
		estimates__begin(collector->estimates);
	ret = refresh_processes(collector);
	/* After that: all that an ended process has told is told by now. */
	collector__consume(collector);
	contexts__clear(collector->contexts);
	ended_keys__clear(collector->ended);
	site_maps__begin(&reading);
	if (!ret)
		ret = thread_counts_reader__map(collector->thread_counts_reader);
	if (!ret)
		ret = reading__map(&reading, skeleton->maps.contexts, read_context);
	/* Before the calls, which are counted first: no more are in flight, or of unknown size, than there are calls. */
	if (!ret)
		ret = reading__map(&reading, skeleton->maps.streams, read_stream);
	if (!ret)
		ret = graphs__read(collector, reap);
	if (!ret)
		ret = read_tallies(&reading);
	/* Before the launches, the last of which take a kernel's shape with them. */
	if (!ret)
		ret = shapes__read(collector, reap);
	if (!ret)
		ret = launches__read(&reading);
	if (!ret)
		ret = reading__map(&reading, skeleton->maps.failures, read_failure);
	if (!ret)
		ret = reading__map(&reading, skeleton->maps.objects, read_object);
	if (!ret)
		ret = memory__read(&reading);
	if (!ret && reap)
		ret = reading__map(&reading, skeleton->maps.events, read_event);
	if (!ret && reap)
		ret = reading__map(&reading, skeleton->maps.stream_orders, read_orders);
	if (!ret)
		ret = reading__map(&reading, skeleton->maps.devices, read_device);
	if (!ret && reap)
		ret = reading__map(&reading, skeleton->maps.unnamed, read_unnamed);
	if (!ret)
		ret = site_maps__read(&reading);
	if (!ret)
		ret = finish_processes(collector);
	if (!ret)
		ret = steps__read(&reading);
	if (!ret)
		ret = profile_maps__read(&reading);
	/* After what calls are counted in, see open_calls.h. */
	if (!ret)
		ret = open_calls__read(&reading);
	if (!ret)
		ret = profile_maps__finish(&reading);
	/* Last: a stack that is named may have another leave, and none does between these and the model's use. */
	if (!ret)
		ret = site_maps__list(&reading);
	if (!ret)
		ret = profile_maps__list_stacks(&reading);
	if (!ret)
		delete_ended(&reading);
	else
		finish_tallies(collector);
	thread_counts_reader__unmap(collector->thread_counts_reader);
	collector->model.broken_off = ret != 0;
	attribution__refresh(collector->attribution, &collector->model);
	return ret;
}
