// SPDX-License-Identifier: BSD-2-Clause
// Writes data points of a resource, see data.h.
#include "output/otlp/data.h"

#include <stdlib.h>

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
#define NO_RECORDED_VALUE 1 /* of DataPointFlags */

enum point_field {
	POINT_START = 2,
	POINT_TIME = 3,
	NUMBER_DOUBLE = 4,
	NUMBER_INT = 6,
	NUMBER_ATTRIBUTE = 7,
	NUMBER_FLAGS = 8,
	HISTOGRAM_COUNT = 4,
	HISTOGRAM_SUM = 5,
	HISTOGRAM_BUCKETS = 6,
	HISTOGRAM_ATTRIBUTE = 9,
	HISTOGRAM_FLAGS = 10,
};

void otlp_data__free(struct otlp_data *data)
{
	free(data->metrics);
	free(data->points);
	protobuf_buffer__free(&data->attributes);
}

uint32_t otlp_data__attribute_field(const struct otlp_metric *metric)
{
	return metric->form == OTLP_HISTOGRAM ? HISTOGRAM_ATTRIBUTE : NUMBER_ATTRIBUTE;
}

struct times {
	uint64_t start_ns, now_ns; /* since 1970 */
	bool ended;
};

/* A stream's start stays the same for as long as its process lives. */
static struct times times_of(const struct otlp_moment *moment)
{
	uint64_t began_ns = moment->sender->began_ns;

	if (moment->process && moment->process->start_ns > began_ns)
		began_ns = moment->process->start_ns;
	if (began_ns > moment->now_ns)
		began_ns = moment->now_ns;
	return (struct times){
		.start_ns = otlp_sender__wall_ns(moment->sender, began_ns),
		.now_ns = otlp_sender__wall_ns(moment->sender, moment->now_ns),
		.ended = moment->ended,
	};
}

static void write_value(struct protobuf_buffer *out, const struct otlp_point *point)
{
	switch (point->kind) {
	case OTLP_POINT_NUMBER:
		protobuf_buffer__fixed64(out, NUMBER_INT,
					 point->number > INT64_MAX ? INT64_MAX : point->number);
		break;
	case OTLP_POINT_REAL: protobuf_buffer__double(out, NUMBER_DOUBLE, point->real); break;
	case OTLP_POINT_HISTOGRAM:
		protobuf_buffer__fixed64(out, HISTOGRAM_COUNT, point->number);
		protobuf_buffer__double(out, HISTOGRAM_SUM, point->real);
		/* A packed field with one number. */
		protobuf_buffer__bytes(out, HISTOGRAM_BUCKETS, &point->number,
				       sizeof(point->number));
		break;
	}
}

static uint32_t flags_field(enum otlp_form form)
{
	return form == OTLP_HISTOGRAM ? HISTOGRAM_FLAGS : NUMBER_FLAGS;
}

static void write_point(struct protobuf_buffer *out, const struct otlp_data *data,
			const struct otlp_point *point, const struct times *times)
{
	enum otlp_form form = data->metrics[point->metric].form;
	size_t begin = protobuf_buffer__begin(out, DATA_POINT);

	if (form != OTLP_GAUGE)
		protobuf_buffer__fixed64(out, POINT_START, times->start_ns);
	protobuf_buffer__fixed64(out, POINT_TIME, times->now_ns);
	if (times->ended)
		protobuf_buffer__uint(out, flags_field(form), NO_RECORDED_VALUE);
	else
		write_value(out, point);
	protobuf_buffer__append(out, data->attributes.data + point->attributes,
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
static size_t write_metric(struct protobuf_buffer *out, const struct otlp_data *data, size_t at,
			   const struct times *times, uint64_t *count)
{
	size_t index = data->points[at].metric, begin, form;
	const struct otlp_metric *metric = &data->metrics[index];

	begin = protobuf_buffer__begin(out, SCOPE_METRIC);
	protobuf_buffer__text(out, METRIC_NAME, metric->name);
	protobuf_buffer__text(out, METRIC_DESCRIPTION, metric->description);
	protobuf_buffer__text(out, METRIC_UNIT, metric->unit);
	form = protobuf_buffer__begin(out, data_field(metric->form));
	for (; at != OTLP_NO_POINT && data->points[at].metric == index;
	     at = data->points[at].next) {
		write_point(out, data, &data->points[at], times);
		++*count;
	}
	if (metric->form != OTLP_GAUGE)
		protobuf_buffer__uint(out, DATA_TEMPORALITY, CUMULATIVE);
	if (metric->form == OTLP_SUM)
		protobuf_buffer__uint(out, SUM_MONOTONIC, 1);
	protobuf_buffer__end(out, form);
	protobuf_buffer__end(out, begin);
	return at;
}

uint64_t otlp_data__write(struct protobuf_buffer *out, const struct otlp_data *data, size_t first,
			  const struct otlp_moment *moment)
{
	const struct times times = times_of(moment);
	struct otlp_scope scope = otlp_resource__begin(out, moment->sender, moment->process);
	uint64_t count = 0;

	for (size_t at = first; at != OTLP_NO_POINT;)
		at = write_metric(out, data, at, &times, &count);
	otlp_resource__end(out, scope);
	return count;
}
