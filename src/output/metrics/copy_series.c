// SPDX-License-Identifier: BSD-2-Clause
// Copies and sets in the metrics, by kind and mode, see series.h.
#include "output/metrics/series.h"

#include "output/enum_names.h"

static const struct metric_family copies = {
	"gpuprobe_copies",
	METRIC_COUNTER,
	"Successful copy and set calls by kind and mode.",
};
static const struct metric_family copy_bytes = {
	"gpuprobe_copy_bytes",
	METRIC_COUNTER,
	"Bytes of successful copy and set calls by kind and mode.",
};
static const struct metric_family copy_seconds = {
	"gpuprobe_copy_seconds",
	METRIC_COUNTER,
	"Time inside successful copy and set calls in seconds; of async ones the time to enqueue,"
	" not to copy.",
};

static const struct metric_family inflight = {
	"gpuprobe_copies_inflight",
	METRIC_GAUGE,
	"Asynchronous copies that no wait has covered yet.",
};
static const struct metric_family inflight_bytes = {
	"gpuprobe_copies_inflight_bytes",
	METRIC_GAUGE,
	"Bytes of asynchronous copies that no wait has covered yet.",
};
static const struct metric_family inflight_oldest = {
	"gpuprobe_copies_inflight_oldest_seconds",
	METRIC_GAUGE,
	"Age of the oldest asynchronous copy that no wait has covered yet, in seconds.",
};

static void copy_sample(struct exposition_writer *w, const struct process *p, int kind, int mode)
{
	const struct copy_totals *c = &p->copies[kind][mode];

	if (!c->calls)
		return;
	metrics_page__sample(w, p);
	exposition__label(w, "kind", enum_names__copy_kind(kind));
	exposition__label(w, "mode", mode ? "async" : "sync");
	if (w->family == &copies)
		exposition__u64(w, c->calls);
	else if (w->family == &copy_bytes)
		exposition__u64(w, c->bytes);
	else
		exposition__seconds(w, c->ns);
}

static void write_copy_counter(struct metrics_page *page, const struct metric_family *family)
{
	size_t i;
	int kind;

	exposition__family(&page->writer, family);
	for (i = 0; i < page->process_count; i++) {
		for (kind = 0; kind < COPY_KINDS; kind++) {
			copy_sample(&page->writer, page->processes[i], kind, 0);
			copy_sample(&page->writer, page->processes[i], kind, 1);
		}
	}
}

static void inflight_sample(struct exposition_writer *w, const struct process *p, int kind)
{
	const struct copy_inflight *f = &p->inflight[kind];

	/* A gauge that was there goes to 0, it does not vanish. */
	if (!p->copies[kind][1].calls && !f->calls)
		return;
	metrics_page__sample(w, p);
	exposition__label(w, "kind", enum_names__copy_kind(kind));
	if (w->family == &inflight)
		exposition__u64(w, f->calls);
	else if (w->family == &inflight_bytes)
		exposition__u64(w, f->bytes);
	else
		exposition__seconds(w, f->oldest_ns);
}

static void write_inflight(struct metrics_page *page, const struct metric_family *family)
{
	size_t i;
	int kind;

	exposition__family(&page->writer, family);
	for (i = 0; i < page->process_count; i++)
		for (kind = 0; kind < COPY_KINDS; kind++)
			inflight_sample(&page->writer, page->processes[i], kind);
}

void copy_series__write(struct metrics_page *page)
{
	write_copy_counter(page, &copies);
	write_copy_counter(page, &copy_bytes);
	write_copy_counter(page, &copy_seconds);
	write_inflight(page, &inflight);
	write_inflight(page, &inflight_bytes);
	write_inflight(page, &inflight_oldest);
}
