/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes families and samples in the text formats that Prometheus scrapes. All differences between
 * the two formats are in this file.
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
	METRIC_HISTOGRAM,
};

/*
 * The name is the family's name in OpenMetrics: without the _total of a counter's samples and the
 * _info of an info's. A family whose name ends in _bytes or _seconds has that unit. The help text
 * contains no backslash, quote or newline, so it needs no escaping in either format.
 */
struct metric_family {
	const char *name;
	enum metric_type type;
	const char *help;
};

/* Takes samples in place of the page, see exposition__divert. */
struct exposition_sink {
	/* `labels`: as on the page, without braces. */
	void (*take)(void *arg, const char *labels, uint64_t value);
	void *arg;
};

/*
 * Takes families and samples in place of a page, for another format than text. `number` or `real`
 * ends a sample. No text is escaped; `arg` is the first argument of each.
 */
struct exposition_visitor {
	void (*family)(void *arg, const struct metric_family *family);
	/* `part`: of a histogram, as for exposition__part; else the suffix of the family's type */
	void (*sample)(void *arg, const char *part);
	void (*label)(void *arg, const char *name, const char *value);
	/* in nanoseconds for a family of seconds */
	void (*number)(void *arg, uint64_t value);
	void (*real)(void *arg, double value);
	void *arg;
};

struct exposition_writer {
	FILE *out; /* the page, or where the labels of diverted samples go */
	FILE *page;
	enum exposition form;
	const struct metric_family *family;
	bool in_seconds; /* the family's unit */
	bool has_labels;
	const struct exposition_sink *sink;	  /* NULL: samples go to the page */
	const struct exposition_visitor *visitor; /* NULL: there is a page */
	char *labels;				  /* of a diverted sample */
	size_t labels_length;
};

void exposition__begin(struct exposition_writer *w, FILE *out, enum exposition form);

/* The visitor gets everything from now on, and must outlive the writer. */
void exposition__begin_visit(struct exposition_writer *w, const struct exposition_visitor *visitor);

/* The unit in a family's name, "bytes" or "seconds"; NULL: it has none. */
const char *exposition__unit_of(const char *name);

/* Starts a family; all its samples follow before the next one starts. */
void exposition__family(struct exposition_writer *w, const struct metric_family *family);

/*
 * Writes a sample: first its start, then its labels if any, then its value by one of the functions
 * below.
 */
void exposition__sample(struct exposition_writer *w);
/* The same for a part of a histogram: "_bucket", which needs the label le, "_sum" or "_count". */
void exposition__part(struct exposition_writer *w, const char *part);
/*
 * Escapes the value: characters that a terminal would act on become \xNN, and bytes that are not
 * UTF-8 become U+FFFD.
 */
void exposition__label(struct exposition_writer *w, const char *name, const char *value);
/* A family of seconds takes nanoseconds, which are written exactly, as decimal seconds. */
void exposition__number(struct exposition_writer *w, uint64_t value);
/* Writes a number that has not the family's unit. */
void exposition__count(struct exposition_writer *w, uint64_t value);
/* Writes a share with six decimals. */
void exposition__ratio(struct exposition_writer *w, double ratio);
/* Writes any number of at least 0, in the family's unit. */
void exposition__real(struct exposition_writer *w, double value);

/* Labels that a sink has taken. */
void exposition__taken_labels(struct exposition_writer *w, const char *labels);

/*
 * From now on samples go to the sink, but not ratios; NULL: to the page again. The sink must
 * outlive that. Returns 0, or -ENOMEM if samples since the previous call are wrong.
 */
int exposition__divert(struct exposition_writer *w, const struct exposition_sink *sink);

/* Writes the end of the page. */
void exposition__end(struct exposition_writer *w);

#endif
