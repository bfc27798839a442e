// SPDX-License-Identifier: BSD-2-Clause
// Failed calls in the metrics, by function and error, see series.h.
#include "output/metrics/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

static void write_failures(struct exposition_writer *w, const struct process *p,
			   const uint64_t *sums)
{
	char buffer[16];

	for (size_t i = 0; i < p->failure_count; i++) {
		const struct failure *f = &p->failures[i];

		if (!sums[i])
			continue;
		metrics_page__sample(w, p);
		exposition__label(w, "function", f->function);
		exposition__label(w, "error", error_label(f, buffer, sizeof(buffer)));
		exposition__number(w, sums[i]);
	}
}

static int write_process(struct exposition_writer *w, const struct process *p)
{
	const struct failure **sorted = calloc(p->failure_count, sizeof(*sorted));
	uint64_t *sums = calloc(p->failure_count, sizeof(*sums));
	int ret = sorted && sums ? 0 : -ENOMEM;

	if (!ret) {
		sum_up(p, sorted, sums);
		write_failures(w, p, sums);
	}
	free(sorted);
	free(sums);
	return ret;
}

int error_series__write(struct metrics_page *page)
{
	int ret = 0;

	exposition__family(&page->writer, &errors);
	for (size_t i = 0; i < page->process_count && !ret; i++)
		if (page->processes[i]->failure_count)
			ret = write_process(&page->writer, page->processes[i]);
	return ret;
}
