// SPDX-License-Identifier: BSD-2-Clause
// Calls in progress in the metrics, by function, see series.h.
#include "api/api.h"
#include "output/metrics/series.h"

/* shorter ones are ordinary calls, and their series would be short-lived */
#define LEAST_NS 100000000ull

/* A process's calls of one function. */
struct in_progress {
	uint64_t calls, longest_ns;
};

static uint64_t lasted_ns(const struct metrics_page *page, const struct open_call *call)
{
	return page->model->now_ns > call->start_ns ? page->model->now_ns - call->start_ns : 0;
}

static bool counts(const struct metrics_page *page, const struct process *p, size_t index)
{
	return !p->ended && !p->open[index].ended_ns &&
	       lasted_ns(page, &p->open[index]) >= LEAST_NS;
}

/*
 * Sums the calls of the function at `index` from there on; 0 if an earlier index has counted the
 * function.
 */
static uint64_t count(const struct metrics_page *page, const struct process *p, size_t index)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < index; i++)
		if (counts(page, p, i) && p->open[i].row == p->open[index].row)
			return 0;
	for (size_t i = index; i < p->open_listed; i++)
		calls += counts(page, p, i) && p->open[i].row == p->open[index].row;
	return calls;
}

static void write_functions(struct metrics_page *page, const struct process *p)
{
	struct exposition_writer *w = &page->writer;

	for (size_t k = 0; k < p->open_listed; k++) {
		/* The list is sorted, longest first. */
		struct in_progress of = {
			.calls = counts(page, p, k) ? count(page, p, k) : 0,
			.longest_ns = lasted_ns(page, &p->open[k]),
		};

		if (!of.calls)
			continue;
		metrics_page__sample(w, p);
		exposition__label(w, "function", api_functions[p->open[k].row].symbol);
		exposition__number(w, metrics_page__value(page, &of));
	}
}

#define FUNCTIONS(member) .process = write_functions, METRIC_VALUE(struct in_progress, member)

static const struct metric metrics[] = {
	{{"gpuprobe_calls_in_progress", METRIC_GAUGE,
	  "Calls in progress for 100 ms and more by function, of the 64 longest of a process."},
	 FUNCTIONS(calls)},
	{{"gpuprobe_longest_call_in_progress_seconds", METRIC_GAUGE,
	  "For how long the longest of these calls has been in progress, in seconds."},
	 FUNCTIONS(longest_ns),
	 .sum = SUM_MOST},
};

void open_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
