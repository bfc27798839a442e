/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text forms that Prometheus scrapes: families and samples, written the
 * one way or the other. What differs between the two is here and nowhere else.
 */
#ifndef OUTPUT_METRICS_EXPOSITION_H
#define OUTPUT_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum exposition {
	EXPOSITION_PROMETHEUS = 0, /* text format 0.0.4 */
	EXPOSITION_OPENMETRICS,	   /* OpenMetrics 1.0 */
};

enum metric_type {
	METRIC_COUNTER = 0,
	METRIC_GAUGE,
	METRIC_INFO,
};

/*
 * The name is the family's as OpenMetrics has it: without the _total of a
 * counter's samples and the _info of an info's. A family whose name ends in
 * _bytes or _seconds has that unit. The help text has no backslash, quote or
 * newline in it, so that it needs no escaping in either form.
 */
struct metric_family {
	const char *name;
	enum metric_type type;
	const char *help;
};

struct exposition_writer {
	FILE *out;
	enum exposition form;
	const struct metric_family *family;
	bool in_seconds; /* the family's unit */
	bool has_labels;
};

void exposition__begin(struct exposition_writer *w, FILE *out, enum exposition form);

/* Starts a family; all its samples follow before the next one starts. */
void exposition__family(struct exposition_writer *w, const struct metric_family *family);

/* A sample: its start, its labels if any, then its value by one of these. */
void exposition__sample(struct exposition_writer *w);
/* The value is escaped; what a terminal would act on is shown as \xNN, and bytes that are no UTF-8 become U+FFFD. */
void exposition__label(struct exposition_writer *w, const char *name, const char *value);
/* A family of seconds takes nanoseconds: they are written as seconds in decimals, exactly. */
void exposition__number(struct exposition_writer *w, uint64_t value);
/* A share, with six decimals. */
void exposition__ratio(struct exposition_writer *w, double ratio);

/* The end of the page. */
void exposition__end(struct exposition_writer *w);

#endif
