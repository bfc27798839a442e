// SPDX-License-Identifier: BSD-2-Clause
// Failed calls in the metrics, by function and error, see series.h.
#include "output/metrics/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OTHER "other"
#define FAILURE_PAIR_SIZE 256

static const struct metric_family errors = {
	"gpuprobe_errors",
	METRIC_COUNTER,
	"Failed calls by function and error; of launches only a sample is checked unless"
	" --check-launches is given.",
};

/* The error as a label: its name, or its number if the table has no name. */
static const char *error_label(const struct failure *f, char *buffer, size_t size)
{
	if (f->error)
		return f->error;
	snprintf(buffer, size, "%d", f->code);
	return buffer;
}

static int compare_series(const struct failure *a, const struct failure *b)
{
	int order = strcmp(a->function, b->function);

	if (order)
		return order;
	if (a->error && b->error)
		return strcmp(a->error, b->error);
	if (a->error || b->error)
		return a->error ? -1 : 1;
	return a->code < b->code ? -1 : a->code > b->code;
}

/* Failures of one series keep their order: all are in one array. */
static int by_series(const void *a, const void *b)
{
	const struct failure *x = *(const struct failure *const *)a,
			     *y = *(const struct failure *const *)b;
	int order = compare_series(x, y);

	return order ? order : (x < y ? -1 : x > y);
}

/*
 * Sums the failures of each series at the index of its first failure. Several failures may have the
 * same labels, such as those of one call from a sampled and from an exact count. `sorted` has room
 * for all.
 */
static void sum_up(const struct process *p, const struct failure **sorted, uint64_t *sums)
{
	const struct failure *first = NULL;

	for (size_t i = 0; i < p->failure_count; i++)
		sorted[i] = &p->failures[i];
	qsort(sorted, p->failure_count, sizeof(*sorted), by_series);
	for (size_t i = 0; i < p->failure_count; i++) {
		if (!first || compare_series(first, sorted[i]))
			first = sorted[i];
		sums[first - p->failures] += sorted[i]->count;
	}
}

/* Function and error, of which a group has some pairs; the rest is "other", as of a process. */
static void label_failure(struct metrics_page *page, const struct process *p,
			  const struct failure *f)
{
	char buffer[16], pair[FAILURE_PAIR_SIZE];
	const char *error = error_label(f, buffer, sizeof(buffer));
	bool own;

	snprintf(pair, sizeof(pair), "%s %s", f->function, error);
	own = strcmp(metrics_page__one_of_many(page, p, MANY_ERRORS, pair, OTHER), OTHER) != 0;
	exposition__label(&page->writer, "function", own ? f->function : OTHER);
	exposition__label(&page->writer, "error", own ? error : OTHER);
}

static void write_failures(struct metrics_page *page, const struct process *p, const uint64_t *sums)
{

	for (size_t i = 0; i < p->failure_count; i++) {
		const struct failure *f = &p->failures[i];

		if (!sums[i])
			continue;
		metrics_page__sample(&page->writer, p);
		label_failure(page, p, f);
		exposition__number(&page->writer, sums[i]);
	}
}

static int write_process(struct metrics_page *page, const struct process *p)
{
	const struct failure **sorted = calloc(p->failure_count, sizeof(*sorted));
	uint64_t *sums = calloc(p->failure_count, sizeof(*sums));
	int ret = sorted && sums ? 0 : -ENOMEM;

	if (!ret) {
		sum_up(p, sorted, sums);
		write_failures(page, p, sums);
	}
	free(sorted);
	free(sums);
	return ret;
}

int error_series__write(struct metrics_page *page)
{
	int ret = 0;

	if (!metrics_page__begin_family(page, &errors, SUM_ADDED))
		return -ENOMEM;
	for (size_t i = 0; i < page->process_count && !ret; i++) {
		metrics_page__turn(page, page->processes[i]);
		if (page->processes[i]->failure_count)
			ret = write_process(page, page->processes[i]);
	}
	metrics_page__end_family(page);
	return ret;
}
