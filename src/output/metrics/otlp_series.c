// SPDX-License-Identifier: BSD-2-Clause
// What became of data for OTLP in the metrics, see series.h.
#include "output/metrics/series.h"

#include "export/counts.h"
#include "export/reply.h"
#include "export/settings.h"
#include "output/metrics/metrics.h"

static void begin_sample(struct metrics_page *page, int signal)
{
	exposition__sample(&page->writer);
	exposition__label(&page->writer, "signal", export_signal__word((enum export_signal)signal));
}

static void write_requests(struct metrics_page *page)
{
	static const char *const results[] = {
		[EXPORT_ACCEPTED] = "accepted",
		[EXPORT_REFUSED] = "refused",
		[EXPORT_FAILED] = "failed",
	};

	for (int signal = 0; signal < EXPORT_SIGNALS; signal++) {
		for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
			begin_sample(page, signal);
			exposition__label(&page->writer, "result", results[i]);
			exposition__number(&page->writer,
					   page->options->exports[signal].requests[i]);
		}
	}
}

static void write_lost(struct metrics_page *page)
{
	for (int signal = 0; signal < EXPORT_SIGNALS; signal++) {
		for (int loss = 0; loss < EXPORT_LOSSES; loss++) {
			begin_sample(page, signal);
			exposition__label(&page->writer, "reason",
					  export_loss__word((enum export_loss)loss));
			exposition__number(&page->writer,
					   page->options->exports[signal].lost[loss]);
		}
	}
}

static void write_count(struct metrics_page *page)
{
	for (int signal = 0; signal < EXPORT_SIGNALS; signal++) {
		begin_sample(page, signal);
		exposition__number(&page->writer,
				   metrics_page__value(page, &page->options->exports[signal]));
	}
}

#define COUNT(member) .page = write_count, METRIC_VALUE(struct export_counts, member)

static const struct metric metrics[] = {
	{{"gpuprobe_otlp_requests", METRIC_COUNTER,
	  "Attempts to send OTLP by their result; what failed is tried again."},
	 .page = write_requests},
	{{"gpuprobe_otlp_items", METRIC_COUNTER,
	  "Data points or log records that an OTLP receiver has taken."},
	 COUNT(items)},
	{{"gpuprobe_otlp_lost", METRIC_COUNTER,
	  "Data points or log records that no OTLP receiver has taken, and that are not sent "
	  "again."},
	 .page = write_lost},
	{{"gpuprobe_otlp_queued_bytes", METRIC_GAUGE,
	  "Bytes of OTLP requests that wait to be sent."},
	 COUNT(queued_bytes)},
};

void otlp_series__write(struct metrics_page *page)
{
	if (page->options->exports)
		metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
