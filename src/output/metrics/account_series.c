// SPDX-License-Identifier: BSD-2-Clause
// What jobs and users held of the GPUs since gpuprobe started, in the metrics, see series.h.
#include "output/metrics/series.h"

#include "account/account.h"

/*
 * Only labels of what the group has in common: others may differ from process to process, and a
 * counter would go on under another name.
 */
static void begin_sample(struct exposition_writer *w, const struct account_group *group)
{
	const struct {
		const char *name, *value;
		bool applies;
	} labels[] = {
		{"user", group->user, true},
		{"slurm_job_id", group->name, group->job == ACCOUNT_SLURM},
		{"pbs_job_id", group->name, group->job == ACCOUNT_PBS},
		{"namespace", group->names.namespace, group->job == ACCOUNT_POD},
		{"pod", group->names.pod, group->job == ACCOUNT_POD},
		{"pod_uid", group->pod_uid, group->job == ACCOUNT_POD},
		{"unit", group->name, group->job == ACCOUNT_UNIT},
	};

	exposition__sample(w);
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		exposition__label(w, labels[i].name,
				  group->is_other   ? "other" :
				  labels[i].applies ? labels[i].value :
						      "");
}

static void write_number(struct metrics_page *page)
{
	for (size_t i = 0; i < page->account->count; i++) {
		const struct account_group *group = page->account->groups[i];

		begin_sample(&page->writer, group);
		exposition__number(&page->writer, metrics_page__value(page, group));
	}
}

/* Both bounds only grow: each reading adds no more work than GPU time. */
static void write_idle(struct metrics_page *page)
{
	for (size_t i = 0; i < page->account->count; i++) {
		const struct account_group *group = page->account->groups[i];

		begin_sample(&page->writer, group);
		exposition__number(&page->writer, group->held_ns - group->work_most_ns);
	}
}

/* Without allocations nothing is known of memory: 0 would be wrong. */
static void write_memory(struct metrics_page *page)
{
	if (!(page->model->sections & SECTION_MEMORY) || page->model->no_returns)
		return;
	for (size_t i = 0; i < page->account->count; i++) {
		begin_sample(&page->writer, page->account->groups[i]);
		exposition__real(&page->writer, page->account->groups[i]->memory.best);
	}
}

static void write_last_call(struct metrics_page *page)
{
	for (size_t i = 0; i < page->account->count; i++) {
		const struct account_group *group = page->account->groups[i];

		if (group->last_call_ns <= 0)
			continue;
		begin_sample(&page->writer, group);
		exposition__number(&page->writer, (uint64_t)group->last_call_ns);
	}
}

#define NUMBER(member) .page = write_number, METRIC_VALUE(struct account_group, member)

static const struct metric metrics[] = {
	{{"gpuprobe_account_gpu_seconds", METRIC_COUNTER,
	  "GPU time held by a job, or by a user's processes outside of jobs; a GPU that several of "
	  "its processes hold counts once."},
	 NUMBER(held_ns)},
	{{"gpuprobe_account_idle_proved_seconds", METRIC_COUNTER,
	  "Part of this GPU time in which the GPU is proved to have had no work of the job."},
	 .page = write_idle},
	{{"gpuprobe_account_memory_byte_seconds", METRIC_COUNTER,
	  "Device memory of the job, added up over time."},
	 .page = write_memory},
	{{"gpuprobe_account_gpus", METRIC_GAUGE, "GPUs that the job holds now."}, NUMBER(gpus)},
	{{"gpuprobe_account_idle_gpus", METRIC_GAUGE,
	  "Part of these on which it has made no CUDA call for 10 minutes."},
	 NUMBER(idle_gpus)},
	{{"gpuprobe_account_last_call_timestamp_seconds", METRIC_GAUGE,
	  "When the job made its latest CUDA call, Unix time; no sample if none was seen."},
	 .page = write_last_call},
};

void account_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
}
