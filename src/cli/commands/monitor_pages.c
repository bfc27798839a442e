// SPDX-License-Identifier: BSD-2-Clause
// The monitor's figures for others: the pages that it serves, and OTLP. See monitor_private.h.
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "cli/commands/monitor_private.h"
#include "output/landing/page.h"
#include "privilege/file_rights.h"

/*
 * A person's page uses a reading again for so long, and for ten times as long as its own reading
 * took, so that requests cannot keep gpuprobe busy.
 */
#define LANDING_NS NS_PER_S
#define LANDING_REST 10

/*
 * Brings the model and the findings up to date for a page of metrics. An expensive reading for a
 * report or a sample serves a page soon after it, too.
 */
static int update(void *arg)
{
	struct monitor *monitor = arg;
	const struct model *model = live_run__model(monitor->live);
	int ret = 0;

	/* No page is better than one with counters that decreased: the next one has everything. */
	if (model->broken_off || !live_model__is_recent(monitor->live->live))
		ret = live_model__update(monitor->live->live, false);
	if (!ret)
		monitor__draw(monitor);
	return ret;
}

static int update_for_otlp(void *arg)
{
	struct monitor *monitor = arg;
	int ret = update(arg);

	if (!ret)
		live_model__paged(monitor->live->live);
	return ret;
}

static int render_metrics(void *arg, enum exposition form, bool anew, uint64_t *reading, FILE *out)
{
	struct monitor *monitor = arg;
	const struct model *model = live_run__model(monitor->live);
	int ret = anew || model->broken_off ? update(monitor) : 0;

	if (ret)
		return ret;
	otlp_export__count(monitor->otlp);
	*reading = model->now_ns;
	ret = metrics__render(monitor->metrics, out, model, &monitor->list, form);
	if (!ret)
		live_model__paged(monitor->live->live);
	return ret;
}

static int render_landing(void *arg, FILE *out)
{
	struct monitor *monitor = arg;
	const struct model *model = live_run__model(monitor->live);
	const struct targets_text watched = targets__text(&monitor->options->targets);
	struct landing_page page = {
		.version = GPUPROBE_VERSION,
		.watched = watched.text,
		.began_ns = findings__began_ns(monitor->findings),
	};
	uint64_t began = clock__boot_ns();

	if (monitor->web)
		page.hint = "A page with plots, call sites and details is served to browsers on "
			    "this machine; --web all serves it to others, too.";
	if (began - model->now_ns > LANDING_NS + LANDING_REST * monitor->landing_cost_ns) {
		/* A partial reading lacks something, but nothing in it is wrong. */
		live_model__update(monitor->live->live, false);
		monitor__draw(monitor);
		monitor->landing_cost_ns = clock__boot_ns() - began;
	}
	return landing_page__print(out, &page, model, &monitor->list);
}

static void draw_for_web(void *arg)
{
	monitor__draw(arg);
}

static int answer_web(void *arg, const char *path, struct http_kind *kind, FILE *out)
{
	const struct monitor *monitor = arg;

	return web__answer(monitor->web, path, kind, out);
}

/*
 * Listens with the caller's permissions: gpuprobe does not bind a port for them that they may not
 * bind, such as one below 1024.
 */
static int listen_as_invoker(struct monitor *monitor, const struct http_options *options,
			     struct error *err)
{
	struct file_rights rights;
	int ret = file_rights__take_invokers(&rights);

	if (ret)
		return error__set(err, ret, "cannot serve metrics on %s: %s", options->address,
				  strerror(-ret));
	ret = http_server__new(session__loop(live_model__session(monitor->live->live)), options,
			       &monitor->server, err);
	file_rights__give_back(&rights);
	return ret;
}

int monitor__make_web(struct monitor *monitor, struct error *err)
{
	const struct targets_text watched = targets__text(&monitor->options->targets);
	const struct web_options options = {
		.live = monitor->live->live,
		.watched = watched.text,
		.stacks = monitor->options->stacks.mode != STACK_OFF,
		.profile = monitor->options->verdict,
		.state = monitor->findings,
		.draw = draw_for_web,
		.findings = &monitor->list,
		.arg = monitor,
	};

	if (!monitor->server || monitor->options->web == HTTP_NOBODY)
		return 0;
	return web__new(&options, &monitor->web, err);
}

int monitor__start_server(struct monitor *monitor, struct error *err)
{
	const bool web = monitor->options->web != HTTP_NOBODY;
	struct http_options options = {
		.address = monitor->options->metrics_address,
		.version = GPUPROBE_VERSION,
		.render = render_metrics,
		.landing = render_landing,
		.web = web ? answer_web : NULL,
		.audience = monitor->options->web,
		.arg = monitor,
	};
	const struct metrics_options form = {
		.kernels = monitor->options->metrics_kernels,
		.by = monitor->options->metrics_by,
		.version = GPUPROBE_VERSION,
		.verdicts = monitor->options->verdict ? monitor->findings : NULL,
		.exports = otlp_export__counts(monitor->otlp),
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

int monitor__make_otlp(struct monitor *monitor, struct error *err)
{
	const struct monitor_options *options = monitor->options;
	const struct otlp_export_options form = {
		.endpoint = options->otlp_endpoint,
		.metrics = {.kernels = options->metrics_kernels,
			    .version = GPUPROBE_VERSION,
			    .verdicts = options->verdict ? monitor->findings : NULL},
		.update = update_for_otlp,
		.findings = &monitor->list,
		.arg = monitor,
	};

	return otlp_export__new(&form, monitor->log, &monitor->otlp, err);
}
