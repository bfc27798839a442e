// SPDX-License-Identifier: BSD-2-Clause
// The cost of probes and the sampled families in the metrics, see series.h.
#include "output/metrics/series.h"

#include "output/enum_names.h"

static void write_overhead(struct metrics_page *page)
{
	exposition__sample(&page->writer);
	exposition__ratio(&page->writer, page->model->sampling.overhead);
}

static void write_max_overhead(struct metrics_page *page)
{
	exposition__sample(&page->writer);
	exposition__ratio(&page->writer, page->model->sampling.max_overhead);
}

static void write_shares(struct metrics_page *page)
{
	struct exposition_writer *w = &page->writer;

	for (enum rate_family family = 0; family < RATE_EXACT; family++) {
		exposition__sample(w);
		exposition__label(w, "family", enum_names__rate_family(family));
		exposition__ratio(w, page->model->sampling.share[family]);
	}
}

static void write_missed(struct metrics_page *page, const struct process *p)
{
	struct exposition_writer *w = &page->writer;

	for (enum rate_family family = 0; family < RATE_EXACT; family++) {
		if (!process__is_estimated(p, family))
			continue;
		metrics_page__sample(w, p);
		exposition__label(w, "family", enum_names__rate_family(family));
		exposition__number(w, p->family_calls[family].missed);
	}
}

static const struct metric metrics[] = {
	{{"gpuprobe_overhead_ratio", METRIC_GAUGE,
	  "Estimated cost of the probes in the watched thread that pays most, relative to its time "
	  "without them."},
	 .page = write_overhead},
	{{"gpuprobe_max_overhead_ratio", METRIC_GAUGE,
	  "What --max-overhead lets the probes cost a thread, about, relative to its time without "
	  "them."},
	 .page = write_max_overhead},
	{{"gpuprobe_sampling_ratio", METRIC_GAUGE,
	  "Share of the time that calls of a family are counted now; below 1 their counters are "
	  "partly estimated."},
	 .page = write_shares},
	{{"gpuprobe_estimated_calls", METRIC_COUNTER,
	  "Calls in the counters of a family that were not counted but estimated."},
	 .process = write_missed},
};

void sampling_series__write(struct metrics_page *page)
{
	if (page->model->sampling.max_overhead)
		metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
