/* SPDX-License-Identifier: BSD-2-Clause */
/* Data points with their metrics, and how they are written (points.h, endings.h). */
#ifndef OUTPUT_OTLP_DATA_H
#define OUTPUT_OTLP_DATA_H

#include "output/otlp/points.h"

#define OTLP_NO_POINT SIZE_MAX

enum otlp_point_kind {
	OTLP_POINT_NUMBER = 0,
	OTLP_POINT_REAL,
	OTLP_POINT_HISTOGRAM,
};

struct otlp_point {
	size_t metric;			      /* index */
	size_t attributes, attributes_length; /* in the buffer of all attributes */
	size_t next;			      /* of the same resource; OTLP_NO_POINT */
	enum otlp_point_kind kind;
	uint64_t number; /* also a histogram's count */
	double real;	 /* also a histogram's sum */
};

/* Begins as zeros. */
struct otlp_data {
	struct otlp_metric *metrics;
	size_t metric_count;
	struct otlp_point *points;
	size_t point_count;
	struct protobuf_buffer attributes;
};

void otlp_data__free(struct otlp_data *data);

/* The field of an attribute in a point of the metric. */
uint32_t otlp_data__attribute_field(const struct otlp_metric *metric);

/* What all points of a resource have in common. */
struct otlp_moment {
	const struct otlp_sender *sender;
	const struct process *process; /* NULL: gpuprobe itself */
	uint64_t now_ns;	       /* CLOCK_BOOTTIME */
	bool ended;		       /* the series end here: the points have no value */
};

/*
 * Writes a resource (ResourceMetrics) with the points from `first` on. Returns how many these are.
 */
uint64_t otlp_data__write(struct protobuf_buffer *out, const struct otlp_data *data, size_t first,
			  const struct otlp_moment *moment);

#endif
