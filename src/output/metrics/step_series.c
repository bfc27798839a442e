// SPDX-License-Identifier: BSD-2-Clause
// Steps in the metrics, see series.h.
#include "model/steps.h"
#include "output/metrics/series.h"

static const struct metric_family step_seconds = {
	"gpuprobe_step_seconds",
	METRIC_GAUGE,
	"How long the steps last that the process repeats, of all that were seen: the median and the 99th percentile."
	" A step is what it submits to the GPU over and over.",
};
static const struct metric_family step_launches = {
	"gpuprobe_step_launches",
	METRIC_GAUGE,
	"Launches of kernels and graphs in a step, on average.",
};

static void write_seconds(struct metrics_page *page, const struct process *p, const struct step_summary *steps)
{
	struct exposition_writer *w = &page->writer;

	metrics_page__sample(w, p);
	exposition__label(w, "percentile", "50");
	exposition__seconds(w, steps->p50_ns);
	metrics_page__sample(w, p);
	exposition__label(w, "percentile", "99");
	exposition__seconds(w, steps->p99_ns);
}

void step_series__write(struct metrics_page *page)
{
	struct step_summary steps;

	exposition__family(&page->writer, &step_seconds);
	for (size_t i = 0; i < page->process_count; i++) {
		step_summary__make(page->processes[i], &steps);
		if (steps.thread)
			write_seconds(page, page->processes[i], &steps);
	}
	exposition__family(&page->writer, &step_launches);
	for (size_t i = 0; i < page->process_count; i++) {
		step_summary__make(page->processes[i], &steps);
		if (!steps.thread)
			continue;
		metrics_page__sample(&page->writer, page->processes[i]);
		exposition__u64(&page->writer, (uint64_t)(steps.launches + 0.5));
	}
}
