// SPDX-License-Identifier: BSD-2-Clause
// Opens, configures and loads the BPF object; see object.h.
#include "probe/object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "gen/gpuprobe.skel.h"
#include "gpuprobe/profile.h"
#include "gpuprobe/rate.h"
#include "gpuprobe/steps.h"
#include "gpuprobe/thread_counts.h"
#include "api/api.h"
#include "probe/library_names.h"
#include "probe/multi_link.h"
#include "probe/stack_maps.h"
#include "probe/tracepoints.h"
#include "privilege/sigio_kill.h"
#include "target/proc.h"

_Static_assert(sizeof(struct function_desc) ==
		       sizeof(((struct gpuprobe_bpf__rodata *)0)->functions[0]),
	       "userspace and BPF agree on the row");

uint32_t object__launch_sample(const struct object_options *options)
{
	if (options->check_launches || options->profile)
		return 1;
	/*
	 * Without session links, a return probe doubles the cost of every launch, so it is off by
	 * default.
	 */
	return options->links == LINKS_SESSION ? LAUNCH_SAMPLE : 0;
}

/* One in this many launches reports its shape. */
static uint32_t shape_sample(const struct object_options *options, uint32_t launch_sample)
{
	if (options->profile)
		return PROFILE_SHAPE_SAMPLE;
	return launch_sample ? launch_sample : LAUNCH_SAMPLE;
}

static struct stack_maps_options stack_options(const struct object_options *options)
{
	return (struct stack_maps_options){.mode = options->stack_mode,
					   .bytes = options->stack_bytes,
					   .max = options->max_stacks};
}

static void size_stack_maps(struct gpuprobe_bpf *skeleton, const struct object_options *options)
{
	const struct stack_maps_options sizes = stack_options(options);
	const struct stack_maps maps = STACK_MAPS(skeleton);
	bool takes = options->stack_mode != STACK_OFF;

	stack_maps__size(&maps, &sizes);
	/* A global BPF function refers to call_sites, so the map must exist. */
	bpf_map__set_max_entries(skeleton->maps.call_sites, takes ? 4 * options->max_stacks : 1);
	bpf_map__set_autocreate(skeleton->maps.launch_sites, takes);
	if (takes)
		bpf_map__set_max_entries(skeleton->maps.launch_sites, 4 * options->max_stacks);
}

/*
 * Without a profile its maps have the minimum size; they must exist because the programs refer to
 * them.
 */
static void size_profile_maps(struct gpuprobe_bpf *skeleton, const struct object_options *options,
			      bool lazy)
{
	if (!options->profile)
		return;
	bpf_map__set_max_entries(skeleton->maps.thread_accounts, THREAD_COUNTER_SLOTS);
	bpf_map__set_max_entries(skeleton->maps.process_accounts, options->max_processes);
	bpf_map__set_max_entries(skeleton->maps.copy_targets, options->max_inflight);
	bpf_map__set_max_entries(skeleton->maps.durations, PROFILE_DURATIONS);
	bpf_map__set_max_entries(skeleton->maps.duration_numbers, PROFILE_DURATIONS);
	bpf_map__set_max_entries(skeleton->maps.sizes, lazy ? 65536 : 16384);
	bpf_map__set_max_entries(skeleton->maps.copy_sizes, lazy ? 16384 : 1024);
	bpf_map__set_max_entries(skeleton->maps.ignored, lazy ? 16384 : 1024);
	bpf_map__set_max_entries(skeleton->maps.mapped_copies, 1024);
	/* An LRU map, which is preallocated in any case. */
	bpf_map__set_max_entries(skeleton->maps.repeats, 16384);
}

/* The same for the maps that track steps. */
static void size_step_maps(struct gpuprobe_bpf *skeleton, const struct object_options *options)
{
	if (options->steps)
		bpf_map__set_max_entries(skeleton->maps.step_records, options->steps);
}

/* Pushes all indices of a table into its queue of free ones. */
static int fill_queue(const struct bpf_map *queue, uint32_t count, const char *table,
		      struct error *err)
{
	for (uint32_t number = 0; number < count; number++)
		if (bpf_map__update_elem(queue, NULL, 0, &number, sizeof(number), 0))
			return error__set(err, -errno, "cannot fill the table of %s: %s", table,
					  strerror(errno));
	return 0;
}

static int fill_queues(struct gpuprobe_bpf *skeleton, const struct object_options *options,
		       struct error *err)
{
	int ret = fill_queue(skeleton->maps.free_slots, options->max_processes, "processes", err);

	if (!ret)
		ret = fill_queue(skeleton->maps.free_places, THREAD_COUNTER_SLOTS, "threads", err);
	if (!ret && options->rates)
		ret = fill_queue(skeleton->maps.free_rates, RATE_THREADS, "threads' rates", err);
	if (!ret && options->steps)
		ret = fill_queue(skeleton->maps.free_steps, options->steps, "threads' steps", err);
	return ret || !options->profile ? ret :
					  fill_queue(skeleton->maps.free_durations,
						     PROFILE_DURATIONS, "durations", err);
}

static int fill_stack_constants(struct config *config, const struct object_options *options,
				struct error *err)
{
	const struct stack_maps_options stacks = stack_options(options);

	config->stack_sites = (uint8_t)options->stack_sites;
	config->stack_sample = options->stack_sample ? options->stack_sample : 1;
	config->min_wait_ns = options->min_wait_ns;
	return stack_maps__configure(config, &stacks, err);
}

static void name_libraries(struct config *config, const struct object_options *options)
{
	const struct library_names names = {
		.tensors = options->max_tensors > 0,
		.exhaustion = options->exhaustion,
		.handles = options->handles,
	};

	library_names__fill(config, &names);
}

/* In 65536ths, and not 0 unless it is. */
static uint32_t share_of_time(double share)
{
	return share > 0 ? (uint32_t)(share < 1 ? share * 65535 : 65535) + 1 : 0;
}

static int fill_constants(struct gpuprobe_bpf *skeleton, const struct object_options *options,
			  struct error *err)
{
	struct gpuprobe_bpf__rodata *rodata = skeleton->rodata;
	uint32_t sample = object__launch_sample(options);
	struct pid_namespace namespace;
	int ret = proc__own_namespace(&namespace);

	if (ret)
		return error__set(err, ret, "cannot read /proc/self/ns/pid: %s; is /proc mounted?",
				  strerror(-ret));
	rodata->config.links = options->links;
	rodata->config.launch_sample = shape_sample(options, sample);
	rodata->config.profile = options->profile;
	rodata->config.rates = options->rates;
	rodata->config.idle_records = options->idle_records;
	rodata->config.steps = options->steps > 0;
	rodata->config.step_range = options->step_range;
	rodata->config.pidns_inum = (uint32_t) namespace.inode;
	rodata->config.only_watched = options->only_watched;
	rodata->config.hold = options->hold;
	rodata->config.hold_user = sigio_kill__reaches_all() ? HOLD_ALL : geteuid();
	rodata->config.track_inflight = options->track_inflight || options->profile;
	rodata->config.sees_memory = options->sees_memory;
	rodata->config.launch_returns = sample > 0;
	rodata->config.max_kernels = options->max_kernels;
	rodata->config.max_objects = bpf_map__max_entries(skeleton->maps.objects);
	rodata->config.max_allocations = options->max_allocations;
	rodata->config.max_tensors = options->max_tensors;
	rodata->config.tensor_python = options->tensor_python;
	rodata->config.tensor_events = options->tensor_events;
	rodata->config.gpu_times = options->gpu_times;
	rodata->config.tensor_share = share_of_time(options->tensor_share);
	name_libraries(&rodata->config, options);
	ret = fill_stack_constants(&rodata->config, options, err);
	if (ret)
		return ret;
	for (size_t i = 0; i < api_function_count; i++)
		memcpy((void *)&rodata->functions[i], &api_functions[i].desc,
		       sizeof(struct function_desc));
	return 0;
}

/* Needed to hold processes, and for stacks, where code changes over time. */
static bool listens_to_calls(const struct object_options *options)
{
	return !options->sites_alone && (options->hold || options->stack_mode != STACK_OFF);
}

static void choose_programs(struct gpuprobe_bpf *skeleton, const struct object_options *options)
{
	bool session = options->links == LINKS_SESSION;
	int type = session ? ATTACH_UPROBE_SESSION : ATTACH_UPROBE_MULTI;

	bpf_program__set_autoload(skeleton->progs.call_session, session);
	bpf_program__set_autoload(skeleton->progs.call_entry, !session);
	bpf_program__set_autoload(skeleton->progs.call_return, !session);
	bpf_program__set_autoload(skeleton->progs.process_fork,
				  options->only_watched && !options->sites_alone);
	bpf_program__set_autoload(skeleton->progs.memory_lent, !options->sites_alone);
	bpf_program__set_autoload(skeleton->progs.process_exit, !options->sites_alone);
	bpf_program__set_autoload(skeleton->progs.adopt_process, !options->sites_alone);
	bpf_program__set_autoload(skeleton->progs.identity_of_mappings, !options->sites_alone);
	bpf_program__set_autoload(skeleton->progs.inode_is_mapped, !options->sites_alone);
	bpf_program__set_autoload(skeleton->progs.mapping_exit, listens_to_calls(options));
	if (options->links == LINKS_TRACEFS)
		return;
	bpf_program__set_expected_attach_type(skeleton->progs.call_session, type);
	bpf_program__set_expected_attach_type(skeleton->progs.call_entry, type);
	bpf_program__set_expected_attach_type(skeleton->progs.call_return, type);
}

static void size_maps(struct gpuprobe_bpf *skeleton, const struct object_options *options,
		      const struct features *features)
{
	struct bpf_map *growing[] = {skeleton->maps.process_of,
				     skeleton->maps.watched,
				     skeleton->maps.tallies,
				     skeleton->maps.failures,
				     skeleton->maps.sites,
				     skeleton->maps.streams,
				     skeleton->maps.events,
				     skeleton->maps.contexts,
				     skeleton->maps.launches,
				     skeleton->maps.unnamed,
				     skeleton->maps.allocations,
				     skeleton->maps.objects,
				     skeleton->maps.ranges,
				     skeleton->maps.pools,
				     skeleton->maps.shapes,
				     skeleton->maps.captures,
				     skeleton->maps.capturing,
				     skeleton->maps.graphs,
				     skeleton->maps.graph_execs,
				     skeleton->maps.graph_nodes,
				     skeleton->maps.graph_runs,
				     skeleton->maps.captured_events,
				     skeleton->maps.disabled_nodes,
				     skeleton->maps.devices,
				     skeleton->maps.call_sites,
				     skeleton->maps.launch_sites,
				     skeleton->maps.duration_numbers,
				     skeleton->maps.sizes,
				     skeleton->maps.copy_sizes,
				     skeleton->maps.ignored,
				     skeleton->maps.mapped_copies,
				     skeleton->maps.copy_targets,
				     skeleton->maps.stream_orders};

	bpf_map__set_max_entries(skeleton->maps.process_of, options->max_processes);
	bpf_map__set_max_entries(skeleton->maps.processes, options->max_processes);
	bpf_map__set_max_entries(skeleton->maps.free_slots, options->max_processes);
	bpf_map__set_max_entries(skeleton->maps.allocations, options->max_allocations);
	bpf_map__set_max_entries(skeleton->maps.ranges, options->max_allocations);
	bpf_map__set_max_entries(skeleton->maps.launches, options->max_kernels);
	bpf_map__set_max_entries(skeleton->maps.shapes, options->max_kernels);
	bpf_map__set_max_entries(skeleton->maps.streams, options->max_inflight);
	/*
	 * Room for this many functions per process; if the maps are preallocated, a quarter must
	 * suffice.
	 */
	bpf_map__set_max_entries(skeleton->maps.tallies,
				 options->max_processes * (features->lazy_maps ? 64 : 16));
	bpf_map__set_max_entries(skeleton->maps.objects,
				 options->max_processes * (features->lazy_maps ? 64 : 16));
	bpf_map__set_max_entries(skeleton->maps.contexts, options->max_processes * 8);
	if (!features->lazy_maps)
		return;
	/* Allocate entries on demand: an idle gpuprobe then takes almost no memory. */
	for (size_t i = 0; i < sizeof(growing) / sizeof(*growing); i++)
		bpf_map__set_map_flags(growing[i],
				       bpf_map__map_flags(growing[i]) | BPF_F_NO_PREALLOC);
}

/* The program of tensors and its maps exist only if they are watched. */
static void choose_tensors(struct gpuprobe_bpf *skeleton, const struct object_options *options,
			   bool lazy)
{
	bool watches = options->max_tensors > 0 || options->exhaustion;
	struct bpf_map *maps[] = {skeleton->maps.tensor_points,	 skeleton->maps.tensors,
				  skeleton->maps.tensor_devices, skeleton->maps.tensor_sites,
				  skeleton->maps.tensor_counts,	 skeleton->maps.tensor_ring};

	bpf_program__set_autoload(skeleton->progs.tensor_point, watches);
	if (options->links != LINKS_TRACEFS)
		bpf_program__set_expected_attach_type(skeleton->progs.tensor_point,
						      ATTACH_UPROBE_MULTI);
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		bpf_map__set_autocreate(maps[i], watches);
		if (lazy && bpf_map__type(maps[i]) == BPF_MAP_TYPE_HASH)
			bpf_map__set_map_flags(maps[i], BPF_F_NO_PREALLOC);
	}
	bpf_map__set_max_entries(skeleton->maps.tensors,
				 options->max_tensors ? options->max_tensors : 1);
	/* Without stacks, a process has one site. */
	bpf_map__set_max_entries(skeleton->maps.tensor_sites, options->stack_mode != STACK_OFF ?
								      4 * options->max_stacks :
								      options->max_processes);
	if (!options->tensor_events)
		bpf_map__set_max_entries(skeleton->maps.tensor_ring, (uint32_t)getpagesize());
	bpf_map__set_max_entries(skeleton->maps.tensor_devices, 8 * options->max_processes);
	bpf_map__set_max_entries(skeleton->maps.tensor_counts, options->max_processes);
}

/* A program may refer to 64 maps: the calls have their ring in place of the rates. */
static void choose_gpu_calls(struct gpuprobe_bpf *skeleton, const struct object_options *options)
{
	bpf_map__set_autocreate(skeleton->maps.gpu_calls, options->gpu_times);
	bpf_map__set_autocreate(skeleton->maps.thread_rates, !options->gpu_times);
	bpf_map__set_autocreate(skeleton->maps.free_rates, !options->gpu_times);
}

static int attach_tracepoints(struct gpuprobe_bpf *skeleton, struct error *err)
{
	const struct tracepoint points[] = {
		{skeleton->progs.process_exit, &skeleton->links.process_exit, "sched_process_exit"},
		{skeleton->progs.process_exit, &skeleton->links.process_exec, "sched_process_exec"},
		{skeleton->progs.process_fork, &skeleton->links.process_fork, "sched_process_fork"},
		{skeleton->progs.memory_lent, &skeleton->links.memory_lent, "sched_process_fork"},
		{skeleton->progs.mapping_exit, &skeleton->links.mapping_exit, "sys_exit"},
	};

	return tracepoints__attach(points, sizeof(points) / sizeof(*points), err);
}

int object__load(const struct object_options *options, const struct features *features,
		 struct gpuprobe_bpf **skeleton_out, struct error *err)
{
	struct gpuprobe_bpf *skeleton;
	int ret;

	skeleton = gpuprobe_bpf__open();
	if (!skeleton)
		return error__set(err, -errno, "cannot open the BPF object: %s", strerror(errno));
	choose_programs(skeleton, options);
	size_maps(skeleton, options, features);
	if (options->hold)
		bpf_map__set_max_entries(skeleton->maps.holds, HOLDS_PROCESSES);
	size_stack_maps(skeleton, options);
	size_profile_maps(skeleton, options, features->lazy_maps);
	size_step_maps(skeleton, options);
	choose_tensors(skeleton, options, features->lazy_maps);
	choose_gpu_calls(skeleton, options);
	if (options->rates) {
		bpf_map__set_max_entries(skeleton->maps.thread_rates, RATE_THREADS);
		bpf_map__set_max_entries(skeleton->maps.free_rates, RATE_THREADS);
	}
	ret = fill_constants(skeleton, options, err);
	if (ret)
		goto fail;
	ret = gpuprobe_bpf__load(skeleton);
	if (ret) {
		features__refused(ret, err);
		goto fail;
	}
	ret = fill_queues(skeleton, options, err);
	if (!ret && !options->sites_alone)
		ret = attach_tracepoints(skeleton, err);
	if (ret)
		goto fail;
	*skeleton_out = skeleton;
	return 0;
fail:
	gpuprobe_bpf__destroy(skeleton);
	return ret;
}

void object__programs(struct gpuprobe_bpf *skeleton, struct probe_programs *programs)
{
	*programs = (struct probe_programs){
		.session = skeleton->progs.call_session,
		.entry = skeleton->progs.call_entry,
		.on_return = skeleton->progs.call_return,
		.tensor = skeleton->progs.tensor_point,
		.tensor_points = skeleton->maps.tensor_points,
		SHARED_PROGRAMS(skeleton),
		.both_layers = &skeleton->bss->both_layers,
		.several_drivers = &skeleton->bss->several_drivers,
		.driver_counts = &skeleton->bss->driver_counts,
		.unseen_until = (volatile uint64_t *)skeleton->bss->unseen_until,
		.asks_unseen_until = (volatile uint64_t *)&skeleton->bss->asks_unseen_until,
	};
}
