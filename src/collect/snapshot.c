// SPDX-License-Identifier: BSD-2-Clause
/*
 * One reading of all BPF maps into the model. The table `steps` below lists what it does, in order.
 * Kernels of past generations are deleted on the way, entries of ended processes at the end, once
 * their counts have been taken over.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/profile_lists.h"
#include "collect/profile_maps.h"
#include "collect/count_table.h"
#include "collect/ended_keys.h"
#include "collect/graphs.h"
#include "collect/inflight.h"
#include "collect/late_frees.h"
#include "collect/launches.h"
#include "collect/memory.h"
#include "collect/objects.h"
#include "collect/open_calls.h"
#include "collect/thread_counts_reader.h"
#include "collect/pools.h"
#include "collect/process_gpus.h"
#include "collect/private.h"
#include "collect/reading.h"
#include "collect/shares.h"
#include "collect/site_maps.h"
#include "collect/steps.h"
#include "collect/tally.h"
#include "collect/tensors.h"
#include "gen/gpuprobe.skel.h"
#include "gpuprobe/profile.h"
#include "gpuprobe/rate.h"
#include "api/api.h"
#include "model/failures.h"

/* --- taking in elements of maps --- */

static int begin_tallies(struct reading *reading)
{
	count_table__begin(thread_counts_reader__tallies(reading->collector->thread_counts_reader));
	return 0;
}

static int take_shared_tally(struct reading *reading, struct process *process, const void *key,
			     const void *value)
{
	(void)process;
	return count_table__add(
		thread_counts_reader__tallies(reading->collector->thread_counts_reader), COUNT_MAP,
		key, value);
}

static int add_own_tallies(struct reading *reading)
{
	return thread_counts_reader__add_tallies(reading->collector->thread_counts_reader);
}

static int apply_tally(const void *key_data, const struct tally *sum, bool living, void *arg)
{
	const struct reading *reading = arg;
	const struct tally_key *key = key_data;
	struct process *process = collector__process_at(reading->collector, key->slot);

	(void)living;
	if (!process)
		return 0;
	return tally__apply(process, key, sum);
}

static int apply_tallies(struct reading *reading)
{
	return count_table__each(
		thread_counts_reader__tallies(reading->collector->thread_counts_reader),
		apply_tally, reading);
}

static int take_failure(struct reading *reading, struct process *process, const void *key,
			const void *value)
{
	(void)reading;
	if (((const struct failure_key *)key)->row >= api_function_count)
		return ELEMENT_SKIP;
	return failures__add(process, key, value);
}

/* The latest time until which copies or waits may have been missed. */
static uint64_t copies_unseen_until(const struct collector *collector)
{
	const volatile __u64 *until =
		(const volatile __u64 *)collector->skeleton->bss->unseen_until;

	return until[RATE_COPY] > until[RATE_WAIT] ? until[RATE_COPY] : until[RATE_WAIT];
}

static int take_stream(struct reading *reading, struct process *process, const void *key,
		       const void *value)
{
	const struct stream_record *stream = value;
	const struct collector *collector = reading->collector;

	(void)key;
	inflight__add(process, stream,
		      contexts__find(collector->contexts, process->slot, stream->context),
		      collector->model.now_ns, copies_unseen_until(collector));
	return ELEMENT_KEEP;
}

/* Also deletes objects that died with their context. */
static int take_object(struct reading *reading, struct process *process, const void *key,
		       const void *value)
{
	const struct object_record *record = value;
	const struct object_key *object = key;
	const struct contexts *contexts = reading->collector->contexts;

	if (object->kind >= OBJECT_KINDS)
		return ELEMENT_SKIP;
	if (objects__add(process, contexts, object, record))
		return -ENOMEM;
	if (!contexts__took(contexts, process->slot, record->context, record->start_ns))
		return site_maps__add_object(reading->collector, process, object, record) ?
			       -ENOMEM :
			       ELEMENT_KEEP;
	return contexts__is_settled(contexts, process->slot, record->context) ? ELEMENT_DELETE :
										ELEMENT_KEEP;
}

static void delete_object(struct reading *reading, const void *key_data)
{
	struct collector *collector = reading->collector;
	const struct object_key *key = key_data;
	struct process *process = collector__process_at(collector, key->slot);

	if (process && objects__clear_away(process, collector->contexts,
					   collector->skeleton->maps.objects, key))
		shares__deleted_object(collector, key->slot);
}

static int take_context(struct reading *reading, struct process *process, const void *key,
			const void *value)
{
	(void)process;
	return contexts__add(reading->collector->contexts, key, value);
}

static int take_device(struct reading *reading, struct process *process, const void *key,
		       const void *value)
{
	const struct device_record *record = value;

	(void)reading;
	if (!record->has_uuid)
		return ELEMENT_KEEP;
	return process_gpus__report_uuid(process, ((const struct device_key *)key)->device,
					 record->uuid) ?
		       -ENOMEM :
		       ELEMENT_KEEP;
}

/* No launch needs the name of a kernel of a past generation. */
static int take_unnamed(struct reading *reading, struct process *process, const void *key,
			const void *value)
{
	uint32_t generation = reading->collector->records[process->slot].generation;

	(void)value;
	return ((const struct kernel_key *)key)->generation == generation ? ELEMENT_KEEP :
									    ELEMENT_DELETE;
}

/* --- the processes --- */

static void read_losses(struct collector *collector)
{
	size_t cpus = (size_t)libbpf_num_possible_cpus();
	uint64_t *per_cpu = calloc(cpus, sizeof(*per_cpu));

	for (uint32_t reason = 0; per_cpu && reason < LOSS_COUNT; reason++) {
		/* not counted in BPF */
		if (reason == LOSS_LIBRARY_SKIPPED || reason == LOSS_ENDED_FORGOTTEN ||
		    reason == LOSS_ENDED_EARLY)
			continue;
		if (bpf_map__lookup_elem(collector->skeleton->maps.losses, &reason, sizeof(reason),
					 per_cpu, cpus * sizeof(*per_cpu), 0))
			continue;
		collector->model.lost[reason] = 0;
		for (size_t cpu = 0; cpu < cpus; cpu++)
			collector->model.lost[reason] += per_cpu[cpu];
	}
	free(per_cpu);
}

static int begin(struct reading *reading)
{
	struct collector *collector = reading->collector;

	collector->model.now_ns = clock__boot_ns();
	collector->model.wall = clock__wall();
	read_losses(collector);
	if (collector->estimates)
		estimates__begin(collector->estimates);
	return 0;
}

/* Notices new and ended processes, and resets all sums that this reading computes. */
static int refresh_processes(struct reading *reading)
{
	struct collector *collector = reading->collector;
	struct model *model = &collector->model;
	int ret = 0;

	collector->name_turn++;
	for (uint32_t slot = 0; slot < collector->options.max_processes && !ret; slot++)
		if (collector->records[slot].state != PROCESS_FREE &&
		    collector->index_of[slot] == NO_PROCESS)
			ret = collector__add_process(collector, slot);
	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		if (process->slot != NO_PROCESS)
			collector__read_record(collector, process);
	}
	return ret;
}

/*
 * Takes in waiting notices and names waiting stacks. May add processes, which may move the model's
 * list.
 */
static int drain_rings(struct reading *reading)
{
	collector__consume(reading->collector);
	return 0;
}

static int forget_previous(struct reading *reading)
{
	contexts__clear(reading->collector->contexts);
	ended_keys__clear(reading->collector->ended);
	return 0;
}

static int map_own_counts(struct reading *reading)
{
	return thread_counts_reader__map(reading->collector->thread_counts_reader);
}

static int finish_processes(struct reading *reading)
{
	struct collector *collector = reading->collector;
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

static int delete_ended(struct reading *reading)
{
	thread_counts_reader__release(reading);
	profile_maps__release(reading);
	ended_keys__delete(reading->collector->ended);
	return 0;
}

/* --- the reading --- */

/*
 * All steps of a reading. BPF programs keep counting meanwhile, so counts are right only in this
 * order. Each comment explains the position of the rows below it, up to the next comment or empty
 * line. FAILED_STOP starts a part with FAILED_RUN steps: they do not run if an earlier part has
 * failed.
 */
/* clang-format off */
static const struct reading_step steps[] = {
	/* The time first: a process that ends while the maps are read has ended after it. */
	{.run = begin},
	{.run = refresh_processes},
	/* After processes' states: an ended one sends nothing more. The drain may add processes. */
	{.run = drain_rings, .on_failure = FAILED_RUN},
	/* After the drain, for the processes that it has added. */
	{.run = forget_previous, .on_failure = FAILED_RUN},
	{.run = site_maps__begin, .on_failure = FAILED_RUN},
	/* Before tallies and launches: threads keep parts of them there. */
	{.run = map_own_counts},

	/* Before streams, objects and allocations, which may have died with their context. */
	{IN_MAP(contexts, context_key, slot), .take = take_context},
	/*
	 * Before calls are counted: never more copies in flight, or launches of unknown size, than
	 * calls.
	 */
	{IN_MAP(streams, stream_key, slot), .take = take_stream},
	{.run = graphs__begin_runs, .on_failure = FAILED_STOP},
	{IN_MAP(graph_runs, graph_run_key, slot), .take = graphs__take_run},
	{.run = graphs__finish_runs, .on_failure = FAILED_RUN},

	/*
	 * BPF's own records of captures and graphs: the model does not show them, and no count
	 * depends on their position. They are deleted with their process. Three maps would fill up
	 * before that, so each reading deletes what is over in them, for any slot.
	 */
	{IN_MAP(captures, capture_key, slot), .take = graphs__take_capture, .delete = graphs__delete_capture, .of_unknown = true},
	{IN_MAP(capturing, stream_key, slot), .only = ON_REAP},
	{IN_MAP(captured_events, event_key, slot), .only = ON_REAP},
	{IN_MAP(graph_nodes, graph_key, slot), .take = graphs__take_node, .of_unknown = true},
	{IN_MAP(disabled_nodes, disabled_node_key, slot), .take = graphs__take_disabled, .of_unknown = true},
	{IN_MAP(graphs, graph_key, slot), .only = ON_REAP},
	{IN_MAP(graph_execs, graph_key, slot), .only = ON_REAP},

	/* The map, then the threads, which move counts to it: none counts twice (count_table.h). */
	{.run = begin_tallies},
	{IN_MAP(tallies, tally_key, slot), .take = take_shared_tally},
	{.run = add_own_tallies},
	{.run = apply_tallies},

	/* Before the launches: the last launches of a kernel take its shape with them. */
	{IN_MAP(shapes, kernel_key, slot), .take = launches__take_shape},

	/* Like tallies. For any slot: the drain may add its process before the sums are taken. */
	{.run = launches__begin, .on_failure = FAILED_STOP},
	{IN_MAP(launches, launch_key, kernel.slot), .take = launches__take, .delete = launches__delete, .of_unknown = true},
	{.run = launches__add_own},
	/* Between counts and names, for the names of kernels first seen meanwhile. */
	{.run = drain_rings, .on_failure = FAILED_RUN},
	{.run = launches__sum_up},
	/* After the last name is looked up in a process. */
	{.run = launches__forget_files, .on_failure = FAILED_RUN},
	/* Also after a failure: launches taken over for good must not be taken over again. */
	{.run = reading__delete, .on_failure = FAILED_RUN},

	/* After refresh_processes, which sets their sums to 0; objects after contexts. */
	{IN_MAP(failures, failure_key, slot), .take = take_failure},
	{IN_MAP(objects, object_key, slot), .take = take_object, .delete = delete_object},

	/*
	 * After contexts and tallies. The tallies show who has live memory, and memory that died
	 * with its context is subtracted from them.
	 */
	{.run = tensors__begin_reading, .only = WITH_TENSORS, .on_failure = FAILED_RUN},
	{IN_MAP(tensor_devices, tensor_device_key, slot), .take = tensors__take_device, .only = WITH_TENSORS},
	{IN_MAP(tensor_counts, tensor_count_key, slot), .only = ON_REAP | WITH_TENSORS},
	{.run = late_frees__begin, .only = WITH_STACKS, .on_failure = FAILED_RUN},
	{.run = memory__read},
	/* After the allocations, which may be their segments. */
	{.run = tensors__read, .only = WITH_TENSORS},
	{.run = late_frees__forget},
	{IN_MAP(tensor_sites, tensor_site_key, slot), .take = tensors__take_site, .only = WITH_TENSORS},
	/* After the allocations, which may add ranges. */
	{.run = memory__clear_ranges},
	{.run = pools__begin},
	{IN_MAP(pools, pool_key, slot), .take = pools__take},

	/* In any order: no count depends on them. */
	{IN_MAP(events, event_key, slot), .only = ON_REAP},
	{IN_MAP(stream_orders, stream_key, slot), .only = ON_REAP},
	{IN_MAP(devices, device_key, slot), .take = take_device},
	{IN_MAP(unnamed, kernel_key, slot), .take = take_unnamed, .only = ON_REAP},

	/* After launches and allocations, which provide kernel names and live memory for sites. */
	{IN_MAP(call_sites, call_site_key, slot), .take = site_maps__take_site, .only = WITH_STACKS, .on_failure = FAILED_STOP},
	/*
	 * After call sites: a launch that gets its stack meanwhile counts next time, not twice now.
	 */
	{IN_MAP(launch_sites, launch_site_key, slot), .take = site_maps__take_launch_site, .only = WITH_STACKS},
	/* After the sites: the drain looks up what naming stacks of new processes needs. */
	{.run = drain_rings, .only = WITH_STACKS, .on_failure = FAILED_RUN},

	/* After all counters: it adds estimates, and makes lists of kernels and failures. */
	{.run = finish_processes},
	/* Before profile_maps__finish, which uses the steps. */
	{.run = steps__read},

	/* Before the maps of the profile, whose lists it empties. */
	{.run = profile_maps__begin, .only = WITH_PROFILE},
	{IN_MAP(sizes, size_key, slot), .take = profile_lists__take_size, .only = WITH_PROFILE},
	{IN_MAP(copy_sizes, copy_size_key, slot), .take = profile_lists__take_copies, .only = WITH_PROFILE},
	{IN_MAP(repeats, repeat_key, slot), .take = profile_lists__take_repeat, .only = WITH_PROFILE},
	/*
	 * Before threads: one that ends moves its error here. It may be missed, not counted twice.
	 */
	{IN_MAP(ignored, ignored_key, slot), .take = profile_lists__take_ignored, .only = WITH_PROFILE},
	{IN_MAP(mapped_copies, mapped_copy_key, slot), .take = profile_lists__take_mapped, .only = WITH_PROFILE},
	/* After `ignored`, before the threads: those that end in this reading add their own. */
	{.run = profile_maps__add_pending, .only = WITH_PROFILE},
	{.run = profile_maps__read_threads, .only = WITH_PROFILE},
	{IN_MAP(duration_numbers, duration_key, slot), .take = profile_maps__take_duration, .only = WITH_PROFILE},
	/* After tallies, threads and functions, in which calls are counted (open_calls.h). */
	{.run = open_calls__read},
	/* After the time in calls in progress, which is part of the profile. */
	{.run = profile_maps__finish, .only = WITH_PROFILE},

	/* After all counters: BPF sends a stack before it counts by its id. */
	{.run = site_maps__name_stacks, .only = WITH_STACKS},
	/* Last: naming a stack may drop another, and none is named before the model is used. */
	{.run = site_maps__list, .only = WITH_STACKS},
	{.run = tensors__list_all, .only = WITH_STACKS | WITH_TENSORS},
	{.run = late_frees__list, .only = WITH_STACKS},
	{.run = profile_maps__list_stacks, .only = WITH_PROFILE | WITH_STACKS},
	{.run = site_maps__list_objects},

	/* After everything that can fail: a failed reading deletes nothing of ended processes. */
	{.run = delete_ended, .only = ON_REAP},
};
/* clang-format on */

/* After a partial reading: clamp live totals at zero. */
static void finish_tallies(struct collector *collector)
{
	for (size_t i = 0; i < collector->model.process_count; i++)
		if (collector->model.processes[i].slot != NO_PROCESS)
			tally__finish(&collector->model.processes[i]);
}

int collector__read_maps(struct collector *collector, bool with_lists, bool reap)
{
	struct reading reading = {.collector = collector, .with_lists = with_lists, .reap = reap};
	int ret;

	collector__take_back(collector);
	ret = reading__run(&reading, steps, sizeof(steps) / sizeof(*steps));
	if (ret)
		finish_tallies(collector);
	free(reading.to_delete.keys);
	thread_counts_reader__unmap(collector->thread_counts_reader);
	collector->model.broken_off = ret != 0;
	/* Before GPUs are looked at: to those that stay, others are strangers on a GPU. */
	collector__set_aside(collector);
	attribution__refresh(collector->attribution, &collector->model);
	return ret;
}
