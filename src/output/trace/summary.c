// SPDX-License-Identifier: BSD-2-Clause
// The sums of a trace by function, see summary.h. Printing is in summary_print.c.
#include <errno.h>
#include <stdlib.h>

#include "output/trace/summary_private.h"

struct trace_summary *trace_summary__new(void)
{
	return calloc(1, sizeof(struct trace_summary));
}

void trace_summary__free(struct trace_summary *summary)
{
	if (!summary)
		return;
	TABLE_CLEAR(summary->rows, free);
	free(summary);
}

static struct summary_row *add_row(struct trace_summary *summary,
				   const struct trace_function *function)
{
	struct summary_row *row = calloc(1, sizeof(*row));

	if (!row)
		return NULL;
	row->function = function;
	HASH_ADD_PTR(summary->rows, function, row);
	/* Without memory the table has not inserted it. */
	if (!row->hh.tbl) {
		free(row);
		return NULL;
	}
	return row;
}

static struct summary_row *find_row(struct trace_summary *summary,
				    const struct trace_function *function)
{
	struct summary_row *row;

	/* Consecutive calls are often of one function. */
	if (summary->latest && summary->latest->function == function)
		return summary->latest;
	HASH_FIND_PTR(summary->rows, &function, row);
	if (!row)
		row = add_row(summary, function);
	summary->latest = row;
	return row;
}

static void add_time(struct summary_row *row, uint64_t duration_ns)
{
	row->sums.ns += duration_ns;
	if (!row->histogram.count || duration_ns < row->sums.min_ns)
		row->sums.min_ns = duration_ns;
	if (duration_ns > row->sums.max_ns)
		row->sums.max_ns = duration_ns;
	trace_histogram__add(&row->histogram, duration_ns);
}

int trace_summary__add(struct trace_summary *summary, const struct trace_line *line)
{
	struct summary_row *row;

	if (line->kind == LINE_LOST || line->kind == LINE_ENTRY || line->kind == LINE_IN_PROGRESS ||
	    line->kind == LINE_BEFORE || line->kind == LINE_RANGE)
		return 0;
	row = find_row(summary, line->function);
	if (!row)
		return -ENOMEM;
	row->sums.calls++;
	summary->nested |= line->depth > 0;
	if (line->kind == LINE_UNFOLLOWED) {
		row->sums.unfollowed++;
		return 0;
	}
	if (line->kind == LINE_UNFINISHED) {
		row->sums.unfinished++;
		row->sums.unfinished_ns += line->duration_ns;
		return 0;
	}
	row->sums.errors += line->failed;
	add_time(row, line->duration_ns);
	return 0;
}
