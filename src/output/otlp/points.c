// SPDX-License-Identifier: BSD-2-Clause
// Collects data points and writes them by resource, see points.h.
#include "output/otlp/points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "output/otlp/attributes.h"

/* Numbers of fields: opentelemetry/proto/metrics/v1/metrics.proto. */
enum metric_field {
	SCOPE_METRIC = 2,
	METRIC_NAME = 1,
	METRIC_DESCRIPTION = 2,
	METRIC_UNIT = 3,
	METRIC_OF_GAUGE = 5,
	METRIC_OF_SUM = 7,
	METRIC_OF_HISTOGRAM = 9,
	DATA_POINT = 1, /* of all three */
	DATA_TEMPORALITY = 2,
	SUM_MONOTONIC = 3,
};

#define CUMULATIVE 2

enum point_field {
	POINT_START = 2,
	POINT_TIME = 3,
	NUMBER_DOUBLE = 4,
	NUMBER_INT = 6,
	NUMBER_ATTRIBUTE = 7,
	HISTOGRAM_COUNT = 4,
	HISTOGRAM_SUM = 5,
	HISTOGRAM_BUCKETS = 6,
	HISTOGRAM_ATTRIBUTE = 9,
};

enum point_kind {
	POINT_NUMBER = 0,
	POINT_REAL,
	POINT_HISTOGRAM,
};

#define NO_POINT SIZE_MAX

struct point {
	size_t metric;			      /* index */
	size_t attributes, attributes_length; /* in the buffer of all attributes */
	size_t next;			      /* of the same resource; NO_POINT */
	enum point_kind kind;
	uint64_t number; /* also a histogram's count */
	double real;	 /* also a histogram's sum */
};

struct resource {
	int32_t pid; /* 0: gpuprobe */
	const struct process *process;
	size_t first, last; /* NO_POINT: none */
	UT_hash_handle hh;
};

struct otlp_points {
	struct resource *resources; /* in order of first sight, gpuprobe first */
	struct otlp_metric *metrics;
	size_t metric_count;
	struct point *points;
	size_t point_count;
	struct protobuf_buffer attributes;
	struct protobuf_buffer request, one; /* while requests are written */
	struct point now;		     /* the point being made */
	int32_t pid;			     /* its process */
	bool failed;			     /* there was no memory */
};

struct otlp_points *otlp_points__new(void)
{
	return calloc(1, sizeof(struct otlp_points));
}

void otlp_points__free(struct otlp_points *points)
{
	if (!points)
		return;
	TABLE_CLEAR(points->resources, free);
	free(points->metrics);
	free(points->points);
	protobuf_buffer__free(&points->attributes);
	protobuf_buffer__free(&points->request);
	protobuf_buffer__free(&points->one);
	free(points);
}

/* --- collecting --- */

static int add_resource(struct otlp_points *points, int32_t pid, const struct process *process)
{
	struct resource *resource = TABLE_TAKE(points->resources, pid, &pid);

	if (!resource)
		return -ENOMEM;
	resource->process = process;
	resource->first = resource->last = NO_POINT;
	return 0;
}

int otlp_points__begin(struct otlp_points *points, const struct process *const *processes,
		       size_t count)
{
	int ret;

	TABLE_CLEAR(points->resources, free);
	points->metric_count = points->point_count = 0;
	points->failed = false;
	protobuf_buffer__clear(&points->attributes);
	ret = add_resource(points, 0, NULL);
	for (size_t i = 0; i < count && !ret; i++)
		ret = add_resource(points, processes[i]->pid, processes[i]);
	return ret;
}

void otlp_points__metric(struct otlp_points *points, const struct otlp_metric *metric)
{
	if (ARRAY_APPEND(points->metrics, points->metric_count, *metric))
		points->failed = true;
}

void otlp_points__point(struct otlp_points *points, int32_t pid)
{
	points->now = (struct point){
		.metric = points->metric_count - 1,
		.attributes = points->attributes.length,
		.next = NO_POINT,
	};
	points->pid = pid;
}

void otlp_points__of(struct otlp_points *points, int32_t pid)
{
	points->pid = pid;
}

static uint32_t attribute_field(const struct otlp_points *points)
{
	return points->metric_count &&
			       points->metrics[points->metric_count - 1].form == OTLP_HISTOGRAM ?
		       HISTOGRAM_ATTRIBUTE :
		       NUMBER_ATTRIBUTE;
}

void otlp_points__text(struct otlp_points *points, const char *key, const char *value)
{
	otlp_attribute__text(&points->attributes, attribute_field(points), key, value);
}

void otlp_points__int(struct otlp_points *points, const char *key, int64_t value)
{
	otlp_attribute__int(&points->attributes, attribute_field(points), key, value);
}

static void finish(struct otlp_points *points)
{
	struct resource *resource = TABLE_FIND(points->resources, pid, &points->pid);
	size_t at = points->point_count;

	points->now.attributes_length = points->attributes.length - points->now.attributes;
	if (!resource || points->failed ||
	    ARRAY_APPEND(points->points, points->point_count, points->now)) {
		points->failed = true;
		return;
	}
	if (resource->last == NO_POINT)
		resource->first = at;
	else
		points->points[resource->last].next = at;
	resource->last = at;
}

void otlp_points__number(struct otlp_points *points, uint64_t value)
{
	points->now.number = value;
	finish(points);
}

void otlp_points__real(struct otlp_points *points, double value)
{
	points->now.kind = POINT_REAL;
	points->now.real = value;
	finish(points);
}

void otlp_points__histogram(struct otlp_points *points, uint64_t count, double sum)
{
	points->now.kind = POINT_HISTOGRAM;
	points->now.number = count;
	points->now.real = sum;
	finish(points);
}

/* --- writing --- */

struct times {
	uint64_t start_ns, now_ns; /* since 1970 */
};

/* A stream's start stays the same for as long as its process lives. */
static struct times times_of(const struct otlp_sender *sender, uint64_t now_ns,
			     const struct process *process)
{
	uint64_t began_ns = sender->began_ns;

	if (process && process->start_ns > began_ns)
		began_ns = process->start_ns;
	if (began_ns > now_ns)
		began_ns = now_ns;
	return (struct times){
		.start_ns = otlp_sender__wall_ns(sender, began_ns),
		.now_ns = otlp_sender__wall_ns(sender, now_ns),
	};
}

static void write_value(struct protobuf_buffer *out, const struct point *point)
{
	switch (point->kind) {
	case POINT_NUMBER:
		protobuf_buffer__fixed64(out, NUMBER_INT,
					 point->number > INT64_MAX ? INT64_MAX : point->number);
		break;
	case POINT_REAL: protobuf_buffer__double(out, NUMBER_DOUBLE, point->real); break;
	case POINT_HISTOGRAM:
		protobuf_buffer__fixed64(out, HISTOGRAM_COUNT, point->number);
		protobuf_buffer__double(out, HISTOGRAM_SUM, point->real);
		/* A packed field with one number. */
		protobuf_buffer__bytes(out, HISTOGRAM_BUCKETS, &point->number,
				       sizeof(point->number));
		break;
	}
}

static void write_point(struct protobuf_buffer *out, const struct otlp_points *points,
			const struct point *point, const struct times *times)
{
	size_t begin = protobuf_buffer__begin(out, DATA_POINT);

	if (points->metrics[point->metric].form != OTLP_GAUGE)
		protobuf_buffer__fixed64(out, POINT_START, times->start_ns);
	protobuf_buffer__fixed64(out, POINT_TIME, times->now_ns);
	write_value(out, point);
	protobuf_buffer__append(out, points->attributes.data + point->attributes,
				point->attributes_length);
	protobuf_buffer__end(out, begin);
}

static uint32_t data_field(enum otlp_form form)
{
	switch (form) {
	case OTLP_GAUGE: return METRIC_OF_GAUGE;
	case OTLP_HISTOGRAM: return METRIC_OF_HISTOGRAM;
	default: return METRIC_OF_SUM;
	}
}

/* Writes the points at `at` and after it that belong to its metric; returns the one after these. */
static size_t write_metric(struct protobuf_buffer *out, const struct otlp_points *points, size_t at,
			   const struct times *times, uint64_t *count)
{
	size_t index = points->points[at].metric, begin, data;
	const struct otlp_metric *metric = &points->metrics[index];

	begin = protobuf_buffer__begin(out, SCOPE_METRIC);
	protobuf_buffer__text(out, METRIC_NAME, metric->name);
	protobuf_buffer__text(out, METRIC_DESCRIPTION, metric->description);
	protobuf_buffer__text(out, METRIC_UNIT, metric->unit);
	data = protobuf_buffer__begin(out, data_field(metric->form));
	for (; at != NO_POINT && points->points[at].metric == index; at = points->points[at].next) {
		write_point(out, points, &points->points[at], times);
		++*count;
	}
	if (metric->form != OTLP_GAUGE)
		protobuf_buffer__uint(out, DATA_TEMPORALITY, CUMULATIVE);
	if (metric->form == OTLP_SUM)
		protobuf_buffer__uint(out, SUM_MONOTONIC, 1);
	protobuf_buffer__end(out, data);
	protobuf_buffer__end(out, begin);
	return at;
}

static void write_resource(struct otlp_points *points, const struct otlp_sender *sender,
			   uint64_t now_ns, const struct resource *resource, uint64_t *count)
{
	const struct times times = times_of(sender, now_ns, resource->process);
	struct otlp_scope scope;

	protobuf_buffer__clear(&points->one);
	scope = otlp_resource__begin(&points->one, sender, resource->process);
	for (size_t at = resource->first; at != NO_POINT;)
		at = write_metric(&points->one, points, at, &times, count);
	otlp_resource__end(&points->one, scope);
}

int otlp_points__write(struct otlp_points *points, const struct otlp_sender *sender,
		       uint64_t now_ns, otlp_take_fn take, void *arg)
{
	struct protobuf_buffer *request = &points->request;
	uint64_t items = 0;
	int ret = points->failed || points->attributes.failed ? -ENOMEM : 0;

	protobuf_buffer__clear(request);
	for (const struct resource *resource = points->resources; resource && !ret;
	     resource = resource->hh.next) {
		uint64_t more = 0;

		if (resource->first == NO_POINT)
			continue;
		write_resource(points, sender, now_ns, resource, &more);
		if (items && request->length + points->one.length > OTLP_REQUEST_MAX) {
			ret = take(arg, request->data, request->length, items);
			protobuf_buffer__clear(request);
			items = 0;
		}
		protobuf_buffer__append(request, points->one.data, points->one.length);
		items += more;
		if (points->one.failed || request->failed)
			ret = -ENOMEM;
	}
	if (!ret && items)
		ret = take(arg, request->data, request->length, items);
	return ret;
}
