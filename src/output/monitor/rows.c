// SPDX-License-Identifier: BSD-2-Clause
// The processes of a report in the order of their importance, see parts.h.
#include <errno.h>
#include <stdlib.h>

#include "model/process_index.h"
#include "output/monitor/parts.h"
#include "output/report/totals.h"

/* Findings that are worth a look before everything else. */
static int urgency(const struct monitor_row *row)
{
	return row->worst && row->worst->severity > SEVERITY_INFO ? (int)row->worst->severity : 0;
}

static int descending(uint64_t a, uint64_t b)
{
	return a < b ? 1 : -(a > b);
}

static int by_importance(const void *a, const void *b)
{
	const struct monitor_row *x = a, *y = b;
	int order = (int)x->process->ended - (int)y->process->ended;

	if (!order)
		order = urgency(y) - urgency(x);
	if (!order)
		order = descending(x->counts.launches + x->counts.copies,
				   y->counts.launches + y->counts.copies);
	if (!order)
		order = descending(x->counts.live_bytes, y->counts.live_bytes);
	return order ? order : descending(y->process->start_ns, x->process->start_ns);
}

static void fill(const struct monitor_history *history, const struct model *model,
		 const struct process *process, struct monitor_row *row)
{
	row->process = process;
	row->totals = process->ended || model->final;
	row->kept = monitor_history__find(history, process);
	monitor_history__increase(history, row->kept, model, process, row->totals, &row->counts,
				  &row->change);
}

/* The list is in order, so the first of a process is its worst. */
static int assign(const struct model *model, const struct finding_list *findings,
		  struct monitor_row *rows)
{
	struct process_index *index = process_index__new(model, report__shows);

	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < findings->count; i++) {
		const struct finding *finding = &findings->items[i];
		const struct process *process =
			process_index__find(index, finding->pid, finding->start_ns);

		if (process && !rows[process - model->processes].worst)
			rows[process - model->processes].worst = finding;
	}
	process_index__free(index);
	return 0;
}

int monitor_rows__make(const struct monitor_history *history, const struct model *model,
		       const struct finding_list *findings, struct monitor_rows *rows)
{
	*rows = (struct monitor_rows){
		.items = calloc(model->process_count + 1, sizeof(*rows->items)),
	};
	if (!rows->items || assign(model, findings, rows->items)) {
		free(rows->items);
		rows->items = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *process = &model->processes[i];
		struct monitor_row *row = &rows->items[rows->count];

		if (!report__shows(process))
			continue;
		*row = rows->items[i];
		fill(history, model, process, row);
		rows->ended += process->ended;
		rows->count++;
	}
	qsort(rows->items, rows->count, sizeof(*rows->items), by_importance);
	return 0;
}
