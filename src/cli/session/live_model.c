// SPDX-License-Identifier: BSD-2-Clause
// Sets up what counts CUDA calls, and handles ended processes, see live_model.h; live_reading.c
// reads the counts.
#include "cli/session/live_model.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/session/gpu_times_watch.h"
#include "cli/session/nvtx_watch.h"
#include "cli/session/live_private.h"
#include "cli/session/overhead.h"
#include "cli/session/privileges.h"
#include "cli/session/shortages.h"
#include "cli/session/tensor_watch.h"
#include "cli/session/watch.h"
#include "collect/collector.h"
#include "api/api.h"
#include "gen/gpuprobe.skel.h"
#include "gpuprobe/nvtx.h"
#include "govern/ask_probes.h"
#include "govern/budget.h"
#include "govern/calibration.h"
#include "probe/features.h"
#include "probe/object.h"
#include "probe/return_probes.h"
#include "stack/stacks.h"

#define REAP_DELAY_MS 200 /* ends of processes are collected for this long */

/* --- events --- */

static void on_ring(evutil_socket_t fd, short what, void *arg)
{
	const struct live_model *live = arg;

	(void)fd;
	(void)what;
	collector__consume_some(live->collector);
}

static void on_reap(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval at_once = {0};
	struct live_model *live = arg;
	uint64_t began = clock__boot_ns();
	bool more = collector__gather_ended(live->collector);

	(void)fd;
	(void)what;
	if (!more)
		live_model__warn_unread(live, collector__reap(live->collector, false));
	live->reaping_ns += clock__boot_ns() - began;
	if (more) {
		evtimer_add(live->reap, &at_once);
		return;
	}
	live->reap_ns = (uint64_t)((double)live->reaping_ns * collector__living(live->collector));
	live->reaping_ns = 0;
}

static void on_idle_time(const struct process *process, const struct record_idle *record, void *arg)
{
	struct live_model *live = arg;

	live->options.idle_time(process, record, live->options.idle_arg);
}

static void on_shortage(const struct process *process, const struct record_shortage *record,
			void *arg)
{
	const struct live_model *live = arg;

	shortages__take(live->shortages, process, record);
}

static void on_process_ended(void *arg)
{
	struct live_model *live = arg;
	/*
	 * However many processes end, reading the living ones takes at most a tenth of the time.
	 * Ended processes are read for the last time, and the sooner the better: until then each
	 * reading includes them.
	 */
	uint64_t delay_ms = REAP_DELAY_MS + 10 * live->reap_ns / NS_PER_MS;
	struct timeval delay = {.tv_sec = (time_t)(delay_ms / 1000),
				.tv_usec = (suseconds_t)(delay_ms % 1000 * 1000)};

	if (live->reap && !evtimer_pending(live->reap, NULL))
		evtimer_add(live->reap, &delay);
}

static void on_process_changed(const struct record_library *record, void *arg)
{
	struct live_model *live = arg;

	session__process_changed(live->session, record);
}

static void on_late_sharer(pid_t pid, uint64_t time_ns, void *arg)
{
	const struct live_model *live = arg;

	collector__mark_late(live->collector, pid, time_ns);
}

static void on_late_process(pid_t pid, uint64_t time_ns, void *arg)
{
	const struct live_model *live = arg;

	collector__mark_late(live->collector, pid, time_ns);
	if (live->options.late)
		live->options.late(pid, time_ns, live->options.late_arg);
}

static void on_nccl(pid_t pid, enum process_scan scan, uint64_t since_ns, void *arg)
{
	const struct live_model *live = arg;

	live_nccl__see_process(live->nccl, live->session, pid, scan, since_ns);
}

static void on_second(void *arg)
{
	struct live_model *live = arg;

	collector__rest(live->collector);
	if (live->nccl)
		live_nccl__second(live->nccl, session__unused_ns(live->session));
}

/* --- setting up --- */

static void update_for_shortage(void *arg)
{
	const struct live_filter all = {0};
	struct live_model *live = arg;

	/* The latest allocations are those that matter. */
	collector__filter_live(live->collector, &all);
	live_model__update(live, true);
	collector__filter_live(live->collector, &live->options.live_filter);
}

static struct model *model_for_shortage(void *arg)
{
	return live_model__model(arg);
}

static const struct stack *stack_for_shortage(uint64_t id, void *arg)
{
	const struct live_model *live = arg;
	struct stacks *stacks = collector__stacks(live->collector);

	return stacks ? stacks__find(stacks, id) : NULL;
}

static bool awaits_verdict(int32_t pid, void *arg)
{
	const struct live_model *live = arg;

	return session__has_exhaustion(live->session, pid);
}

static int make_shortages(struct live_model *live, struct error *err)
{
	const struct shortages_options options = {
		.directory = live->options.oom_directory,
		.update = update_for_shortage,
		.model = model_for_shortage,
		.stack = stack_for_shortage,
		.awaits_verdict = awaits_verdict,
		.arg = live,
	};

	return shortages__new(&options, live->log, &live->shortages, err);
}

int live_model__new(const struct live_model_options *options, const struct log *log,
		    struct live_model **out, struct error *err)
{
	struct live_model *live = calloc(1, sizeof(*live));
	struct session_hooks hooks = {
		.late = on_late_process,
		.late_sharer = on_late_sharer,
		.second = on_second,
		.grace_ms = options->grace_ms,
		.nccl = options->needs & NEEDS_NCCL ? on_nccl : NULL,
		.arg = live,
	};
	int ret;

	if (!live)
		return error__set(err, -ENOMEM, "out of memory");
	live->options = *options;
	live->log = log;
	live->slow = calloc(api_function_count, sizeof(*live->slow));
	if (!live->slow) {
		free(live);
		return error__set(err, -ENOMEM, "out of memory");
	}
	live->filter = options->targets->filter;
	ret = options->oom_reports ? make_shortages(live, err) : 0;
	if (!ret)
		ret = process_filter__open(&live->filter, err);
	if (!ret)
		ret = session__new(options->targets, options->duration, &hooks, log, &live->session,
				   err);
	if (ret) {
		live_model__free(live);
		return ret;
	}
	*out = live;
	return 0;
}

/* The part of the budget for stacks of tensors. Counting them is exact, and has no budget. */
static double overhead_of_tensors(const struct live_model_options *options)
{
	if (!options->limits.max_tensors || options->stacks.mode == STACK_OFF)
		return 0;
	return options->tensor_overhead > 0 ? options->tensor_overhead : options->max_overhead / 2;
}

/* --max-overhead: the cost of calls is measured before anything is watched. */
static int make_overhead(struct live_model *live, const struct object_options *object,
			 const struct features *features, struct error *err)
{
	const struct overhead_options options = {
		.max = live->options.max_overhead,
		.of_tensors = overhead_of_tensors(&live->options),
		.by_default = live->options.overhead_by_default,
		.sampling =
			live->options.sample_launches_alone ? 1u << RATE_LAUNCH : GOVERNED_FAMILIES,
	};
	struct call_costs costs;
	int ret = calibration__measure(object, features, live->options.sample_launches_alone,
				       &costs, err);

	if (ret && options.by_default) {
		log__info(live->log, "cannot limit what probes cost: %s", err->text);
		live->options.max_overhead = 0;
		return 0;
	}
	if (ret)
		return ret;
	log__info(live->log,
		  "a probed call costs: launch %.0f ns, copy %.0f, wait %.0f, others %.0f",
		  costs.ns[RATE_LAUNCH], costs.ns[RATE_COPY], costs.ns[RATE_WAIT],
		  costs.ns[RATE_EXACT]);
	if (live->options.sample_launches_alone)
		log__info(
			live->log,
			"while a program's own data fills the caches, it costs %.1f times as much",
			costs.cold);
	return overhead__new(&options, &costs, live->session, live->skeleton, live->log,
			     &live->overhead, err);
}

/* Drops a default budget if the links do not support one. */
static bool is_held_to_budget(struct live_model *live, enum link_kind links)
{
	struct live_model_options *options = &live->options;

	if (links == LINKS_TRACEFS && options->overhead_by_default)
		options->max_overhead = 0;
	return options->max_overhead > 0;
}

static int make_nccl(struct live_model *live, const struct features *features, enum link_kind links,
		     struct error *err)
{
	const struct live_nccl_options options = {
		.targets = live->options.targets,
		.filter = &live->filter,
		.features = *features,
		.links = links,
		.hang_ns = live->options.nccl_hang_ns,
		.keeps_past = live->options.nccl_keeps_past,
		.rarely = live->options.nccl_rarely,
	};

	live->nccl = live_nccl__new(&options, live->log);
	return live->nccl ? 0 : error__set(err, -ENOMEM, "out of memory");
}

static int load_object(struct live_model *live, struct session_probes *probes,
		       uint32_t *launch_sample, struct error *err)
{
	const struct live_model_options *options = &live->options;
	const struct targets *targets = options->targets;
	struct object_options object = {
		.check_launches = options->check_launches,
		.profile = options->needs & NEEDS_PROFILE,
		.idle_records = options->idle_time,
		.steps = options->steps,
		.step_range = options->steps_by ? nvtx_name_number(options->steps_by) : 0,
		.only_watched = targets->command || targets->pid_count,
		.hold = targets->command,
		.track_inflight = options->sections & SECTION_COPY,
		.sees_memory = options->sections & SECTION_MEMORY,
		.max_processes = options->limits.max_processes,
		.max_allocations = options->limits.max_allocations,
		.max_kernels = options->limits.max_kernels,
		.max_inflight = options->limits.max_inflight,
		.max_tensors = options->limits.max_tensors,
		.exhaustion = options->oom_reports,
		.handles = options->sections & (SECTION_LAUNCH | SECTION_OBJECTS),
		.tensor_events = options->tensor_events > 0,
		.tensor_python = options->tensor_python,
		.gpu_times = options->gpu_times,
		.tensor_share = budget__of_wall(overhead_of_tensors(options)),
		.stack_mode = options->stacks.mode,
		.stack_sites = options->stack_sites,
		.stack_bytes = options->stacks.size,
		.min_wait_ns = options->stacks.min_wait_ns,
		.stack_sample = options->stacks.sample,
		.max_stacks = (uint32_t)options->stacks.max,
	};
	struct features features;
	int ret;

	ret = features__probe(&features, err);
	if (!ret)
		ret = features__choose_links(&features, getenv("GPUPROBE_LINKS"), &object.links,
					     err);
	if (!ret)
		object.rates = is_held_to_budget(live, object.links);
	if (!ret && !options->no_returns)
		ret = return_probes__check(object.links, err);
	if (!ret)
		ret = privileges__give_up(object.links, live->log, err);
	if (!ret)
		ret = object__load(&object, &features, &live->skeleton, err);
	if (!ret && object.rates)
		ret = make_overhead(live, &object, &features, err);
	if (ret)
		return ret;
	if (options->needs & NEEDS_NCCL)
		ret = make_nccl(live, &features, object.links, err);
	if (ret)
		return ret;
	object__programs(live->skeleton, &live->programs);
	probes->links = object.links;
	live->asks_stay = object.links == LINKS_TRACEFS;
	*launch_sample = object__launch_sample(&object);
	return 0;
}

static int keep_tensor_events(struct live_model *live)
{
	size_t room = live->options.tensor_events;

	return room ? tensor_watch__new(session__loop(live->session),
					bpf_map__fd(live->skeleton->maps.tensor_ring), room,
					&live->tensor_watch) :
		      0;
}

static int make_events(struct live_model *live, struct error *err)
{
	struct event_base *loop = session__loop(live->session);

	live->ring = event_new(loop, collector__ring_fd(live->collector), EV_READ | EV_PERSIST,
			       on_ring, live);
	live->reap = evtimer_new(loop, on_reap, live);
	if (keep_tensor_events(live) || !live->ring || !live->reap ||
	    live_host__start(&live->host, loop) ||
	    (live->shortages && shortages__start(live->shortages, loop)))
		return error__set(err, -ENOMEM, "out of memory");
	return event_add(live->ring, NULL) ? error__set(err, -ENOMEM, "out of memory") : 0;
}

int live_model__prepare(struct live_model *live, struct error *err)
{
	const struct live_model_options *options = &live->options;
	const struct collector_hooks hooks = {
		.process_changed = on_process_changed,
		.process_ended = on_process_ended,
		.idle_time = options->idle_time ? on_idle_time : NULL,
		.shortage = live->shortages ? on_shortage : NULL,
		.arg = live,
	};
	struct collector_options collect = {
		.sections = options->sections,
		.max_processes = options->limits.max_processes,
		.top = options->top,
		.exact_from_start = options->targets->command,
		.profile = options->needs & NEEDS_PROFILE,
		.steps = options->steps,
		.steps_by = options->steps_by,
		.no_returns = options->no_returns,
		.watch_gpus = options->watch_gpus,
		.stack_mode = options->stacks.mode,
		.max_stacks = options->stacks.max,
		.tensors = options->limits.max_tensors > 0,
		.follows_threads = options->host_rate > 0,
		.live_filter = options->live_filter,
		.filter = process_filter__is_set(&live->filter) ? &live->filter : NULL,
		.pod_logs = {.pods = live->filter.pod_logs},
	};
	struct selection selection = {
		.sections = options->sections,
		.api = options->api,
		.asks = options->needs & NEEDS_ASKS,
		.getters = options->needs & NEEDS_GETTERS,
		.of_machine = !(options->targets->command || options->targets->pid_count),
		.no_returns = options->no_returns,
		.tensors = options->limits.max_tensors > 0,
		.exhaustion = options->oom_reports,
	};
	struct session_probes probes = {
		.selection = &selection, .network = options->network, .programs = &live->programs};
	int ret = load_object(live, &probes, &collect.launch_sample, err);

	if (ret)
		return ret;
	selection.launch_returns = collect.launch_sample > 0;
	selection.by_family = options->max_overhead > 0;
	if (live->overhead)
		collect.estimates = overhead__estimates(live->overhead);
	probes.exec = &live->skeleton->links.process_exec;
	probes.mapping = &live->skeleton->links.mapping_exit;
	ret = collector__new(live->skeleton, &collect, &hooks, live->log, &live->collector, err);
	if (ret)
		return ret;
	live_host__begin(&live->host, options->host_rate, live->skeleton, live->collector,
			 live->log);
	if (options->gpu_times)
		ret = gpu_times_watch__new(session__loop(live->session), live->skeleton,
					   probes.links, options->gpu_share, &live->gpu_times, err);
	if (live->gpu_times)
		gpu_times_watch__name_stacks(live->gpu_times, live_model__stack, live);
	if (live->gpu_times && options->nvtx)
		gpu_times_watch__sum_by_path(live->gpu_times);
	if (!ret && options->nvtx)
		ret = nvtx_watch__new(session__loop(live->session), live->skeleton, probes.links,
				      &live->nvtx, err);
	if (!ret)
		ret = session__prepare(live->session, &probes, err);
	if (!ret)
		ret = make_events(live, err);
	return ret;
}

int live_model__attach_beside(struct live_model *live, const struct selection *selection,
			      const struct probe_programs *programs, struct error *err)
{
	live->programs.watched_beside = programs->watched;
	return session__attach_beside(live->session, selection, programs, err);
}

static void see_process(pid_t pid, void *arg)
{
	struct live_model *live = arg;

	collector__see_process(live->collector, pid);
}

int live_model__watch_asks(void *arg, bool in)
{
	struct live_model *live = arg;
	struct error err;
	int ret = session__watch_asks(live->session, in, &err);

	log__debug(live->log, "probes of calls that ask for errors: %s",
		   ret ? err.text :
		   in  ? "in" :
			 "out");
	return ret;
}

/*
 * A process given by -p may be past its start, see govern/ask_probes.h. If it is not, its first
 * call attaches the probes.
 */
static void begin_without_asks(struct live_model *live)
{
	const struct targets *targets = live->options.targets;

	if (live->options.needs & NEEDS_ASKS && !live->asks_stay && targets->pid_count &&
	    !targets->command)
		live->asks.out = !live_model__watch_asks(live, false);
}

int live_model__attach(struct live_model *live, struct error *err)
{
	int ret = 0;

	if (live->options.stacks.mode)
		ret = watch__each_process(live->options.targets, see_process, live, err);
	begin_without_asks(live);
	live->counts_since_ns = clock__boot_ns();
	if (!ret)
		ret = session__attach(live->session, err);
	if (ret)
		return ret;
	if (live->nccl)
		live_nccl__attach(live->nccl);
	collector__attached(live->collector);
	session__find_earlier(live->session, live->options.api, live->collector);
	if (live->overhead)
		overhead__start(live->overhead);
	return 0;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

void live_model__free(struct live_model *live)
{
	if (!live)
		return;
	free_event(live->ring);
	free_event(live->reap);
	tensor_watch__free(live->tensor_watch);
	gpu_times_watch__free(live->gpu_times);
	nvtx_watch__free(live->nvtx);
	live_host__end(&live->host);
	live_nccl__free(live->nccl);
	shortages__free(live->shortages);
	overhead__free(live->overhead);
	session__free(live->session);
	collector__free(live->collector);
	gpuprobe_bpf__destroy(live->skeleton);
	free(live->slow);
	free(live);
}
