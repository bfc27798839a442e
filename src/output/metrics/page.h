/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A metrics page in the making, and the rows that its metrics are: what the writers of its families share.
 */
#ifndef OUTPUT_METRICS_PAGE_H
#define OUTPUT_METRICS_PAGE_H

#include <stddef.h>

#include "model/model.h"
#include "output/metrics/exposition.h"

struct metrics_options;
struct metrics_page;

/*
 * A metric: a row of a table in NAME_series.c. One of the two functions writes
 * its samples: `process` writes those of one process and is called for each,
 * `page` writes all. Metrics that differ only in their value share a function,
 * which gets the value by metrics_page__value.
 */
struct metric {
	struct metric_family family;
	void (*process)(struct metrics_page *page, const struct process *p);
	void (*page)(struct metrics_page *page);
	size_t offset; /* of the value, see METRIC_VALUE */
	int kind;      /* enum object_kind or memory_kind, for functions that write one of them */
};

/* The row's value is this member, a uint64_t, of the structure that its function gives to metrics_page__value. */
#define METRIC_VALUE(type, member) \
	.offset = (offsetof(type, member) + _Generic(&((type *)0)->member, uint64_t * : 0))

/* A row with one sample for each process: this member of struct process. */
#define METRIC_TOTAL(member) .process = metrics_page__write_total, METRIC_VALUE(struct process, member)

#define METRIC_COUNT(table) (sizeof(table) / sizeof(*(table)))

struct metrics_page {
	struct exposition_writer writer;
	const struct model *model;
	const struct metrics_options *options;
	const struct process **processes; /* those that have series, in order of first sight */
	size_t process_count;
	const struct metric *metric; /* the one that is being written */
};

/*
 * Fills the page's list of processes from its model: two processes of one pid
 * would be one series twice, so the newest of each pid is taken, unless it has
 * ended long ago. 0 or -ENOMEM; the caller frees page->processes.
 */
int metrics_page__choose_processes(struct metrics_page *page);

/* Writes the metrics of a table in its order. */
void metrics_page__write(struct metrics_page *page, const struct metric *metrics, size_t count);

/* The value of the metric that is being written. `of` is a structure of the type that its METRIC_VALUE names. */
uint64_t metrics_page__value(const struct metrics_page *page, const void *of);

/* For METRIC_TOTAL. */
void metrics_page__write_total(struct metrics_page *page, const struct process *p);

/* Starts a sample of a process, with the labels pid and comm. */
void metrics_page__sample(struct exposition_writer *w, const struct process *p);

/*
 * The same on a device of the process, with the labels device (its number in
 * the process), gpu and uuid; "unknown" and an empty uuid where not known.
 */
void metrics_page__sample_on(struct metrics_page *page, const struct process *p, uint8_t device);

#endif
