// SPDX-License-Identifier: BSD-2-Clause
// Sets the parts of the monitor up and runs its event loop, see subcommand.h.
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/files/terminal.h"
#include "cli/commands/monitor_private.h"
#include "cli/commands/subcommand.h"
#include "model/growth.h"
#include "output/report/parts.h"
#include "output/json/report.h"
#include "output/report/text.h"

/* minimum time between samples for findings that follow a trend */
#define SAMPLE_PERIOD_NS NS_PER_S
/* approximate seconds between readings of the maps for estimates */
#define ESTIMATE_PERIOD 1.0
#define VERDICT_PERIOD 4.0 /* the same for verdicts */
#define SECOND_SAMPLE 1.5  /* seconds */

#define STEP_THREADS_WATCHED 16 /* each has a record of about 200 KiB */

/* --- findings --- */

/* NEEDS_* that the options ask for. */
static unsigned int needs_of(const struct monitor_options *options)
{
	return (options->verdict ? NEEDS_PROFILE : 0) | (options->nccl ? NEEDS_NCCL : 0);
}

/*
 * Sets up findings. Without --verdict there is no profile, so only the kinds that need none are
 * detected. Returns 0, -ENOMEM, or -EINVAL for an invalid threshold.
 */
static int make_findings(struct monitor *monitor, struct error *err)
{
	const struct findings_options options = {
		.needs = needs_of(monitor->options) |
			 (monitor->options->input.path ? 0 : NEEDS_XIDS),
		.latest = true,
		.full_names = monitor->options->full_names && !monitor->options->json,
		.window_ns = GROWTH_WINDOW_NS,
	};
	int ret;

	monitor->findings = findings__new(&options);
	if (!monitor->findings)
		return error__set(err, -ENOMEM, "out of memory");
	ret = findings__set_thresholds(monitor->findings, monitor->options->thresholds.texts,
				       monitor->options->thresholds.count, err);
	return ret ? error__prefix(err, ret, "--threshold") : 0;
}

static void warn_memory(struct monitor *monitor, int ret)
{
	if (ret && !monitor->warned) {
		log__warn(monitor->log, "out of memory: some findings may be missing");
		monitor->warned = true;
	}
}

static void sample(void *arg)
{
	struct monitor *monitor = arg;
	const struct model *model = live_run__model(monitor->live);

	warn_memory(monitor, findings__sample(monitor->findings, model));
	if (monitor->metrics)
		warn_memory(monitor, metrics__account(monitor->metrics, model));
	monitor->sampled_ns = model->now_ns;
}

void monitor__draw(struct monitor *monitor)
{
	if (monitor->xids)
		xid_watch__look(monitor->xids, live_model__model(monitor->live->live));
	if (live_run__model(monitor->live)->now_ns - monitor->sampled_ns >= SAMPLE_PERIOD_NS)
		sample(monitor);
	warn_memory(monitor, findings__detect(monitor->findings, live_run__model(monitor->live),
					      &monitor->list));
}

/* --- reports --- */

static void look(void *arg)
{
	struct monitor *monitor = arg;

	monitor__draw(monitor);
	report_findings__select(&monitor->list, live_run__model(monitor->live));
	if (monitor->service)
		warn_memory(monitor, service__look(monitor->service, live_run__model(monitor->live),
						   &monitor->list));
	otlp_export__look(monitor->otlp);
}

/* The report that was chosen by sections. */
static void print_sections(FILE *out, const struct monitor *monitor)
{
	const struct report_options form = {
		.top = monitor->options->top,
		.full_names = monitor->options->full_names,
		.form = monitor->options->form,
		.all_frames = true,
		.ten_frames = !monitor->options->all_frames,
		.findings = &monitor->list,
	};

	report_text__print(out, live_run__model(monitor->live), &form);
}

static int print(FILE *out, void *arg)
{
	const struct monitor *monitor = arg;
	const struct monitor_options *options = monitor->options;
	const struct model *model = live_run__model(monitor->live);
	/*
	 * A report of selected sections has only these. Without returns of calls, times are
	 * unknown.
	 */
	const struct findings *verdicts =
		options->chosen || options->no_returns ? NULL : monitor->findings;

	if (monitor->service)
		return 0;
	if (monitor->text) {
		int ret = monitor_text__print(out, monitor->text, model, &monitor->list, verdicts);

		otlp_export__print_losses(out, monitor->otlp);
		return ret;
	}
	if (options->json) {
		otlp_export__count(monitor->otlp);
		report_json__print(out, model, &monitor->list, verdicts,
				   otlp_export__counts(monitor->otlp));
	} else {
		print_sections(out, monitor);
	}
	return 0;
}

/* --- setting up --- */

/* Programs read JSON and the report by sections: these have no terminal's width. */
static int make_text(struct monitor *monitor, struct error *err)
{
	const struct monitor_options *options = monitor->options;
	int columns = (int)terminal__width(STDOUT_FILENO);
	struct monitor_text_options form = {
		.columns = columns ? columns : MONITOR_COLUMNS,
		.cut_names = columns && !options->full_names,
		.top = options->top,
		.cut = !options->top_given,
		.full_names = options->full_names,
		.all_frames = options->all_frames,
		.form = options->form,
	};

	if (options->json || options->chosen || options->service)
		return 0;
	if (form.columns < MONITOR_COLUMNS_LEAST)
		form.columns = MONITOR_COLUMNS_LEAST;
	monitor->text = monitor_text__new(&form);
	return monitor->text ? 0 : error__set(err, -ENOMEM, "out of memory");
}

/*
 * Called when COMMAND has been started, since nothing is watched if that fails. On standard error:
 * standard output may be a file of reports.
 */
static void print_start(evutil_socket_t fd, short what, void *arg)
{
	const struct monitor *monitor = arg;
	const struct monitor_options *options = monitor->options;
	const struct filter_text only = process_filter__text(&options->targets.filter);
	const struct monitor_start start = {
		.watched = {.command =
				    options->targets.command ? options->targets.command[0] : NULL,
			    .pids = options->targets.pids,
			    .pid_count = options->targets.pid_count,
			    .only = only.text,
			    .interval = options->display_interval,
			    .duration = options->duration},
		.metrics = monitor->server ? options->metrics_address : NULL,
	};

	(void)fd;
	(void)what;
	monitor_text__start(stderr, &start);
	otlp_export__describe(stderr, monitor->otlp);
}

static int begin_service(struct monitor *monitor, struct error *err)
{
	if (!monitor->service)
		return 0;
	return service__ready(monitor->service,
			      session__loop(live_model__session(monitor->live->live)),
			      monitor->server ? monitor->options->metrics_address : NULL, err);
}

/*
 * Running processes make calls while the probes are attached, which takes seconds on a busy
 * machine: these calls are in totals, but not in rates. COMMAND has not begun.
 */
static int begin_counts(struct monitor *monitor)
{
	struct live_model *live = monitor->live->live;

	if (monitor->options->targets.command)
		return monitor_text__begin(monitor->text, clock__boot_ns(), NULL);
	live_model__update(live, false);
	return monitor_text__begin(monitor->text, live_model__counts_since(live),
				   live_model__model(live));
}

static int begin_text(struct monitor *monitor, struct error *err)
{
	const struct timeval at_once = {0};
	struct event_base *loop = session__loop(live_model__session(monitor->live->live));

	if (!monitor->text)
		return 0;
	if (begin_counts(monitor))
		return error__set(err, -ENOMEM, "out of memory");
	if (monitor->options->log_level < LOG_WARN ||
	    !event_base_once(loop, -1, EV_TIMEOUT, print_start, monitor, &at_once))
		return 0;
	return error__set(err, -ENOMEM, "out of memory");
}

static int watch_xids(struct monitor *monitor, struct error *err)
{
	if (monitor->replay)
		return 0;
	return xid_watch__new(session__loop(live_model__session(monitor->live->live)),
			      monitor->options->kernel_log, monitor->log, &monitor->xids, err);
}

static int begin_replay(struct monitor *monitor, struct error *err)
{
	uint64_t began_ns = replay__reading(monitor->replay)->began_ns;

	replay__select(monitor->replay, monitor->options->sections);
	findings__begin(monitor->findings, began_ns);
	if (!monitor->text || !monitor_text__begin(monitor->text, began_ns, NULL))
		return 0;
	return error__set(err, -ENOMEM, "out of memory");
}

static int set_up(struct monitor *monitor, struct error *err)
{
	const struct monitor_options *options = monitor->options;
	const double verdict_period = options->verdict ? VERDICT_PERIOD : 0;
	const struct live_run_options live = {
		.replay = monitor->replay,
		.live =
			{
				.targets = &options->targets,
				.duration = options->duration,
				.sections = options->sections,
				.api = options->api,
				.needs = needs_of(options),
				.nccl_hang_ns = findings__nccl_hang_ns(monitor->findings),
				.check_launches = options->check_launches,
				.no_returns = options->no_returns,
				.steps =
					options->sections & SECTION_LAUNCH && !options->no_returns ?
						STEP_THREADS_WATCHED :
						0,
				.max_overhead = options->max_overhead,
				.limits = options->limits,
				.oom_reports = options->sections & SECTION_MEMORY,
				.oom_directory = options->oom_directory,
				.network = monitor->otlp,
				.tensor_python = true,
				.top = options->top,
				.stacks = options->stacks,
				.stack_sites = ((1u << SITE_KINDS) - 1) & ~(1u << SITE_COPY),
			},
		.reports =
			{
				.interval = options->display_interval,
				.look = look,
				.print = print,
				.arg = monitor,
			},
		/*
		 * Missed calls are distributed at each reading of the maps, which is as often as
		 * the watched families may change. A verdict's window begins at a reading:
		 * the first two are early, so that the first report has a verdict.
		 */
		.samples =
			{
				.period = options->max_overhead > 0 ? ESTIMATE_PERIOD :
								      verdict_period,
				.second = SECOND_SAMPLE,
				.take = sample,
				.arg = monitor,
			},
	};
	int ret = live_run__new(&live, monitor->log, &monitor->live, err);

	/* A port below 1024 needs privileges that gpuprobe gives up. */
	if (!ret)
		ret = monitor__start_server(monitor, err);
	if (!ret)
		ret = monitor__make_web(monitor, err);
	if (!ret)
		ret = watch_xids(monitor, err);
	if (!ret)
		ret = live_run__attach(monitor->live, err);
	if (ret)
		return ret;
	if (monitor->replay)
		return begin_replay(monitor, err);
	findings__begin(monitor->findings, clock__boot_ns());
	ret = otlp_export__begin(monitor->otlp,
				 session__loop(live_model__session(monitor->live->live)),
				 live_run__model(monitor->live), err);
	if (!ret)
		ret = begin_service(monitor, err);
	return ret ? ret : begin_text(monitor, err);
}

static int run(const struct monitor_options *options, int *status, struct error *err)
{
	struct log log = subcommand__set_log(options->log_level);
	struct monitor monitor = {.options = options, .log = &log};
	int ret = make_findings(&monitor, err);

	if (!ret && options->service) {
		ret = service__new(&monitor.service, err);
		log.priorities = !ret && service__has_journal(monitor.service);
	}
	if (!ret && !options->input.path)
		ret = monitor__make_otlp(&monitor, err);
	if (ret == -EINVAL)
		*status = EXIT_USAGE;
	if (!ret && options->input.path)
		ret = replay__new(&options->input, &log, &monitor.replay, err);
	if (!ret)
		ret = make_text(&monitor, err);
	if (!ret)
		ret = set_up(&monitor, err);
	if (!ret)
		ret = live_run__until_end(monitor.live, err);
	if (!ret)
		*status = live_run__status(monitor.live);
	if (monitor.otlp)
		otlp_export__finish(monitor.otlp,
				    ret ? NULL : live_model__session(monitor.live->live));
	service__free(monitor.service);
	otlp_export__free(monitor.otlp);
	http_server__free(monitor.server);
	web__free(monitor.web);
	metrics__free(monitor.metrics);
	finding_list__clear(&monitor.list);
	findings__free(monitor.findings);
	monitor_text__free(monitor.text);
	xid_watch__free(monitor.xids);
	live_run__free(monitor.live);
	replay__free(monitor.replay);
	return ret;
}

int monitor_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct monitor_options options;
	int ret = monitor_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &monitor_options, status))
		ret = run(&options, status, err);
	if (ret == OPTIONS_HELP)
		subcommand__print_all(stdout);
	monitor_options__clear(&options);
	return ret;
}
