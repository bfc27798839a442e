// SPDX-License-Identifier: BSD-2-Clause
// Sets the parts of the monitor up and runs its event loop, see subcommand.h.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/session/live_model.h"
#include "cli/options/monitor_options.h"
#include "cli/session/reports.h"
#include "cli/session/samples.h"
#include "cli/commands/subcommand.h"
#include "finding/finding.h"
#include "model/growth.h"
#include "output/metrics/metrics.h"
#include "output/report/findings.h"
#include "output/json/report.h"
#include "output/report/text.h"
#include "privilege/file_rights.h"
#include "serve/http.h"

#define SAMPLE_PERIOD_NS NS_PER_S /* at least, between samples of what is judged by its course */
#define ESTIMATE_PERIOD 1.0	  /* seconds, about, between readings of the maps for estimates */
#define VERDICT_PERIOD 4.0	  /* the same for verdicts */

#define STEP_THREADS_WATCHED 16 /* each has a record of some 200 KiB */

struct monitor {
	const struct monitor_options *options;
	const struct log *log;
	struct live_model *live;
	struct metrics *metrics;
	struct http_server *server;
	struct reports *reports;
	struct samples *samples; /* with --max-overhead or --verdict */
	struct findings *findings;
	struct finding_list list; /* of the latest report or page */
	uint64_t sampled_ns;
	bool warned;
};

/* --- findings --- */

/* Those there is evidence for: without --verdict there is no profile. -EINVAL where a threshold is none. */
static int make_findings(struct monitor *monitor, struct error *err)
{
	const struct findings_options options = {
		.profile = monitor->options->verdict,
		.latest = true,
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

/* The model was read anew. */
static void sample(void *arg)
{
	struct monitor *monitor = arg;
	const struct model *model = live_model__model(monitor->live);

	if (model->now_ns - monitor->sampled_ns < SAMPLE_PERIOD_NS)
		return;
	warn_memory(monitor, findings__sample(monitor->findings, model));
	monitor->sampled_ns = model->now_ns;
}

static void draw(struct monitor *monitor)
{
	sample(monitor);
	warn_memory(monitor, findings__detect(monitor->findings, live_model__model(monitor->live), &monitor->list));
}

/* With sections asked for the report has these alone. Without the returns of calls nothing is known of times. */
static const struct findings *verdicts(const struct monitor *monitor)
{
	return monitor->options->chosen || monitor->options->no_returns ? NULL : monitor->findings;
}

/* --- reports --- */

static void look(void *arg)
{
	struct monitor *monitor = arg;

	draw(monitor);
	report_findings__select(&monitor->list, live_model__model(monitor->live));
}

static int print(FILE *out, void *arg)
{
	const struct monitor *monitor = arg;
	const struct monitor_options *options = monitor->options;
	const struct report_options form = {
		.top = options->top,
		.full_names = options->full_names,
		.findings = &monitor->list,
		.verdicts = verdicts(monitor),
	};

	if (options->json)
		report_json__print(out, live_model__model(monitor->live), form.findings, form.verdicts);
	else
		report_text__print(out, live_model__model(monitor->live), &form);
	return 0;
}

static int render_metrics(void *arg, enum exposition form, bool anew, uint64_t *reading, FILE *out)
{
	struct monitor *monitor = arg;
	const struct model *model = live_model__model(monitor->live);
	int ret = 0;

	anew = anew || model->broken_off;
	if (anew)
		ret = live_model__update(monitor->live, false);
	/* No page is better than one on which counters have gone back: the next has all of it. */
	if (ret)
		return ret;
	if (anew)
		draw(monitor);
	*reading = model->now_ns;
	ret = metrics__render(monitor->metrics, out, model, &monitor->list, form);
	if (!ret)
		live_model__paged(monitor->live);
	return ret;
}

/* --- setting up --- */

/* A port that the caller may not take, as one below 1024, is not taken for him. */
static int listen_as_invoker(struct monitor *monitor, const struct http_options *options, struct error *err)
{
	struct file_rights rights;
	int ret = file_rights__take_invokers(&rights);

	if (ret)
		return error__set(err, ret, "cannot serve metrics on %s: %s", options->address, strerror(-ret));
	ret = http_server__new(session__loop(live_model__session(monitor->live)), options, &monitor->server, err);
	file_rights__give_back(&rights);
	return ret;
}

static int start_server(struct monitor *monitor, struct error *err)
{
	struct http_options options = {
		.address = monitor->options->metrics_address,
		.version = GPUPROBE_VERSION,
		.render = render_metrics,
		.arg = monitor,
	};
	const struct metrics_options form = {
		.kernels = monitor->options->metrics_kernels,
		.version = GPUPROBE_VERSION,
		.verdicts = monitor->options->verdict ? monitor->findings : NULL,
	};
	struct error why = {""};
	int ret;

	if (!options.address)
		return 0;
	monitor->metrics = metrics__new(&form);
	if (!monitor->metrics)
		return error__set(err, -ENOMEM, "out of memory");
	ret = listen_as_invoker(monitor, &options, &why);
	if (!ret)
		return 0;
	if (monitor->options->metrics_address_given)
		return error__set(err, ret, "%s", why.text);
	log__warn(monitor->log, "%s; continuing without metrics", why.text);
	return 0;
}

/*
 * What is missed is shared out at each reading of the maps: as often as what is watched may change. A verdict is of a
 * window that begins at one.
 */
static int start_samples(struct monitor *monitor, struct error *err)
{
	const struct monitor_options *options = monitor->options;
	const struct samples_options samples = {
		.period = options->max_overhead > 0 ? ESTIMATE_PERIOD : VERDICT_PERIOD,
		.take = options->verdict ? sample : NULL,
		.arg = monitor,
	};

	return options->max_overhead > 0 || options->verdict ?
		       samples__new(monitor->live, &samples, &monitor->samples, err) :
		       0;
}

static int set_up(struct monitor *monitor, struct error *err)
{
	const struct monitor_options *options = monitor->options;
	const struct live_model_options live = {
		.targets = &options->targets,
		.duration = options->duration,
		.end_with_pids = true,
		.sections = options->sections,
		.api = options->api,
		.profile = options->verdict,
		.check_launches = options->check_launches,
		.no_returns = options->no_returns,
		.steps = options->sections & SECTION_LAUNCH && !options->no_returns ? STEP_THREADS_WATCHED : 0,
		.max_overhead = options->max_overhead,
		.limits = options->limits,
		.top = options->top,
		.stacks = options->stacks,
		.stack_sites = ((1u << SITE_KINDS) - 1) & ~(1u << SITE_COPY),
	};
	const struct reports_options reports = {
		.interval = options->display_interval,
		.look = look,
		.print = print,
		.arg = monitor,
	};
	int ret;

	ret = live_model__new(&live, monitor->log, &monitor->live, err);
	if (!ret)
		ret = reports__new(monitor->live, &reports, monitor->log, &monitor->reports, err);
	/* A port below 1024 needs more than gpuprobe keeps. */
	if (!ret)
		ret = start_server(monitor, err);
	if (!ret)
		ret = live_model__prepare(monitor->live, err);
	if (!ret)
		ret = reports__start(monitor->reports, err);
	if (!ret)
		ret = start_samples(monitor, err);
	if (!ret)
		ret = live_model__attach(monitor->live, err);
	if (!ret)
		findings__begin(monitor->findings, clock__boot_ns());
	return ret;
}

static void tear_down(struct monitor *monitor)
{
	samples__free(monitor->samples);
	reports__free(monitor->reports);
	http_server__free(monitor->server);
	metrics__free(monitor->metrics);
	finding_list__clear(&monitor->list);
	findings__free(monitor->findings);
	live_model__free(monitor->live);
}

static int run(const struct monitor_options *options, const struct log *log, int *status, struct error *err)
{
	struct monitor monitor = {.options = options, .log = log};
	int ret = make_findings(&monitor, err);

	if (ret == -EINVAL)
		*status = EXIT_USAGE;
	if (!ret)
		ret = set_up(&monitor, err);
	if (!ret)
		ret = session__run(live_model__session(monitor.live), err);
	if (!ret)
		ret = reports__finish(monitor.reports, err);
	if (!ret)
		*status = session__status(live_model__session(monitor.live));
	tear_down(&monitor);
	return ret;
}

int monitor_command__run(int argc, char **argv, int *status, struct error *err)
{
	struct monitor_options options;
	struct log log;
	int ret = monitor_options__parse(&options, argc, argv, err);

	if (!subcommand__is_done(ret, &monitor_options, status)) {
		log.level = options.log_level;
		subcommand__set_bpf_log(log.level);
		ret = run(&options, &log, status, err);
	}
	if (ret == OPTIONS_HELP)
		subcommand__print_all(stdout);
	monitor_options__clear(&options);
	return ret;
}
