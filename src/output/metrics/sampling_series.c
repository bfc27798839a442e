// SPDX-License-Identifier: BSD-2-Clause
// What the probes cost and what is sampled for it, in the metrics, see series.h.
#include "output/metrics/series.h"

#include "output/enum_names.h"

static const struct metric_family overhead = {
	"gpuprobe_overhead_ratio",
	METRIC_GAUGE,
	"Estimated cost of the probes in the watched thread that pays most, relative to its time without them.",
};
static const struct metric_family max_overhead = {
	"gpuprobe_max_overhead_ratio",
	METRIC_GAUGE,
	"What --max-overhead lets the probes cost a thread, about, relative to its time without them.",
};
static const struct metric_family shares = {
	"gpuprobe_sampling_ratio",
	METRIC_GAUGE,
	"Share of the time that calls of a family are counted now; below 1 their counters are partly estimated.",
};
static const struct metric_family missed = {
	"gpuprobe_estimated_calls",
	METRIC_COUNTER,
	"Calls in the counters of a family that were not counted but estimated.",
};

static void write_ratio(struct exposition_writer *w, const struct metric_family *family, double ratio)
{
	exposition__family(w, family);
	exposition__sample(w);
	exposition__ratio(w, ratio);
}

static void write_missed(struct metrics_page *page)
{
	struct exposition_writer *w = &page->writer;

	exposition__family(w, &missed);
	for (size_t i = 0; i < page->process_count; i++) {
		for (enum rate_family family = 0; family < RATE_EXACT; family++) {
			if (!process__is_estimated(page->processes[i], family))
				continue;
			metrics_page__sample(w, page->processes[i]);
			exposition__label(w, "family", enum_names__rate_family(family));
			exposition__u64(w, page->processes[i]->family_calls[family].missed);
		}
	}
}

void sampling_series__write(struct metrics_page *page)
{
	const struct sampling *sampling = &page->model->sampling;
	struct exposition_writer *w = &page->writer;

	if (!sampling->max_overhead)
		return;
	write_ratio(w, &overhead, sampling->overhead);
	write_ratio(w, &max_overhead, sampling->max_overhead);
	exposition__family(w, &shares);
	for (enum rate_family family = 0; family < RATE_EXACT; family++) {
		exposition__sample(w);
		exposition__label(w, "family", enum_names__rate_family(family));
		exposition__ratio(w, sampling->share[family]);
	}
	write_missed(page);
}
