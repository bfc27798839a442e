// SPDX-License-Identifier: BSD-2-Clause
// Sets the parts of the monitor up and runs its event loop, see subcommand.h.
#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/console.h"
#include "cli/options.h"
#include "cli/session.h"
#include "cli/subcommand.h"
#include "collect/collector.h"
#include "gen/gpuprobe.skel.h"
#include "output/metrics.h"
#include "output/report_json.h"
#include "output/report_text.h"
#include "probe/attacher.h"
#include "probe/features.h"
#include "probe/object.h"
#include "serve/http.h"

#define REAP_DELAY_MS 200 /* ends of processes are gathered for so long */

struct monitor {
	const struct options *options;
	const struct log *log;
	struct session *session;
	struct gpuprobe_bpf *skeleton;
	struct probe_programs programs;
	struct collector *collector;
	struct metrics *metrics;
	struct http_server *server;
	struct console *console;
	struct event *ring, *reap, *display;
	uint64_t reap_ns; /* what the last reaping took */
};

/* --- reports --- */

static void refresh_counts(struct monitor *monitor)
{
	struct model *model = collector__model(monitor->collector);
	struct attacher_counts counts;

	session__count(monitor->session, &counts);
	memcpy(model->sites_attached, counts.sites, sizeof(model->sites_attached));
	model->sites_missing = counts.missing;
	model->libraries = counts.libraries;
}

/* The report as text in memory (malloc); NULL without. */
static char *render_report(const struct monitor *monitor, const struct model *model, size_t *length)
{
	const struct options *options = monitor->options;
	const struct report_options form = {.top = options->top, .full_names = options->full_names};
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	if (!out)
		return NULL;
	if (options->json)
		report_json__print(out, model);
	else
		report_text__print(out, model, &form);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static void report(struct monitor *monitor, bool final)
{
	struct model *model = collector__model(monitor->collector);
	int ret = final ? collector__reap(monitor->collector, true) : collector__update(monitor->collector, true);
	size_t length = 0;
	char *text;

	if (ret)
		log__warn(monitor->log, "the BPF maps could not be read whole: %s", strerror(-ret));
	refresh_counts(monitor);
	model->final = final;
	text = render_report(monitor, model, &length);
	if (text)
		console__write(monitor->console, text, length);
	else
		log__warn(monitor->log, "no memory for a report");
	collector__reported(monitor->collector);
}

static void on_output_closed(void *arg)
{
	struct monitor *monitor = arg;

	session__stop(monitor->session);
}

static int render_metrics(void *arg, enum exposition form, FILE *out)
{
	struct monitor *monitor = arg;
	int ret = collector__update(monitor->collector, false);

	if (ret)
		log__warn(monitor->log, "the BPF maps could not be read whole: %s", strerror(-ret));
	refresh_counts(monitor);
	return metrics__render(monitor->metrics, out, collector__model(monitor->collector), form);
}

/* --- what happens --- */

static void on_display(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *monitor = arg;

	(void)fd;
	(void)what;
	/* Who has not read the last report yet gets the next when he has. */
	if (!console__is_busy(monitor->console))
		report(monitor, false);
}

static void take_notices(void *arg)
{
	struct monitor *monitor = arg;

	collector__consume(monitor->collector);
}

static void on_ring(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	take_notices(arg);
}

static void on_reap(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *monitor = arg;
	uint64_t began = clock__boot_ns();
	int ret = collector__reap(monitor->collector, false);

	(void)fd;
	(void)what;
	if (ret)
		log__warn(monitor->log, "the BPF maps could not be read whole: %s", strerror(-ret));
	monitor->reap_ns = clock__boot_ns() - began;
}

static void on_process_ended(void *arg)
{
	struct monitor *monitor = arg;
	/* However many processes end, and however much there is to read: a tenth of the time at most. */
	uint64_t delay_ms = REAP_DELAY_MS + 10 * monitor->reap_ns / NS_PER_MS;
	struct timeval delay = {.tv_sec = (time_t)(delay_ms / 1000), .tv_usec = (suseconds_t)(delay_ms % 1000 * 1000)};

	if (monitor->reap && !evtimer_pending(monitor->reap, NULL))
		evtimer_add(monitor->reap, &delay);
}

static void on_process_changed(const struct record_library *record, void *arg)
{
	struct monitor *monitor = arg;

	session__process_changed(monitor->session, record);
}

static void on_late_process(pid_t pid, uint64_t time_ns, void *arg)
{
	struct monitor *monitor = arg;

	collector__mark_late(monitor->collector, pid, time_ns);
}

/* --- setting up --- */

static struct timeval to_timeval(double seconds)
{
	double whole = floor(seconds);

	return (struct timeval){.tv_sec = (time_t)whole, .tv_usec = (suseconds_t)((seconds - whole) * 1e6)};
}

static int make_events(struct monitor *monitor, struct error *err)
{
	struct event_base *loop = session__loop(monitor->session);
	struct timeval interval = to_timeval(monitor->options->display_interval);

	monitor->ring = event_new(loop, collector__ring_fd(monitor->collector), EV_READ | EV_PERSIST, on_ring, monitor);
	monitor->reap = evtimer_new(loop, on_reap, monitor);
	monitor->display = event_new(loop, -1, EV_PERSIST, on_display, monitor);
	if (!monitor->ring || !monitor->reap || !monitor->display)
		return error__set(err, -ENOMEM, "out of memory");
	event_add(monitor->ring, NULL);
	if (monitor->options->display_interval > 0)
		event_add(monitor->display, &interval);
	return 0;
}

static int start_server(struct monitor *monitor, struct error *err)
{
	struct http_options options = {
		.address = monitor->options->metrics_address,
		.version = GPUPROBE_VERSION,
		.render = render_metrics,
		.arg = monitor,
	};
	const struct metrics_options form = {.kernels = monitor->options->metrics_kernels, .version = GPUPROBE_VERSION};
	struct error why = {""};
	int ret;

	if (!options.address)
		return 0;
	monitor->metrics = metrics__new(&form);
	if (!monitor->metrics)
		return error__set(err, -ENOMEM, "out of memory");
	ret = http_server__new(session__loop(monitor->session), &options, &monitor->server, &why);
	if (!ret)
		return 0;
	if (monitor->options->metrics_address_given)
		return error__set(err, ret, "%s", why.text);
	log__warn(monitor->log, "%s; going on without metrics", why.text);
	return 0;
}

static int load(struct monitor *monitor, struct error *err)
{
	const struct options *options = monitor->options;
	const struct collector_hooks hooks = {
		.process_changed = on_process_changed,
		.process_ended = on_process_ended,
		.arg = monitor,
	};
	struct object_options object = {
		.check_launches = options->check_launches,
		.only_watched = options->targets.command || options->targets.pid_count,
		.hold = options->targets.command,
		.track_inflight = options->sections & SECTION_COPY,
		.sees_memory = options->sections & SECTION_MEMORY,
		.max_processes = options->max_processes,
		.max_allocations = options->max_allocations,
		.max_kernels = options->max_kernels,
		.max_inflight = options->max_inflight,
	};
	struct collector_options collect = {
		.sections = options->sections,
		.max_processes = options->max_processes,
		.top = options->top,
		.exact_from_start = options->targets.command,
	};
	struct selection selection = {.sections = options->sections, .api = options->api};
	struct session_probes probes = {.selection = &selection, .programs = &monitor->programs};
	struct features features;
	int ret;

	ret = features__probe(&features, err);
	if (!ret)
		ret = features__choose_links(&features, getenv("GPUPROBE_LINKS"), &object.links, err);
	if (!ret)
		ret = object__load(&object, &features, &monitor->skeleton, err);
	if (ret)
		return ret;
	object__programs(monitor->skeleton, &monitor->programs);
	probes.links = object.links;
	probes.exec = &monitor->skeleton->links.process_exec;
	collect.launch_sample = object__launch_sample(&object);
	selection.launch_returns = collect.launch_sample > 0;
	ret = collector__new(monitor->skeleton, &collect, &hooks, monitor->log, &monitor->collector, err);
	if (!ret)
		ret = session__prepare(monitor->session, &probes, err);
	return ret;
}

static int set_up(struct monitor *monitor, struct error *err)
{
	const struct options *options = monitor->options;
	const struct session_hooks hooks = {.take_notices = take_notices, .late = on_late_process, .arg = monitor};
	int ret;

	ret = session__new(&options->targets, options->duration, &hooks, monitor->log, &monitor->session, err);
	if (!ret)
		ret = console__new(session__loop(monitor->session), STDOUT_FILENO, on_output_closed, monitor,
				   &monitor->console, err);
	if (!ret)
		ret = load(monitor, err);
	if (!ret)
		ret = start_server(monitor, err);
	if (!ret)
		ret = make_events(monitor, err);
	if (!ret)
		ret = session__attach(monitor->session, err);
	if (ret)
		return ret;
	collector__attached(monitor->collector);
	return 0;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

static void tear_down(struct monitor *monitor)
{
	console__free(monitor->console);
	http_server__free(monitor->server);
	metrics__free(monitor->metrics);
	free_event(monitor->ring);
	free_event(monitor->reap);
	free_event(monitor->display);
	session__free(monitor->session);
	collector__free(monitor->collector);
	gpuprobe_bpf__destroy(monitor->skeleton);
}

static int run(const struct options *options, const struct log *log, int *status, struct error *err)
{
	struct monitor monitor = {.options = options, .log = log};
	int ret = set_up(&monitor, err);

	if (!ret)
		ret = session__run(monitor.session, err);
	if (!ret) {
		if (!console__finish(monitor.console)) {
			report(&monitor, true);
			console__finish(monitor.console);
		}
		*status = session__status(monitor.session);
	}
	tear_down(&monitor);
	return ret;
}

int monitor_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct options options;
	struct log log;
	int ret = options__parse(&options, argc, argv, err);

	if (ret == OPTIONS_RUN) {
		log.level = options.log_level;
		subcommand__set_bpf_log(log.level);
		ret = run(&options, &log, status, err);
	} else if (ret < 0) {
		*status = EXIT_USAGE;
	} else {
		*status = 0;
		if (ret == OPTIONS_HELP) {
			options__print_help(stdout);
			subcommand__print_all(stdout);
		} else {
			puts("gpuprobe " GPUPROBE_VERSION);
		}
	}
	options__clear(&options);
	return ret;
}
