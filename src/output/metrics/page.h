/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A metrics page while it is written, and the table rows that describe its metrics: shared by the
 * writers of its families.
 */
#ifndef OUTPUT_METRICS_PAGE_H
#define OUTPUT_METRICS_PAGE_H

#include <stddef.h>

#include "model/model.h"
#include "output/metrics/exposition.h"

struct metrics_options;
struct metrics_page;

/*
 * A metric: a row of a table in NAME_series.c. One of the two functions writes its samples:
 * `process` is called for each process and writes its samples, `page` writes all. Metrics that
 * differ only in their value share a function, which gets the value by metrics_page__value.
 */
struct metric {
	struct metric_family family;
	void (*process)(struct metrics_page *page, const struct process *p);
	void (*page)(struct metrics_page *page);
	size_t offset; /* of the value, see METRIC_VALUE */
	int kind;      /* enum object_kind or memory_kind, for functions that write one of them */
};

/*
 * The row's value is this member, a uint64_t, of the structure that its function passes to
 * metrics_page__value.
 */
#define METRIC_VALUE(type, member) \
	.offset = (offsetof(type, member) + _Generic(&((type *)0)->member, uint64_t * : 0))

/* A row with one sample for each process: this member of struct process. */
#define METRIC_TOTAL(member) \
	.process = metrics_page__write_total, METRIC_VALUE(struct process, member)

#define METRIC_COUNT(table) (sizeof(table) / sizeof(*(table)))

struct metrics_page {
	struct exposition_writer writer;
	const struct model *model;
	const struct metrics_options *options;
	const struct process **processes; /* processes that have series, in order of first sight */
	size_t process_count;
	const struct metric *metric; /* the metric being written */
};

/*
 * Fills the page's list of processes from its model. Two processes with one pid would give the same
 * series twice, so only the newest of each pid is listed, unless it ended long ago. Returns 0 or
 * -ENOMEM; the caller frees page->processes.
 */
int metrics_page__choose_processes(struct metrics_page *page);

/* Writes the metrics of a table in its order. */
void metrics_page__write(struct metrics_page *page, const struct metric *metrics, size_t count);

/*
 * The value of the metric being written. `of` is a structure of the type that its METRIC_VALUE
 * names.
 */
uint64_t metrics_page__value(const struct metrics_page *page, const void *of);

/* For METRIC_TOTAL. */
void metrics_page__write_total(struct metrics_page *page, const struct process *p);

/* Starts a sample of a process, with the labels pid and comm. */
void metrics_page__sample(struct exposition_writer *w, const struct process *p);

/*
 * The same for a device of the process, with the additional labels device (its number in the
 * process), gpu and uuid; unknown ones are "unknown" and an empty uuid.
 */
void metrics_page__sample_on(struct metrics_page *page, const struct process *p, uint8_t device);

#endif
