// SPDX-License-Identifier: BSD-2-Clause
// Steps in the metrics, see series.h.
#include "model/steps.h"
#include "output/metrics/series.h"

static void write_seconds(struct metrics_page *page, const struct process *p)
{
	struct exposition_writer *w = &page->writer;
	struct step_summary steps;

	step_summary__make(p, &steps);
	if (!steps.thread)
		return;
	metrics_page__sample(w, p);
	exposition__label(w, "percentile", "50");
	exposition__number(w, steps.p50_ns);
	metrics_page__sample(w, p);
	exposition__label(w, "percentile", "99");
	exposition__number(w, steps.p99_ns);
}

static void write_launches(struct metrics_page *page, const struct process *p)
{
	struct step_summary steps;

	step_summary__make(p, &steps);
	if (!steps.thread)
		return;
	metrics_page__sample(&page->writer, p);
	exposition__number(&page->writer, (uint64_t)(steps.launches + 0.5));
}

static const struct metric metrics[] = {
	{{"gpuprobe_step_seconds", METRIC_GAUGE,
	  "How long the steps last that the process repeats, of all that were seen: the median and "
	  "the 99th percentile."
	  " A step is what it submits to the GPU over and over."},
	 .process = write_seconds,
	 .sum = SUM_LEFT_OUT},
	{{"gpuprobe_step_launches", METRIC_GAUGE,
	  "Launches of kernels and graphs in a step, on average."},
	 .process = write_launches,
	 .sum = SUM_LEFT_OUT},
};

void step_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
