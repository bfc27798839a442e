// SPDX-License-Identifier: BSD-2-Clause
// The metrics as OTLP requests, see metrics.h.
#include "output/otlp/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "output/metrics/page.h"
#include "output/otlp/conventions.h"

/* Families whose OTLP name is not made by the rule. */
static const struct {
	const char *family;
	const char *name; /* NULL: not sent */
	const char *unit;
	enum otlp_form form;
} exceptions[] = {
	{"process_cpu_seconds", "process.cpu.time", "s", OTLP_SUM},
	{"process_resident_memory_bytes", "process.memory.usage", "By", OTLP_UP_DOWN},
	{"process_virtual_memory_bytes", "process.memory.virtual", "By", OTLP_UP_DOWN},
	{"process_open_fds", "process.open_file_descriptor.count", "{file_descriptor}",
	 OTLP_UP_DOWN},
	{"process_max_fds", NULL, NULL, OTLP_GAUGE},
	{"process_start_time_seconds", NULL, NULL, OTLP_GAUGE},
};

#define EXCEPTIONS (sizeof(exceptions) / sizeof(*exceptions))

/* The name that the rule gives a family. */
struct made_name {
	const char *family;
	char *name;
};

struct otlp_metrics {
	struct metrics *metrics;
	struct otlp_points *points;
	struct exposition_visitor visitor;
	struct made_name *names;
	size_t name_count;
	/* of the family being written */
	bool sent, is_histogram, in_seconds;
	/* of the sample being written */
	bool has_process;
	const char *part;
	double sum; /* of the histogram whose "_count" follows */
	bool failed;
};

static void on_family(void *arg, const struct metric_family *family);
static void on_sample(void *arg, const char *part);
static void on_label(void *arg, const char *name, const char *value);
static void on_number(void *arg, uint64_t value);
static void on_real(void *arg, double ratio);

struct otlp_metrics *otlp_metrics__new(const struct metrics_options *options)
{
	struct otlp_metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	metrics->metrics = metrics__new(options);
	metrics->points = otlp_points__new();
	metrics->visitor = (struct exposition_visitor){
		.family = on_family,
		.sample = on_sample,
		.label = on_label,
		.number = on_number,
		.real = on_real,
		.arg = metrics,
	};
	if (metrics->metrics && metrics->points)
		return metrics;
	otlp_metrics__free(metrics);
	return NULL;
}

void otlp_metrics__free(struct otlp_metrics *metrics)
{
	if (!metrics)
		return;
	metrics__free(metrics->metrics);
	otlp_points__free(metrics->points);
	for (size_t i = 0; i < metrics->name_count; i++)
		free(metrics->names[i].name);
	free(metrics->names);
	free(metrics);
}

/* --- names --- */

/* The family's name with its first underscore as a dot; NULL without memory. */
static const char *name_of(struct otlp_metrics *metrics, const char *family)
{
	struct made_name made = {.family = family};
	char *underscore;

	for (size_t i = 0; i < metrics->name_count; i++)
		if (metrics->names[i].family == family)
			return metrics->names[i].name;
	made.name = strdup(family);
	if (!made.name || ARRAY_APPEND(metrics->names, metrics->name_count, made)) {
		free(made.name);
		return NULL;
	}
	underscore = strchr(made.name, '_');
	if (underscore)
		*underscore = '.';
	return made.name;
}

static const char *unit_of(const char *family)
{
	const char *unit = exposition__unit_of(family), *last = strrchr(family, '_');

	if (unit)
		return !strcmp(unit, "bytes") ? "By" : "s";
	return last && !strcmp(last, "_ratio") ? "1" : "";
}

static enum otlp_form form_of(enum metric_type type)
{
	switch (type) {
	case METRIC_COUNTER: return OTLP_SUM;
	case METRIC_HISTOGRAM: return OTLP_HISTOGRAM;
	default: return OTLP_GAUGE;
	}
}

/* False: the family is not sent. An info's labels are attributes of resources. */
static bool describe(struct otlp_metrics *metrics, const struct metric_family *family,
		     struct otlp_metric *metric)
{
	if (family->type == METRIC_INFO)
		return false;
	for (size_t i = 0; i < EXCEPTIONS; i++) {
		if (strcmp(exceptions[i].family, family->name) != 0)
			continue;
		*metric = (struct otlp_metric){exceptions[i].name, exceptions[i].unit, family->help,
					       exceptions[i].form};
		return metric->name;
	}
	*metric = (struct otlp_metric){
		.name = name_of(metrics, family->name),
		.unit = unit_of(family->name),
		.description = family->help,
		.form = form_of(family->type),
	};
	if (!metric->name)
		metrics->failed = true;
	return metric->name;
}

/* --- samples --- */

static void on_family(void *arg, const struct metric_family *family)
{
	struct otlp_metrics *metrics = arg;
	const char *unit = exposition__unit_of(family->name);
	struct otlp_metric metric;

	metrics->sent = describe(metrics, family, &metric);
	metrics->is_histogram = family->type == METRIC_HISTOGRAM;
	metrics->in_seconds = unit && !strcmp(unit, "seconds");
	if (metrics->sent)
		otlp_points__metric(metrics->points, &metric);
}

/* A histogram is sent without its buckets: its sum, then its number with the labels. */
static bool is_part_of_point(const struct otlp_metrics *metrics)
{
	return metrics->sent && (!metrics->is_histogram || !strcmp(metrics->part, "_count"));
}

static void on_sample(void *arg, const char *part)
{
	struct otlp_metrics *metrics = arg;

	metrics->part = part;
	metrics->has_process = false;
	otlp_points__point(metrics->points, 0);
}

static void on_label(void *arg, const char *name, const char *value)
{
	struct otlp_metrics *metrics = arg;

	if (!is_part_of_point(metrics))
		return;
	if (!strcmp(name, "pid")) {
		int32_t pid = (int32_t)strtol(value, NULL, 10);

		metrics->has_process = pid && otlp_points__of(metrics->points, pid);
		if (metrics->has_process)
			return;
	}
	if (strcmp(name, "comm") != 0 || !metrics->has_process)
		otlp_points__text(metrics->points, name, value);
}

static void on_number(void *arg, uint64_t value)
{
	struct otlp_metrics *metrics = arg;
	double seconds = (double)value / (double)NS_PER_S;

	if (metrics->is_histogram && !strcmp(metrics->part, "_sum"))
		metrics->sum = metrics->in_seconds ? seconds : (double)value;
	if (!is_part_of_point(metrics))
		return;
	if (metrics->is_histogram)
		otlp_points__histogram(metrics->points, value, metrics->sum);
	else if (metrics->in_seconds)
		otlp_points__real(metrics->points, seconds);
	else
		otlp_points__number(metrics->points, value);
}

static void on_real(void *arg, double ratio)
{
	struct otlp_metrics *metrics = arg;

	if (metrics->sent)
		otlp_points__real(metrics->points, ratio);
}

int otlp_metrics__write(struct otlp_metrics *metrics, const struct otlp_sender *sender,
			const struct model *model, const struct finding_list *findings,
			otlp_take_fn take, void *arg)
{
	struct metrics_page page = {.model = model};
	int ret = metrics_page__choose_processes(&page);

	metrics->failed = false;
	if (!ret)
		ret = otlp_points__begin(metrics->points, page.processes, page.process_count);
	if (!ret)
		ret = metrics__visit(metrics->metrics, &metrics->visitor, model, findings);
	if (!ret && metrics->failed)
		ret = -ENOMEM;
	if (!ret) {
		otlp_conventions__add(metrics->points, model, page.processes, page.process_count);
		ret = otlp_points__write(metrics->points, sender, model->now_ns, take, arg);
	}
	free(page.processes);
	return ret;
}
