/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data points of OTLP while they are collected. They come metric by metric, as on the metrics page,
 * and leave resource by resource: a request has all metrics of a process together.
 */
#ifndef OUTPUT_OTLP_POINTS_H
#define OUTPUT_OTLP_POINTS_H

#include "base/protobuf_buffer.h"
#include "model/model.h"
#include "output/otlp/resource.h"

enum otlp_form {
	OTLP_GAUGE = 0,
	OTLP_SUM,	/* monotonic and cumulative, as all sums and histograms here */
	OTLP_UP_DOWN,	/* a sum that may fall */
	OTLP_HISTOGRAM, /* with one bucket: the number of values and their sum */
};

struct otlp_metric {
	const char *name, *unit, *description; /* must outlive the object of the points */
	enum otlp_form form;
};

struct otlp_points;

/* Takes a request's bytes with its number of data points. Returns 0 or a negative errno. */
typedef int (*otlp_take_fn)(void *arg, const void *data, size_t length, uint64_t items);

/* NULL without memory. */
struct otlp_points *otlp_points__new(void);
void otlp_points__free(struct otlp_points *points);

/*
 * Forgets all points. Only these processes may have some from now on; each has a pid of its own.
 * They must live until the points are written. Returns 0 or -ENOMEM.
 */
int otlp_points__begin(struct otlp_points *points, const struct process *const *processes,
		       size_t count);

/* Starts a metric; its points follow. */
void otlp_points__metric(struct otlp_points *points, const struct otlp_metric *metric);

/*
 * Starts a point of the process with this pid, 0: of gpuprobe itself. Its attributes follow, then
 * its value by one of the last three.
 */
void otlp_points__point(struct otlp_points *points, int32_t pid);
/*
 * For a point that has been started and turns out to be a process's. False: there is no process of
 * this pid, so it stays gpuprobe's.
 */
bool otlp_points__of(struct otlp_points *points, int32_t pid);
void otlp_points__text(struct otlp_points *points, const char *key, const char *value);
void otlp_points__int(struct otlp_points *points, const char *key, int64_t value);
void otlp_points__number(struct otlp_points *points, uint64_t value);
void otlp_points__real(struct otlp_points *points, double value);
void otlp_points__histogram(struct otlp_points *points, uint64_t count, double sum);

/*
 * Gives all points, and marks (points without a value) where the series of a process that had ended
 * are there no longer, as requests of about OTLP_REQUEST_MAX bytes or less, a resource never being
 * split. `now_ns`: the time of the points, CLOCK_BOOTTIME. Returns 0, -ENOMEM if any are missing,
 * or what `take` returned.
 */
#define OTLP_REQUEST_MAX (2 << 20)
int otlp_points__write(struct otlp_points *points, const struct otlp_sender *sender,
		       uint64_t now_ns, otlp_take_fn take, void *arg);

#endif
