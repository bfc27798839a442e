// SPDX-License-Identifier: BSD-2-Clause
// The verdicts on the latest minute in the metrics; unknown ones have no sample. See series.h.
#include "output/metrics/series.h"

#include "finding/verdict.h"
#include "output/metrics/metrics.h"

/* Returns false if there is no verdict to show. */
static bool judge(const struct metrics_page *page, const struct process *p, struct verdict *verdict)
{
	if (p->ended)
		return false;
	verdict__judge_latest(page->options->verdicts, page->model, p, verdict);
	return verdict->window_ns && verdict->profile;
}

static void write_idle(struct metrics_page *page, const struct process *p)
{
	struct verdict verdict;

	if (!judge(page, p, &verdict) || verdict.idle == SHARE_UNKNOWN || verdict.device < 0)
		return;
	metrics_page__sample_on(page, p,
				verdict.device == PROFILE_DEVICES - 1 ? DEVICE_UNKNOWN :
									(uint8_t)verdict.device);
	exposition__ratio(&page->writer, verdict.idle);
}

static void write_host_bound(struct metrics_page *page, const struct process *p)
{
	struct verdict verdict;

	if (!judge(page, p, &verdict) || verdict.kind == VERDICT_UNKNOWN)
		return;
	for (int doing = 0; doing < HOST_DOINGS; doing++) {
		metrics_page__sample(&page->writer, p);
		exposition__label(&page->writer, "reason", verdict__doing(doing));
		exposition__ratio(&page->writer,
				  verdict.kind == VERDICT_HOST_BOUND ? verdict.doing[doing] : 0);
	}
}

static const struct metric metrics[] = {
	{{"gpuprobe_gpu_idle_proved_ratio", METRIC_GAUGE,
	  "Share of the latest minute in which the process's GPU is proved to have had nothing to "
	  "do; of several the least."},
	 .process = write_idle,
	 .sum = SUM_LEFT_OUT},
	{{"gpuprobe_host_bound_ratio", METRIC_GAUGE,
	  "Share of its threads' time in the latest minute by what they did while the GPU did not "
	  "hold them up, if the GPU waits"
	  " for the process; else 0."},
	 .process = write_host_bound,
	 .sum = SUM_LEFT_OUT},
};

void verdict_series__write(struct metrics_page *page)
{
	if (page->options->verdicts)
		metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
