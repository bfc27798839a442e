// SPDX-License-Identifier: BSD-2-Clause
// The monitor's OTLP, see otlp.h.
#include "cli/commands/otlp.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/quantity.h"
#include "cli/session/session.h"
#include "export/sender.h"
#include "output/otlp/logs.h"
#include "output/otlp/metrics.h"
#include "service/changes.h"
#include "service/journal.h"

#define FIRST_SECONDS 5.0 /* so that a wrong address is seen soon */
#define NEWS_SECONDS 1.0
#define FINISH_MS 5000
#define EVENT_NAME "gpuprobe.finding"

struct otlp_export {
	struct otlp_export_options options;
	const struct log *log;
	struct export_sender *sender;
	struct export_counts counts[EXPORT_SIGNALS];
	struct otlp_metrics *metrics; /* NULL: none are sent */
	struct changes *changes;      /* NULL: no findings are sent */
	struct journal *journal;      /* takes the changes */
	struct otlp_logs logs;
	struct otlp_pair *pairs; /* of the resource; texts belong to the sender's settings */
	struct otlp_sender identity;
	const struct model *model;
	struct event *timer, *news;
	double interval; /* seconds */
};

static void on_change(void *arg, const struct journal_record *record);

/* --- setting up --- */

static int make_identity(struct otlp_export *otlp)
{
	const struct export_settings *settings = export_sender__settings(otlp->sender);
	const struct export_pairs *resource = &settings->resource;

	otlp->pairs = calloc(resource->count + 1, sizeof(*otlp->pairs));
	if (!otlp->pairs)
		return -ENOMEM;
	for (size_t i = 0; i < resource->count; i++)
		otlp->pairs[i] =
			(struct otlp_pair){resource->items[i].name, resource->items[i].value};
	otlp->identity = (struct otlp_sender){
		.version = otlp->options.metrics.version,
		.instance = settings->instance,
		.pairs = otlp->pairs,
		.pair_count = resource->count,
	};
	return 0;
}

static int make_signals(struct otlp_export *otlp)
{
	const struct export_settings *settings = export_sender__settings(otlp->sender);
	struct metrics_options metrics = otlp->options.metrics;

	metrics.by = METRICS_BY_PROCESS;
	metrics.exports = otlp->counts;
	if (settings->routes[EXPORT_METRICS].on) {
		otlp->metrics = otlp_metrics__new(&metrics);
		if (!otlp->metrics)
			return -ENOMEM;
	}
	if (settings->routes[EXPORT_LOGS].on) {
		otlp->journal = journal__to(on_change, otlp);
		otlp->changes = changes__new(otlp->journal);
		if (!otlp->journal || !otlp->changes)
			return -ENOMEM;
	}
	otlp->interval = settings->interval_ms / 1000.0;
	return make_identity(otlp);
}

/* Takes the settings over. */
static int make(const struct otlp_export_options *options, const struct log *log,
		struct export_settings *settings, struct otlp_export **out, struct error *err)
{
	struct otlp_export *otlp = calloc(1, sizeof(*otlp));
	int ret;

	if (!otlp)
		return error__set(err, -ENOMEM, "out of memory");
	otlp->options = *options;
	otlp->log = log;
	ret = export_sender__new(settings, &otlp->sender, err);
	if (!ret && make_signals(otlp))
		ret = error__set(err, -ENOMEM, "out of memory");
	if (ret)
		otlp_export__free(otlp);
	else
		*out = otlp;
	return ret;
}

int otlp_export__new(const struct otlp_export_options *options, const struct log *log,
		     struct otlp_export **out, struct error *err)
{
	struct export_settings settings;
	struct error why = {""};
	int ret = export_settings__read(&settings, options->endpoint, &why);

	*out = NULL;
	if (!ret && export_settings__is_on(&settings))
		ret = make(options, log, &settings, out, &why);
	export_settings__clear(&settings);
	if (ret && options->endpoint)
		return error__set(err, ret, "%s", why.text);
	if (ret)
		log__warn(log, "%s; continuing without OTLP", why.text);
	return 0;
}

void otlp_export__free(struct otlp_export *otlp)
{
	if (!otlp)
		return;
	if (otlp->timer)
		event_free(otlp->timer);
	if (otlp->news)
		event_free(otlp->news);
	changes__free(otlp->changes);
	journal__free(otlp->journal);
	otlp_logs__free(&otlp->logs);
	otlp_metrics__free(otlp->metrics);
	/* A thread that is stuck may still use what belongs to the sender. */
	export_sender__free(otlp->sender);
	free(otlp->pairs);
	free(otlp);
}

void otlp_export__describe(FILE *out, const struct otlp_export *otlp)
{
	static const char *const what[EXPORT_SIGNALS] = {"metrics", "findings"};

	for (int i = 0; otlp && i < EXPORT_SIGNALS; i++) {
		const struct export_route *route =
			&export_sender__settings(otlp->sender)->routes[i];

		if (!route->on)
			continue;
		fprintf(out, "gpuprobe: OTLP %s go to ", what[i]);
		escape__text(out, route->endpoint.shown);
		if (i == EXPORT_METRICS)
			fprintf(out, ", every %s",
				quantity__time(otlp->interval * (double)NS_PER_S).text);
		fputc('\n', out);
	}
}

/* --- metrics --- */

static int send_metrics(void *arg, const void *data, size_t length, uint64_t items)
{
	struct otlp_export *otlp = arg;

	return export_sender__send(otlp->sender, EXPORT_METRICS, data, length, items);
}

static void write_metrics(struct otlp_export *otlp)
{
	int ret;

	if (!otlp->metrics)
		return;
	otlp_export__count(otlp);
	ret = otlp_metrics__write(otlp->metrics, &otlp->identity, otlp->model,
				  otlp->options.findings, send_metrics, otlp);
	if (ret)
		log__warn(otlp->log, "OTLP: out of memory: some metrics are not sent");
}

/* --- findings --- */

static enum otlp_severity severity_of(enum journal_priority priority)
{
	switch (priority) {
	case JOURNAL_ERROR: return OTLP_SEVERITY_ERROR;
	case JOURNAL_WARNING: return OTLP_SEVERITY_WARN;
	case JOURNAL_NOTICE: return OTLP_SEVERITY_NOTICE;
	case JOURNAL_INFO: break;
	}
	return OTLP_SEVERITY_INFO;
}

/* The journal's fields under the names of attributes; process and thread have members. */
static const struct {
	const char *field, *attribute;
} attributes[] = {
	{"GPUPROBE_EVENT", "gpuprobe.event"},
	{"GPUPROBE_FINDING", "gpuprobe.finding.id"},
	{"GPUPROBE_SEVERITY", "gpuprobe.finding.severity"},
	{"GPUPROBE_LOSS", "gpuprobe.loss"},
	{"GPUPROBE_LOST", "gpuprobe.lost"},
};

#define ATTRIBUTES (sizeof(attributes) / sizeof(*attributes))

static const char *attribute_of(const char *field)
{
	for (size_t i = 0; i < ATTRIBUTES; i++)
		if (!strcmp(attributes[i].field, field))
			return attributes[i].attribute;
	return NULL;
}

static void on_change(void *arg, const struct journal_record *record)
{
	struct otlp_export *otlp = arg;
	struct otlp_pair pairs[ATTRIBUTES];
	struct otlp_log log = {
		.severity = severity_of(record->priority),
		.body = record->message,
		.event = EVENT_NAME,
		.pairs = pairs,
	};

	for (size_t i = 0; i < record->field_count; i++) {
		const struct journal_field *field = &record->fields[i];
		const char *name = attribute_of(field->name);

		if (name && log.pair_count < ATTRIBUTES)
			pairs[log.pair_count++] = (struct otlp_pair){name, field->value};
		else if (!strcmp(field->name, "GPUPROBE_PID"))
			log.pid = (int32_t)strtol(field->value, NULL, 10);
		else if (!strcmp(field->name, "GPUPROBE_TID"))
			log.tid = (int32_t)strtol(field->value, NULL, 10);
	}
	otlp_logs__add(&otlp->logs, &otlp->identity, otlp->model, &log, otlp->model->now_ns);
}

static int send_logs(void *arg, const void *data, size_t length, uint64_t items)
{
	struct otlp_export *otlp = arg;

	return export_sender__send(otlp->sender, EXPORT_LOGS, data, length, items);
}

void otlp_export__look(struct otlp_export *otlp)
{
	uint64_t count;
	int ret;

	if (!otlp || !otlp->changes || !otlp->model)
		return;
	ret = changes__write(otlp->changes, otlp->model, otlp->options.findings);
	count = otlp->logs.count;
	if (otlp->logs.request.failed) {
		export_sender__lose(otlp->sender, EXPORT_LOGS, count);
		ret = -ENOMEM;
	}
	if (otlp_logs__write(&otlp->logs, send_logs, otlp) || ret)
		log__warn(otlp->log, "OTLP: out of memory: some findings are not sent");
}

/* --- the event loop --- */

static void schedule(struct otlp_export *otlp, double seconds)
{
	const struct timeval after = clock__timeval(seconds);

	if (event_add(otlp->timer, &after))
		log__warn(otlp->log, "OTLP: out of memory: no more metrics are sent");
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct otlp_export *otlp = arg;

	(void)fd, (void)what;
	schedule(otlp, otlp->interval);
	/* The next page has everything, so one may be left out. */
	if (otlp->options.update(otlp->options.arg))
		return;
	write_metrics(otlp);
	otlp_export__look(otlp);
}

static void report_news(struct otlp_export *otlp)
{
	char text[EXPORT_NEWS_SIZE];

	for (int i = 0; i < EXPORT_SIGNALS; i++)
		while (export_sender__news(otlp->sender, (enum export_signal)i, text))
			log__warn(otlp->log, "%s", text);
}

static void on_news(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what;
	report_news(arg);
}

int otlp_export__begin(struct otlp_export *otlp, struct event_base *loop, const struct model *model,
		       struct error *err)
{
	const struct timeval second = clock__timeval(NEWS_SECONDS);
	struct timespec wall = clock__wall();

	if (!otlp)
		return 0;
	otlp->model = model;
	otlp->identity.began_ns = clock__boot_ns();
	otlp->identity.wall_offset_ns = (int64_t)wall.tv_sec * (int64_t)NS_PER_S + wall.tv_nsec -
					(int64_t)otlp->identity.began_ns;
	otlp->timer = evtimer_new(loop, on_timer, otlp);
	otlp->news = event_new(loop, -1, EV_PERSIST, on_news, otlp);
	if (!otlp->timer || !otlp->news || event_add(otlp->news, &second))
		return error__set(err, -ENOMEM, "out of memory");
	schedule(otlp, otlp->interval < FIRST_SECONDS ? otlp->interval : FIRST_SECONDS);
	return export_sender__start(otlp->sender, err);
}

/* --- losses --- */

const struct export_counts *otlp_export__counts(const struct otlp_export *otlp)
{
	return otlp ? otlp->counts : NULL;
}

void otlp_export__count(struct otlp_export *otlp)
{
	if (otlp)
		export_sender__counts(otlp->sender, otlp->counts);
}

/* What so many items of a signal are. */
static const char *items_word(int signal, uint64_t count)
{
	if (signal == EXPORT_METRICS)
		return count == 1 ? "data point" : "data points";
	return count == 1 ? "log record" : "log records";
}

static void print_lost(FILE *out, enum export_signal signal, const struct export_counts *counts)
{
	const char *separator = ": ";

	fprintf(out, "OTLP: %s %s not delivered", quantity__count(export_counts__lost(counts)).text,
		signal == EXPORT_METRICS ? "data points" : "log records");
	for (int loss = 0; loss < EXPORT_LOSSES; loss++) {
		if (!counts->lost[loss])
			continue;
		fprintf(out, "%s%s %s", separator, quantity__count(counts->lost[loss]).text,
			export_loss__text((enum export_loss)loss));
		separator = ", ";
	}
}

void otlp_export__print_losses(FILE *out, struct otlp_export *otlp)
{
	const char *before = "\n";

	if (!otlp)
		return;
	otlp_export__count(otlp);
	for (int i = 0; i < EXPORT_SIGNALS; i++) {
		if (!export_counts__lost(&otlp->counts[i]))
			continue;
		fputs(before, out);
		print_lost(out, (enum export_signal)i, &otlp->counts[i]);
		fputc('\n', out);
		before = "";
	}
}

/* Losses of the last seconds are in no report. */
static void warn_lost(struct otlp_export *otlp)
{
	for (int i = 0; i < EXPORT_SIGNALS; i++) {
		uint64_t lost = otlp->counts[i].lost[EXPORT_LOST_END];

		if (lost)
			log__warn(otlp->log, "OTLP: %s %s not delivered when gpuprobe ended",
				  quantity__count(lost).text, items_word(i, lost));
	}
}

void otlp_export__finish(struct otlp_export *otlp, struct session *session)
{
	if (!otlp || !otlp->model)
		return;
	if (session) {
		session__detach(session);
		session__release_signals(session);
	}
	write_metrics(otlp);
	otlp_export__look(otlp);
	export_sender__finish(otlp->sender, FINISH_MS);
	report_news(otlp);
	otlp_export__count(otlp);
	warn_lost(otlp);
}
