// SPDX-License-Identifier: BSD-2-Clause
// Waits and queries in the metrics, by scope, see series.h.
#include "output/metrics/series.h"

#include "output/enum_names.h"

static void wait_sample(struct metrics_page *page, const struct process *p, uint8_t device,
			const char *kind, const struct wait_totals *totals)
{
	if (!totals->calls && !totals->ns)
		return;
	metrics_page__sample_on(page, p, device);
	exposition__label(&page->writer, "kind", kind);
	exposition__number(&page->writer, metrics_page__value(page, totals));
}

static void write_waits(struct metrics_page *page, const struct process *p)
{
	for (size_t k = 0; k < p->device_count; k++) {
		const struct device_totals *d = &p->devices[k];

		for (int scope = 0; scope < WAIT_SCOPES; scope++)
			wait_sample(page, p, d->device, enum_names__wait_scope(scope),
				    &d->waits[scope]);
		wait_sample(page, p, d->device, "copy", &d->copy_waits);
		wait_sample(page, p, d->device, "free", &d->free_waits);
	}
}

static void query_sample(struct exposition_writer *w, const struct process *p, int scope,
			 const char *answer, uint64_t count)
{
	if (!count)
		return;
	metrics_page__sample(w, p);
	exposition__label(w, "kind", enum_names__wait_scope(scope));
	exposition__label(w, "answer", answer);
	exposition__number(w, count);
}

static void write_queries(struct metrics_page *page, const struct process *p)
{
	for (int scope = 0; scope < WAIT_SCOPES; scope++) {
		const struct query_totals *q = &p->queries[scope];

		query_sample(&page->writer, p, scope, "done", q->calls - q->not_ready);
		query_sample(&page->writer, p, scope, "not_ready", q->not_ready);
	}
}

#define WAITS(member) .process = write_waits, METRIC_VALUE(struct wait_totals, member)

static const struct metric metrics[] = {
	{{"gpuprobe_waits", METRIC_COUNTER,
	  "Successful calls that block until the GPU is done, by what they wait for: stream, event,"
	  " device; synchronous copies and frees beside them."},
	 WAITS(calls)},
	{{"gpuprobe_wait_seconds", METRIC_COUNTER,
	  "Time inside calls that block until the GPU is done, in seconds, with the time so far in "
	  "those in progress."},
	 WAITS(ns)},
	{{"gpuprobe_queries", METRIC_COUNTER, "Stream and event queries by their answer."},
	 .process = write_queries},
};

void wait_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
