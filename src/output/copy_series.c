// SPDX-License-Identifier: BSD-2-Clause
// Copies and sets in the metrics, by kind and mode, see series.h.
#include "output/series.h"

#include "output/words.h"

static const struct metric_family copies = {
	"gpuprobe_copies", METRIC_COUNTER,
	"Successful copy and set calls by kind and mode.",
};
static const struct metric_family copy_bytes = {
	"gpuprobe_copy_bytes", METRIC_COUNTER,
	"Bytes of successful copy and set calls by kind and mode.",
};
static const struct metric_family copy_seconds = {
	"gpuprobe_copy_seconds", METRIC_COUNTER,
	"Time inside successful copy and set calls in seconds; of async ones the time to enqueue,"
	" not to copy.",
};

static void copy_sample(struct exposition_writer *w, const struct process *p, int kind, int mode)
{
	const struct copy_totals *c = &p->copies[kind][mode];

	if (!c->calls)
		return;
	metrics_page__sample(w, p);
	exposition__label(w, "kind", words__copy_kind(kind));
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

void copy_series__write(struct metrics_page *page)
{
	write_copy_counter(page, &copies);
	write_copy_counter(page, &copy_bytes);
	write_copy_counter(page, &copy_seconds);
}
