// SPDX-License-Identifier: BSD-2-Clause
// The identity of processes and the memory of GPUs in the metrics, see series.h.
#include <stdio.h>

#include "model/gpu_label.h"
#include "output/metrics/series.h"
#include "target/workload.h"

static void label_number(struct exposition_writer *w, const char *name, int32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	/* Pid 0 means unknown: no process has it. */
	exposition__label(w, name, number ? text : "unknown");
}

static void label_workload(struct exposition_writer *w, const struct process *p)
{
	static const struct workload nothing = {0};
	const struct workload *workload = p->workload ? p->workload : &nothing;

	exposition__label(w, "namespace", workload->namespace);
	exposition__label(w, "pod", workload->pod);
	exposition__label(w, "container", workload->container);
	exposition__label(w, "pod_uid", p->cgroup_known ? p->pod : "unknown");
	exposition__label(w, "container_id", p->cgroup_known ? p->container : "unknown");
	exposition__label(w, "unit", workload->unit);
	exposition__label(w, "slurm_job_id", workload->slurm_job);
	exposition__label(w, "slurm_step", workload->slurm_step);
	exposition__label(w, "slurm_sluid", workload->slurm_sluid);
	exposition__label(w, "pbs_job_id", workload->pbs_job);
}

static void write_info(struct metrics_page *page, const struct process *p)
{
	struct exposition_writer *w = &page->writer;

	if (!p->identified)
		return;
	metrics_page__sample(w, p);
	label_number(w, "ppid", p->parent);
	exposition__label(w, "user", p->user);
	label_workload(w, p);
	label_number(w, "ns_pid", p->namespace_pid);
	exposition__number(w, 1);
}

static void label_gpu(struct exposition_writer *w, const struct gpu *gpu)
{
	char label[GPU_LABEL_SIZE];

	gpu_label(gpu, label);
	exposition__label(w, "gpu", label);
	exposition__label(w, "uuid", gpu->uuid);
}

static void write_gpus(struct metrics_page *page)
{
	struct exposition_writer *w = &page->writer;

	for (size_t i = 0; i < page->model->gpu_count; i++) {
		const struct gpu *gpu = &page->model->gpus[i];
		uint64_t bytes = metrics_page__value(page, gpu);

		if (bytes == GPU_UNKNOWN_BYTES)
			continue;
		exposition__sample(w);
		label_gpu(w, gpu);
		exposition__label(w, "name", gpu->name);
		exposition__number(w, bytes);
	}
}

static void write_gpus_of(struct metrics_page *page, const struct process *p)
{
	struct exposition_writer *w = &page->writer;

	for (size_t i = 0; i < p->gpu_count; i++) {
		const struct gpu *gpu = gpu_label__find(page->model, &p->gpus[i]);
		uint64_t bytes = metrics_page__value(page, &p->gpus[i]);

		if (!gpu || bytes == GPU_UNKNOWN_BYTES)
			continue;
		metrics_page__sample(w, p);
		label_gpu(w, gpu);
		exposition__number(w, bytes);
	}
}

static void write_since_attach(struct metrics_page *page, const struct process *p)
{
	if (!p->since_attach)
		return;
	metrics_page__sample(&page->writer, p);
	exposition__number(&page->writer, 1);
}

static void write_unfollowed(struct metrics_page *page, const struct process *p)
{
	if (!p->unfollowed.calls)
		return;
	metrics_page__sample(&page->writer, p);
	exposition__number(&page->writer, metrics_page__value(page, &p->unfollowed));
}

#define GPUS(member) .page = write_gpus, METRIC_VALUE(struct gpu, member)
#define GPUS_OF(member) .process = write_gpus_of, METRIC_VALUE(struct process_gpu, member)
#define UNFOLLOWED(member) \
	.process = write_unfollowed, METRIC_VALUE(struct unfollowed_totals, member)

static const struct metric metrics[] = {
	{{"gpuprobe_process", METRIC_INFO,
	  "Who a process is: parent, user, pod, container, unit and job, and the pid in its own "
	  "namespace."},
	 .process = write_info,
	 .sum = SUM_LEFT_OUT},
	{{"gpuprobe_gpu_memory_used_bytes", METRIC_GAUGE,
	  "Memory of a GPU in use by all processes, by NVML."},
	 GPUS(used_bytes)},
	{{"gpuprobe_gpu_memory_total_bytes", METRIC_GAUGE, "Memory of a GPU, by NVML."},
	 GPUS(total_bytes)},
	{{"gpuprobe_process_gpu_memory_bytes", METRIC_GAUGE,
	  "Memory of a GPU in use by a process, by NVML."},
	 GPUS_OF(used_bytes)},
	{{"gpuprobe_device_memory_untracked_bytes", METRIC_GAUGE,
	  "Memory of a GPU that NVML counts for a process and no allocation seen accounts for: "
	  "context,"
	  " code, libraries."},
	 GPUS_OF(untracked_bytes)},
	{{"gpuprobe_process_since_attach", METRIC_GAUGE,
	  "Processes that were there before gpuprobe, 1 of each: what they did, allocated and made "
	  "until then is in none of their"
	  " series."},
	 .process = write_since_attach},
};

static const struct metric unfollowed_metrics[] = {
	{{"gpuprobe_unfollowed_calls", METRIC_COUNTER,
	  "Calls whose return was not followed, since their thread had switched stacks inside a "
	  "call or by --no-return-probes: results and"
	  " durations are unknown, and memory, copies and waits are without them."},
	 UNFOLLOWED(calls)},
	{{"gpuprobe_unfollowed_allocated_bytes", METRIC_COUNTER,
	  "Bytes that allocations among these calls asked for."},
	 UNFOLLOWED(allocated_bytes)},
};

static bool has_unfollowed(const struct metrics_page *page)
{
	for (size_t i = 0; i < page->process_count; i++)
		if (page->processes[i]->unfollowed.calls)
			return true;
	return false;
}

void process_series__write(struct metrics_page *page)
{
	metrics_page__write(page, metrics, METRIC_COUNT(metrics));
	if (has_unfollowed(page))
		metrics_page__write(page, unfollowed_metrics, METRIC_COUNT(unfollowed_metrics));
}
