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

struct account_list;
struct metrics_options;
struct process_groups;
struct metrics_page;

/* Labels that processes choose, in effect without bound. */
enum many_things {
	MANY_KERNELS,
	MANY_ERRORS,
	MANY_THINGS
};

/* What becomes of a family on a page of groups of processes, --metrics-by. */
enum metric_sum {
	SUM_ADDED = 0,
	SUM_MOST,     /* a gauge: the highest value in the group */
	SUM_LEFT_OUT, /* means nothing for several processes */
};

/*
 * A metric: a row of a table in NAME_series.c. One of the two functions writes its samples:
 * `process` is called for each process and writes its samples, `page` writes all. Metrics that
 * differ only in their value share a function, which gets the value by metrics_page__value.
 */
struct metric {
	struct metric_family family;
	void (*process)(struct metrics_page *page, const struct process *p);
	void (*page)(struct metrics_page *page);
	enum metric_sum sum; /* how processes of a group are put together */
	size_t offset;	     /* of the value, see METRIC_VALUE */
	int kind; /* enum object_kind or memory_kind, for functions that write one of them */
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
	const struct metric *metric;   /* the metric being written */
	struct process_groups *groups; /* NULL: a process has series of its own */
	const struct account_list *account;
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

/*
 * For writers of a family that is in no table: between the first two and the last one, the page
 * writes the family's samples, those of each process after metrics_page__turn for it. Returns
 * whether the page has the family.
 */
bool metrics_page__begin_family(struct metrics_page *page, const struct metric_family *family,
				enum metric_sum sum);
void metrics_page__turn(struct metrics_page *page, const struct process *p);
void metrics_page__end_family(struct metrics_page *page);

/*
 * Starts a sample of a process, with the labels pid and comm; in a group with none: the group's
 * labels follow later.
 */
void metrics_page__sample(struct exposition_writer *w, const struct process *p);

/*
 * The label of one of many things of a process, kernels or errors, of which a group has at most a
 * number: `label`, or `other` beyond that.
 */
const char *metrics_page__one_of_many(struct metrics_page *page, const struct process *p,
				      enum many_things things, const char *label,
				      const char *other);

/*
 * The same for a device of the process, with the additional labels device (its number in the
 * process), gpu and uuid; unknown ones are "unknown" and an empty uuid.
 */
void metrics_page__sample_on(struct metrics_page *page, const struct process *p, uint8_t device);

#endif
