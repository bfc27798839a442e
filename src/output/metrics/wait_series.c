// SPDX-License-Identifier: BSD-2-Clause
// Waits and queries in the metrics, by what they are for, see series.h.
#include "output/metrics/series.h"

#include "output/enum_names.h"

static const struct metric_family waits = {
	"gpuprobe_waits",
	METRIC_COUNTER,
	"Successful calls that block until the GPU is done, by what they wait for: stream, event,"
	" device; synchronous copies and frees beside them.",
};
static const struct metric_family wait_seconds = {
	"gpuprobe_wait_seconds",
	METRIC_COUNTER,
	"Time inside calls that block until the GPU is done, in seconds, with the time so far in those in progress.",
};
static const struct metric_family queries = {
	"gpuprobe_queries",
	METRIC_COUNTER,
	"Stream and event queries by their answer.",
};

static void wait_sample(struct metrics_page *page, const struct process *p, uint8_t device, const char *kind,
			const struct wait_totals *totals)
{
	struct exposition_writer *w = &page->writer;

	if (!totals->calls && !totals->ns)
		return;
	metrics_page__sample_on(page, p, device);
	exposition__label(w, "kind", kind);
	if (w->family == &waits)
		exposition__u64(w, totals->calls);
	else
		exposition__seconds(w, totals->ns);
}

static void write_device_waits(struct metrics_page *page, const struct process *p,
			       const struct device_totals *d)
{
	int scope;

	for (scope = 0; scope < WAIT_SCOPES; scope++)
		wait_sample(page, p, d->device, enum_names__wait_scope(scope), &d->waits[scope]);
	wait_sample(page, p, d->device, "copy", &d->copy_waits);
	wait_sample(page, p, d->device, "free", &d->free_waits);
}

static void write_wait_counter(struct metrics_page *page, const struct metric_family *family)
{
	size_t i, k;

	exposition__family(&page->writer, family);
	for (i = 0; i < page->process_count; i++)
		for (k = 0; k < page->processes[i]->device_count; k++)
			write_device_waits(page, page->processes[i], &page->processes[i]->devices[k]);
}

static void query_sample(struct exposition_writer *w, const struct process *p, int scope,
			 const char *answer, uint64_t count)
{
	if (!count)
		return;
	metrics_page__sample(w, p);
	exposition__label(w, "kind", enum_names__wait_scope(scope));
	exposition__label(w, "answer", answer);
	exposition__u64(w, count);
}

static void write_queries(struct metrics_page *page)
{
	size_t i;
	int scope;

	exposition__family(&page->writer, &queries);
	for (i = 0; i < page->process_count; i++) {
		for (scope = 0; scope < WAIT_SCOPES; scope++) {
			const struct process *p = page->processes[i];
			const struct query_totals *q = &p->queries[scope];

			query_sample(&page->writer, p, scope, "done", q->calls - q->not_ready);
			query_sample(&page->writer, p, scope, "not_ready", q->not_ready);
		}
	}
}

void wait_series__write(struct metrics_page *page)
{
	write_wait_counter(page, &waits);
	write_wait_counter(page, &wait_seconds);
	write_queries(page);
}
