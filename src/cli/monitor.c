// SPDX-License-Identifier: BSD-2-Clause
// Sets the parts of the monitor up and runs its event loop, see monitor.h.
#include "cli/monitor.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/waker.h"
#include "cli/watch.h"
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
	struct gpuprobe_bpf *skeleton;
	struct probe_programs programs;
	struct attacher *attacher;
	struct collector *collector;
	struct command *command;
	struct waker *waker; /* with a command */
	struct metrics *metrics;
	struct http_server *server;
	struct console *console;
	struct event_base *loop;
	struct event *ring, *reap, *display, *deadline, *signals;
	uint64_t reap_ns; /* what the last reaping took */
	int signal_fd;
	int status; /* exit status */
	bool interrupted;
};

/* --- reports --- */

static void refresh_counts(struct monitor *monitor)
{
	struct model *model = collector__model(monitor->collector);
	struct attacher_counts counts;

	attacher__count(monitor->attacher, &counts);
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

	event_base_loopbreak(monitor->loop);
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

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *monitor = arg;

	(void)fd;
	(void)what;
	event_base_loopbreak(monitor->loop);
}

static void on_ring(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *monitor = arg;

	(void)fd;
	(void)what;
	collector__consume(monitor->collector);
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

static void on_process_changed(const struct process_change *change, void *arg)
{
	struct monitor *monitor = arg;
	enum process_scan scan = change->exec ? SCAN_PROGRAM : SCAN_NAMED;
	int late = attacher__add_process(monitor->attacher, change->pid, scan, change->time_ns);

	if (change->stopped) {
		if (!change->parent_stopped)
			waker__letting_go(monitor->waker, change->pid);
		kill(change->pid, SIGCONT);
		bpf_map__delete_elem(monitor->skeleton->maps.held, &change->pid, sizeof(change->pid), 0);
	} else if (late > 0) {
		collector__mark_late(monitor->collector, change->pid, change->time_ns);
	}
}

/* Ctrl-C on the terminal has reached COMMAND as well; a signal sent to gpuprobe alone is passed on. */
static void on_stop_signal(struct monitor *monitor, const struct signalfd_siginfo *info)
{
	if (!monitor->command || monitor->interrupted) {
		event_base_loopbreak(monitor->loop);
		return;
	}
	monitor->interrupted = true;
	if (info->ssi_code == SI_USER || info->ssi_signo != SIGINT)
		command__signal(monitor->command, (int)info->ssi_signo);
}

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct monitor *monitor = arg;
	struct signalfd_siginfo info;

	(void)what;
	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			on_stop_signal(monitor, &info);
		else if (monitor->command && command__ended(monitor->command, &monitor->status))
			event_base_loopbreak(monitor->loop);
	}
}

/* --- setting up --- */

static int open_signals(struct monitor *monitor, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return error__set(err, -errno, "cannot block signals: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	monitor->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (monitor->signal_fd < 0)
		return error__set(err, -errno, "cannot open a signalfd: %s", strerror(errno));
	return 0;
}

static struct timeval to_timeval(double seconds)
{
	double whole = floor(seconds);

	return (struct timeval){.tv_sec = (time_t)whole, .tv_usec = (suseconds_t)((seconds - whole) * 1e6)};
}

static int make_events(struct monitor *monitor, struct error *err)
{
	struct event_base *loop = monitor->loop;
	const struct options *options = monitor->options;
	struct timeval interval = to_timeval(options->display_interval), duration = to_timeval(options->duration);

	monitor->ring = event_new(loop, collector__ring_fd(monitor->collector), EV_READ | EV_PERSIST, on_ring, monitor);
	monitor->signals = event_new(loop, monitor->signal_fd, EV_READ | EV_PERSIST, on_signal, monitor);
	monitor->reap = evtimer_new(loop, on_reap, monitor);
	monitor->display = event_new(loop, -1, EV_PERSIST, on_display, monitor);
	monitor->deadline = evtimer_new(loop, on_deadline, monitor);
	if (!monitor->ring || !monitor->signals || !monitor->reap || !monitor->display || !monitor->deadline)
		return error__set(err, -ENOMEM, "out of memory");
	event_add(monitor->ring, NULL);
	event_add(monitor->signals, NULL);
	if (options->display_interval > 0)
		event_add(monitor->display, &interval);
	if (options->duration > 0)
		evtimer_add(monitor->deadline, &duration);
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
	ret = http_server__new(monitor->loop, &options, &monitor->server, &why);
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
		.only_watched = options->command || options->pid_count,
		.hold = options->command,
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
		.exact_from_start = options->command,
	};
	struct selection selection = {.sections = options->sections, .api = options->api};
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
	collect.launch_sample = object__launch_sample(&object);
	selection.launch_returns = collect.launch_sample > 0;
	ret = collector__new(monitor->skeleton, &collect, &hooks, monitor->log, &monitor->collector, err);
	if (!ret && monitor->command)
		ret = waker__new(monitor->loop, monitor->collector, bpf_map__fd(monitor->skeleton->maps.watched),
				 &monitor->waker, err);
	/* Before any probe: what it holds open must not keep one in place. */
	if (!ret && monitor->command)
		ret = command__guard(monitor->command, bpf_map__fd(monitor->skeleton->maps.held), err);
	if (!ret)
		ret = attacher__new(&selection, object.links, &monitor->programs, monitor->log, &monitor->attacher, err);
	return ret;
}

static int set_up(struct monitor *monitor, struct error *err)
{
	const struct options *options = monitor->options;
	int ret;

	monitor->loop = event_base_new();
	if (!monitor->loop)
		return error__set(err, -ENOMEM, "cannot make an event loop");
	ret = console__new(monitor->loop, STDOUT_FILENO, on_output_closed, monitor, &monitor->console, err);
	if (!ret)
		ret = open_signals(monitor, err);
	if (!ret)
		ret = watch__check_pids(options->pids, options->pid_count, err);
	if (!ret && options->command)
		ret = command__new(options->command, &monitor->command, err);
	if (!ret)
		ret = load(monitor, err);
	if (!ret)
		ret = start_server(monitor, err);
	if (!ret)
		ret = make_events(monitor, err);
	if (!ret)
		ret = watch__begin(options, monitor->command, &monitor->programs, monitor->attacher, monitor->log, err);
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
	attacher__free(monitor->attacher); /* no probe runs from here on */
	if (monitor->command && monitor->skeleton) {
		bpf_link__destroy(monitor->skeleton->links.process_exec);
		monitor->skeleton->links.process_exec = NULL; /* and nothing is stopped any more */
		command__wake_held(bpf_map__fd(monitor->skeleton->maps.held));
	}
	command__free(monitor->command);
	waker__free(monitor->waker);
	free_event(monitor->ring);
	free_event(monitor->reap);
	free_event(monitor->display);
	free_event(monitor->deadline);
	free_event(monitor->signals);
	collector__free(monitor->collector);
	gpuprobe_bpf__destroy(monitor->skeleton);
	if (monitor->signal_fd >= 0)
		close(monitor->signal_fd);
	if (monitor->loop)
		event_base_free(monitor->loop);
}

int monitor__run(const struct options *options, const struct log *log, struct error *err)
{
	struct monitor monitor = {.options = options, .log = log, .signal_fd = -1};
	int ret = set_up(&monitor, err);

	if (!ret && monitor.command)
		ret = command__start(monitor.command, err);
	if (!ret) {
		event_base_dispatch(monitor.loop);
		if (!console__finish(monitor.console)) {
			report(&monitor, true);
			console__finish(monitor.console);
		}
		ret = monitor.status;
	}
	tear_down(&monitor);
	return ret;
}
