// SPDX-License-Identifier: BSD-2-Clause
// Copies and sets in the metrics, by kind and mode, see series.h.
#include "output/metrics/series.h"

#include "output/enum_names.h"

static void write_copies(struct metrics_page *page, const struct process *p)
{
	struct exposition_writer *w = &page->writer;

	for (int kind = 0; kind < COPY_KINDS; kind++) {
		for (int async = 0; async < 2; async++) {
			const struct copy_totals *c = &p->copies[kind][async];

			if (!c->calls)
				continue;
			metrics_page__sample(w, p);
			exposition__label(w, "kind", enum_names__copy_kind(kind));
			exposition__label(w, "mode", async ? "async" : "sync");
			exposition__number(w, metrics_page__value(page, c));
		}
	}
}

static void write_inflight(struct metrics_page *page, const struct process *p)
{
	struct exposition_writer *w = &page->writer;

	for (int kind = 0; kind < COPY_KINDS; kind++) {
		const struct copy_inflight *f = &p->inflight[kind];

		/* A gauge that existed goes to 0 instead of vanishing. */
		if (!p->copies[kind][1].calls && !f->calls)
			continue;
		metrics_page__sample(w, p);
		exposition__label(w, "kind", enum_names__copy_kind(kind));
		exposition__number(w, metrics_page__value(page, f));
	}
}

#define COPIES(member) .process = write_copies, METRIC_VALUE(struct copy_totals, member)
#define INFLIGHT(member) .process = write_inflight, METRIC_VALUE(struct copy_inflight, member)

static const struct metric metrics[] = {
	{{"gpuprobe_copies", METRIC_COUNTER, "Successful copy and set calls by kind and mode."},
	 COPIES(calls)},
	{{"gpuprobe_copy_bytes", METRIC_COUNTER,
	  "Bytes of successful copy and set calls by kind and mode."},
	 COPIES(bytes)},
	{{"gpuprobe_copy_seconds", METRIC_COUNTER,
	  "Time inside successful copy and set calls in seconds; of async ones the time to "
	  "enqueue, not to copy."},
	 COPIES(ns)},
	{{"gpuprobe_copies_inflight", METRIC_GAUGE,
	  "Asynchronous copies that no wait has covered yet."},
	 INFLIGHT(calls)},
	{{"gpuprobe_copies_inflight_bytes", METRIC_GAUGE,
	  "Bytes of asynchronous copies that no wait has covered yet."},
	 INFLIGHT(bytes)},
	{{"gpuprobe_copies_inflight_oldest_seconds", METRIC_GAUGE,
	  "Age of the oldest asynchronous copy that no wait has covered yet, in seconds."},
	 INFLIGHT(oldest_ns),
	 .sum = SUM_MOST},
};

void copy_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
