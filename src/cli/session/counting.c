// SPDX-License-Identifier: BSD-2-Clause
// Sets up what counts CUDA calls, and looks after processes that end, see counting.h.
#include "cli/session/counting.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/session/target_pids.h"
#include "cli/session/overhead.h"
#include "cli/session/privileges.h"
#include "cli/session/watch.h"
#include "collect/collector.h"
#include "api/api.h"
#include "gen/gpuprobe.skel.h"
#include "govern/ask_probes.h"
#include "govern/calibration.h"
#include "host/watch.h"
#include "probe/attacher.h"
#include "probe/features.h"
#include "probe/object.h"
#include "probe/return_probes.h"

#define REAP_DELAY_MS 200 /* ends of processes are gathered for so long */

struct counting {
	struct counting_options options;
	const struct log *log;
	struct session *session;
	struct gpuprobe_bpf *skeleton;
	struct probe_programs programs;
	struct collector *collector;
	bool *slow;		     /* by row of api_functions, see struct attacher_counts */
	struct overhead *overhead;   /* NULL: all probes stay in */
	struct ask_probes asks;	     /* with options.asks, where they can be taken out */
	bool asks_stay;		     /* they cannot */
	struct host_watch *host;     /* NULL: no thread is followed */
	struct host_side unfollowed; /* where none can be */
	struct error host_lack;
	struct event *ring, *reap, *look;
	uint64_t reap_ns; /* what the last reaping took, for those that live */
};

/* --- what happens --- */

static void on_ring(evutil_socket_t fd, short what, void *arg)
{
	const struct counting *counting = arg;

	(void)fd;
	(void)what;
	collector__consume_some(counting->collector);
}

static void warn_unread(const struct counting *counting, int ret)
{
	if (ret)
		log__warn(counting->log, "the BPF maps could not be read whole: %s", strerror(-ret));
}

static void on_reap(evutil_socket_t fd, short what, void *arg)
{
	struct counting *counting = arg;
	uint64_t began = clock__boot_ns();

	(void)fd;
	(void)what;
	warn_unread(counting, collector__reap(counting->collector, false));
	counting->reap_ns = (uint64_t)((double)(clock__boot_ns() - began) * collector__living(counting->collector));
}

static void on_idle_time(const struct process *process, const struct record_idle *record, void *arg)
{
	struct counting *counting = arg;

	counting->options.idle_time(process, record, counting->options.idle_arg);
}

static void on_process_ended(void *arg)
{
	struct counting *counting = arg;
	/*
	 * However many processes end: what there is to read of those that live takes a tenth of the time at most. Those that
	 * have ended are read for the last time, the sooner the better: each reading has them until then.
	 */
	uint64_t delay_ms = REAP_DELAY_MS + 10 * counting->reap_ns / NS_PER_MS;
	struct timeval delay = {.tv_sec = (time_t)(delay_ms / 1000), .tv_usec = (suseconds_t)(delay_ms % 1000 * 1000)};

	if (counting->reap && !evtimer_pending(counting->reap, NULL))
		evtimer_add(counting->reap, &delay);
}

static void on_process_changed(const struct record_library *record, void *arg)
{
	struct counting *counting = arg;

	session__process_changed(counting->session, record);
}

static void on_late_process(pid_t pid, uint64_t time_ns, void *arg)
{
	struct counting *counting = arg;

	collector__mark_late(counting->collector, pid, time_ns);
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
	const struct counting *counting = arg;

	(void)fd;
	(void)what;
	host_watch__look(counting->host);
}

static void on_second(void *arg)
{
	struct counting *counting = arg;

	collector__rest(counting->collector);
}

/* --- setting up --- */

int counting__new(const struct counting_options *options, const struct log *log, struct counting **out,
		  struct error *err)
{
	struct counting *counting = calloc(1, sizeof(*counting));
	struct session_hooks hooks = {
		.late = on_late_process,
		.late_sharer = on_late_process,
		.second = on_second,
		.arg = counting,
		.end_with_pids = options->end_with_pids,
	};
	int ret;

	if (!counting)
		return error__set(err, -ENOMEM, "out of memory");
	counting->options = *options;
	counting->log = log;
	counting->slow = calloc(api_function_count, sizeof(*counting->slow));
	if (!counting->slow) {
		free(counting);
		return error__set(err, -ENOMEM, "out of memory");
	}
	ret = session__new(options->targets, options->duration, &hooks, log, &counting->session, err);
	if (ret) {
		counting__free(counting);
		return ret;
	}
	*out = counting;
	return 0;
}

/* --max-overhead: what calls cost is measured before anything is watched. */
static int make_overhead(struct counting *counting, const struct object_options *object,
			 const struct features *features, struct error *err)
{
	const struct overhead_options options = {
		.max = counting->options.max_overhead,
		.by_default = counting->options.overhead_by_default,
		.sampling = counting->options.sample_launches_alone ? 1u << RATE_LAUNCH : GOVERNED_FAMILIES,
	};
	struct call_costs costs;
	int ret = calibration__measure(object, features, counting->options.sample_launches_alone, &costs, err);

	if (ret && options.by_default) {
		log__info(counting->log, "what probes cost is not held to a budget: %s", err->text);
		counting->options.max_overhead = 0;
		return 0;
	}
	if (ret)
		return ret;
	log__info(counting->log, "a probed call costs: launch %.0f ns, copy %.0f, wait %.0f, others %.0f",
		  costs.ns[RATE_LAUNCH], costs.ns[RATE_COPY], costs.ns[RATE_WAIT], costs.ns[RATE_EXACT]);
	if (counting->options.sample_launches_alone)
		log__info(counting->log, "where a program's own work has the caches it costs %.1f times as much", costs.cold);
	return overhead__new(&options, &costs, counting->session, counting->skeleton, counting->log, &counting->overhead, err);
}

/* Where the links do not allow that, who did not ask for it has no budget. */
static bool is_held_to_budget(struct counting *counting, enum link_kind links)
{
	struct counting_options *options = &counting->options;

	if (links == LINKS_TRACEFS && options->overhead_by_default)
		options->max_overhead = 0;
	return options->max_overhead > 0;
}

static int load_object(struct counting *counting, struct session_probes *probes, uint32_t *launch_sample,
		       struct error *err)
{
	const struct counting_options *options = &counting->options;
	const struct targets *targets = options->targets;
	struct object_options object = {
		.check_launches = options->check_launches,
		.account = options->account,
		.idle_records = options->idle_time,
		.steps = options->steps,
		.only_watched = targets->command || targets->pid_count,
		.hold = targets->command,
		.track_inflight = options->sections & SECTION_COPY,
		.sees_memory = options->sections & SECTION_MEMORY,
		.max_processes = options->limits.max_processes,
		.max_allocations = options->limits.max_allocations,
		.max_kernels = options->limits.max_kernels,
		.max_inflight = options->limits.max_inflight,
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
		ret = features__choose_links(&features, getenv("GPUPROBE_LINKS"), &object.links, err);
	if (!ret)
		object.rates = is_held_to_budget(counting, object.links);
	if (!ret && !options->no_returns)
		ret = return_probes__check(object.links, err);
	if (!ret)
		ret = privileges__give_up(object.links, counting->log, err);
	if (!ret)
		ret = object__load(&object, &features, &counting->skeleton, err);
	if (!ret && object.rates)
		ret = make_overhead(counting, &object, &features, err);
	if (ret)
		return ret;
	object__programs(counting->skeleton, &counting->programs);
	probes->links = object.links;
	counting->asks_stay = object.links == LINKS_TRACEFS;
	*launch_sample = object__launch_sample(&object);
	return 0;
}

static int make_look(struct counting *counting)
{
	const struct timeval period = clock__timeval((double)WATCH_PERIOD_NS / NS_PER_S);

	if (!counting->host)
		return 0;
	counting->look = event_new(session__loop(counting->session), -1, EV_PERSIST, on_look, counting);
	return counting->look ? event_add(counting->look, &period) : -1;
}

static int make_events(struct counting *counting, struct error *err)
{
	struct event_base *loop = session__loop(counting->session);

	counting->ring =
		event_new(loop, collector__ring_fd(counting->collector), EV_READ | EV_PERSIST, on_ring, counting);
	counting->reap = evtimer_new(loop, on_reap, counting);
	if (!counting->ring || !counting->reap || make_look(counting))
		return error__set(err, -ENOMEM, "out of memory");
	return event_add(counting->ring, NULL) ? error__set(err, -ENOMEM, "out of memory") : 0;
}

static void see_followed(pid_t pid, void *arg)
{
	const struct counting *counting = arg;

	collector__see_process(counting->collector, pid);
}

/* NULL: no reading has found it yet. */
static const struct process *find_process(const struct counting *counting, pid_t pid, uint64_t start_ns)
{
	const struct model *model = collector__model(counting->collector);

	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		if (process->pid == pid && host__is_same_start(process->start_ns, start_ns))
			return process;
	}
	return NULL;
}

/* One that no reading has found yet may be. */
static bool is_seen_from_start(pid_t pid, uint64_t start_ns, void *arg)
{
	const struct process *process = find_process(arg, pid, start_ns);

	return !process || !process->since_attach;
}

static bool tell_steady(pid_t pid, uint64_t start_ns, struct steady_marks *marks, void *arg)
{
	const struct counting *counting = arg;
	const struct process *process = find_process(counting, pid, start_ns);

	if (process)
		steady__marks(process, collector__model(counting->collector)->now_ns, marks);
	return process;
}

/* Where no thread can be followed the rest goes on, and why is told. */
static void make_host(struct counting *counting)
{
	const struct host_watch_options options = {
		.rate = counting->options.host_rate,
		.stacks = collector__stacks(counting->collector),
		.see_process = see_followed,
		.is_seen_from_start = is_seen_from_start,
		.steady = tell_steady,
		.arg = counting,
	};

	if (!options.rate || !host_watch__new(counting->skeleton, &options, &counting->host, &counting->host_lack))
		return;
	log__warn(counting->log, "what threads do besides CUDA calls is not followed, and no reasons are given: %s", counting->host_lack.text);
	counting->unfollowed = (struct host_side){.lack = counting->host_lack.text};
}

int counting__prepare(struct counting *counting, struct error *err)
{
	const struct counting_options *options = &counting->options;
	const struct collector_hooks hooks = {
		.process_changed = on_process_changed,
		.process_ended = on_process_ended,
		.idle_time = options->idle_time ? on_idle_time : NULL,
		.arg = counting,
	};
	struct collector_options collect = {
		.sections = options->sections,
		.max_processes = options->limits.max_processes,
		.top = options->top,
		.exact_from_start = options->targets->command,
		.account = options->account,
		.steps = options->steps,
		.no_returns = options->no_returns,
		.stack_mode = options->stacks.mode,
		.max_stacks = options->stacks.max,
		.follows_threads = options->host_rate > 0,
		.live_filter = options->live_filter,
	};
	struct selection selection = {
		.sections = options->sections,
		.api = options->api,
		.asks = options->asks,
		.getters = options->getters,
		.of_machine = !(options->targets->command || options->targets->pid_count),
		.no_returns = options->no_returns,
	};
	struct session_probes probes = {.selection = &selection, .programs = &counting->programs};
	int ret = load_object(counting, &probes, &collect.launch_sample, err);

	if (ret)
		return ret;
	selection.launch_returns = collect.launch_sample > 0;
	selection.by_family = options->max_overhead > 0;
	if (counting->overhead)
		collect.estimates = overhead__estimates(counting->overhead);
	probes.exec = &counting->skeleton->links.process_exec;
	probes.mapping = &counting->skeleton->links.mapping_exit;
	ret = collector__new(counting->skeleton, &collect, &hooks, counting->log, &counting->collector, err);
	if (ret)
		return ret;
	make_host(counting);
	ret = session__prepare(counting->session, &probes, err);
	if (!ret)
		ret = make_events(counting, err);
	return ret;
}

static void see_process(pid_t pid, void *arg)
{
	struct counting *counting = arg;

	collector__see_process(counting->collector, pid);
}

/* What fails is tried at the next reading. */
static int watch_asks(void *arg, bool in)
{
	struct counting *counting = arg;
	struct error err;
	int ret = session__watch_asks(counting->session, in, &err);

	log__debug(counting->log, "the probes of what asks for errors: %s", ret ? err.text : in ? "in" :
												  "out");
	return ret;
}

/* A process of -p may have had its start, see govern/ask_probes.h; one that has not brings the probes in by its first call. */
static void begin_without_asks(struct counting *counting)
{
	const struct targets *targets = counting->options.targets;

	if (counting->options.asks && !counting->asks_stay && targets->pid_count && !targets->command)
		counting->asks.out = !watch_asks(counting, false);
}

int counting__attach(struct counting *counting, struct error *err)
{
	int ret = 0;

	if (counting->options.stacks.mode)
		ret = watch__each_process(counting->options.targets, see_process, counting, err);
	begin_without_asks(counting);
	if (!ret)
		ret = session__attach(counting->session, err);
	if (ret)
		return ret;
	collector__attached(counting->collector);
	session__find_earlier(counting->session, counting->options.api, counting->collector);
	if (counting->overhead)
		overhead__start(counting->overhead);
	return 0;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

void counting__free(struct counting *counting)
{
	if (!counting)
		return;
	free_event(counting->ring);
	free_event(counting->reap);
	free_event(counting->look);
	host_watch__free(counting->host);
	overhead__free(counting->overhead);
	session__free(counting->session);
	collector__free(counting->collector);
	gpuprobe_bpf__destroy(counting->skeleton);
	free(counting->slow);
	free(counting);
}

/* --- the model --- */

struct session *counting__session(const struct counting *counting)
{
	return counting->session;
}

struct model *counting__model(const struct counting *counting)
{
	return collector__model(counting->collector);
}

/* At each reading of the maps: the sooner, the likelier its parents are there. */
static void note_callers(struct counting *counting)
{
	struct asked_processes *asked = session__asked(counting->session);
	struct model *model = collector__model(counting->collector);

	for (size_t i = 0; i < model->process_count && asked->count; i++) {
		struct process *process = &model->processes[i];

		if (process->attributed || !process->called)
			continue;
		target_pids__see_call(asked, process->pid, process->identified ? process->parent : 0);
		process->attributed = true;
	}
}

/* Where driver libraries are that call others. */
static void name_shims(struct counting *counting)
{
	struct model *model = collector__model(counting->collector);

	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		if (process->shim_number && !process->shim)
			process->shim = session__driver_path(counting->session, process->shim_number);
		if (process->shim_number && !process->driver)
			process->driver = session__driver_path(counting->session, process->driver_number);
	}
}

static void refresh_host(struct counting *counting)
{
	struct model *model = collector__model(counting->collector);

	if (counting->host)
		model->host = host_watch__tell(counting->host, model->final);
	else if (counting->options.host_rate)
		model->host = &counting->unfollowed;
	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		process->host = host_side__find(model->host, process->pid, process->start_ns);
	}
}

static void refresh_counts(struct counting *counting)
{
	struct model *model = collector__model(counting->collector);
	struct attacher_counts counts;

	session__count(counting->session, &counts);
	memcpy(model->sites_attached, counts.sites, sizeof(model->sites_attached));
	model->sites_missing = counts.missing;
	model->libraries = counts.libraries;
	/* The attacher's own are gone when the last report is made. */
	memcpy(counting->slow, counts.slow, api_function_count * sizeof(*counting->slow));
	model->slow = counting->slow;
	model->lost[LOSS_LIBRARY_SKIPPED] = counts.skipped;
	note_callers(counting);
	session__look_at_silent(counting->session, model->final);
	name_shims(counting);
	model->asked = *session__asked(counting->session);
	if (counting->overhead)
		overhead__tell(counting->overhead, &model->sampling);
}

bool counting__gathers(const struct counting *counting)
{
	return collector__gathers(counting->collector);
}

bool counting__gather(struct counting *counting)
{
	return collector__gather(counting->collector) > 0;
}

int counting__update(struct counting *counting, bool with_lists)
{
	int ret;

	session__look_at_earlier(counting->session, counting->collector);
	ret = collector__update(counting->collector, with_lists);
	warn_unread(counting, ret);
	refresh_counts(counting);
	refresh_host(counting);
	if (counting->options.asks && !counting->asks_stay)
		ask_probes__look(&counting->asks, collector__model(counting->collector), watch_asks, counting);
	return ret;
}

void counting__finish(struct counting *counting)
{
	collector__consume(counting->collector);
	session__settle(counting->session);
	collector__model(counting->collector)->final = true;
	session__look_at_earlier(counting->session, counting->collector);
	if (counting->host)
		host_watch__look(counting->host);
	warn_unread(counting, collector__reap(counting->collector, true));
	refresh_counts(counting);
	refresh_host(counting);
}

void counting__expect_reports(struct counting *counting)
{
	collector__expect_reports(counting->collector);
}

void counting__reported(struct counting *counting)
{
	collector__reported(counting->collector);
}

void counting__paged(struct counting *counting)
{
	collector__paged(counting->collector);
}
