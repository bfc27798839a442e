// SPDX-License-Identifier: BSD-2-Clause
// Who waits for whom in the metrics, of the latest minute: what is not known has no sample. See series.h.
#include "output/metrics/series.h"

#include "finding/verdict.h"

static const struct metric_family idle_proved = {
	"gpuprobe_gpu_idle_proved_ratio",
	METRIC_GAUGE,
	"Share of the latest minute in which the process's GPU is proved to have had nothing to do; of several the least.",
};
static const struct metric_family host_bound = {
	"gpuprobe_host_bound_ratio",
	METRIC_GAUGE,
	"Share of its threads' time in the latest minute by what they did while the GPU did not hold them up, if the GPU waits"
	" for the process; else 0.",
};

static void write_idle(struct metrics_page *page, const struct process *p, const struct verdict *verdict)
{
	if (verdict->idle == SHARE_UNKNOWN || verdict->device < 0)
		return;
	metrics_page__sample_on(page, p,
				verdict->device == ACCOUNT_DEVICES - 1 ? DEVICE_UNKNOWN : (uint8_t)verdict->device);
	exposition__ratio(&page->writer, verdict->idle);
}

static void write_host_bound(struct metrics_page *page, const struct process *p, const struct verdict *verdict)
{
	if (verdict->kind == VERDICT_UNKNOWN)
		return;
	for (int doing = 0; doing < HOST_DOINGS; doing++) {
		metrics_page__sample(&page->writer, p);
		exposition__label(&page->writer, "reason", verdict__doing(doing));
		exposition__ratio(&page->writer, verdict->kind == VERDICT_HOST_BOUND ? verdict->doing[doing] : 0);
	}
}

static void write_family(struct metrics_page *page, const struct findings *state, const struct metric_family *family,
			 void (*write)(struct metrics_page *page, const struct process *p, const struct verdict *verdict))
{
	exposition__family(&page->writer, family);
	for (size_t i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];
		struct verdict verdict;

		if (p->ended)
			continue;
		verdict__judge_latest(state, page->model, p, &verdict);
		if (verdict.window_ns && verdict.profile)
			write(page, p, &verdict);
	}
}

void verdict_series__write(struct metrics_page *page, const struct findings *state)
{
	write_family(page, state, &idle_proved, write_idle);
	write_family(page, state, &host_bound, write_host_bound);
}
