// SPDX-License-Identifier: BSD-2-Clause
// Sets the parts of the monitor up and runs its event loop, see subcommand.h.
#include <errno.h>
#include <event2/event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/console.h"
#include "cli/counting.h"
#include "cli/options.h"
#include "cli/subcommand.h"
#include "output/metrics.h"
#include "output/report_json.h"
#include "output/report_text.h"
#include "serve/http.h"

struct monitor {
	const struct options *options;
	const struct log *log;
	struct counting *counting;
	struct metrics *metrics;
	struct http_server *server;
	struct console *console;
	struct event *display;
};

/* --- reports --- */

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
	size_t length = 0;
	char *text;

	if (final)
		counting__finish(monitor->counting);
	else
		counting__update(monitor->counting, true);
	text = render_report(monitor, counting__model(monitor->counting), &length);
	if (text)
		console__write(monitor->console, text, length);
	else
		log__warn(monitor->log, "no memory for a report");
	counting__reported(monitor->counting);
}

static void on_output_closed(void *arg)
{
	struct monitor *monitor = arg;

	session__stop(counting__session(monitor->counting));
}

static int render_metrics(void *arg, enum exposition form, FILE *out)
{
	struct monitor *monitor = arg;

	counting__update(monitor->counting, false);
	return metrics__render(monitor->metrics, out, counting__model(monitor->counting), form);
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

/* --- setting up --- */

static struct timeval to_timeval(double seconds)
{
	double whole = floor(seconds);

	return (struct timeval){.tv_sec = (time_t)whole, .tv_usec = (suseconds_t)((seconds - whole) * 1e6)};
}

static int start_display(struct monitor *monitor, struct error *err)
{
	struct event_base *loop = session__loop(counting__session(monitor->counting));
	struct timeval interval = to_timeval(monitor->options->display_interval);

	monitor->display = event_new(loop, -1, EV_PERSIST, on_display, monitor);
	if (!monitor->display)
		return error__set(err, -ENOMEM, "out of memory");
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
	ret = http_server__new(session__loop(counting__session(monitor->counting)), &options, &monitor->server, &why);
	if (!ret)
		return 0;
	if (monitor->options->metrics_address_given)
		return error__set(err, ret, "%s", why.text);
	log__warn(monitor->log, "%s; going on without metrics", why.text);
	return 0;
}

static int set_up(struct monitor *monitor, struct error *err)
{
	const struct options *options = monitor->options;
	const struct counting_options counting = {
		.targets = &options->targets,
		.duration = options->duration,
		.sections = options->sections,
		.api = options->api,
		.check_launches = options->check_launches,
		.limits = options->limits,
		.top = options->top,
		.stacks = options->stacks,
		.stack_sites = (1u << SITE_KINDS) - 1,
	};
	int ret;

	ret = counting__new(&counting, monitor->log, &monitor->counting, err);
	if (!ret)
		ret = console__new(session__loop(counting__session(monitor->counting)), STDOUT_FILENO,
				   on_output_closed, monitor, &monitor->console, err);
	if (!ret)
		ret = counting__prepare(monitor->counting, err);
	if (!ret)
		ret = start_server(monitor, err);
	if (!ret)
		ret = start_display(monitor, err);
	if (!ret)
		ret = counting__attach(monitor->counting, err);
	return ret;
}

static void tear_down(struct monitor *monitor)
{
	console__free(monitor->console);
	http_server__free(monitor->server);
	metrics__free(monitor->metrics);
	if (monitor->display)
		event_free(monitor->display);
	counting__free(monitor->counting);
}

static int run(const struct options *options, const struct log *log, int *status, struct error *err)
{
	struct monitor monitor = {.options = options, .log = log};
	int ret = set_up(&monitor, err);

	if (!ret)
		ret = session__run(counting__session(monitor.counting), err);
	if (!ret) {
		if (!console__finish(monitor.console)) {
			report(&monitor, true);
			console__finish(monitor.console);
		}
		ret = console__failure(monitor.console, err);
	}
	if (!ret)
		*status = session__status(counting__session(monitor.counting));
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
