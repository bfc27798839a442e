// SPDX-License-Identifier: BSD-2-Clause
// Who the processes are, and the memory of the GPUs, on the metrics page, see series.h.
#include <stdio.h>

#include "model/gpu_label.h"
#include "output/metrics/series.h"

static const struct metric_family info = {
	"gpuprobe_process",
	METRIC_INFO,
	"Who a process is: parent, user, container and pod, and the pid in its own namespace.",
};
static const struct metric_family used_bytes = {
	"gpuprobe_gpu_memory_used_bytes",
	METRIC_GAUGE,
	"Memory of a GPU in use by all processes, by NVML.",
};
static const struct metric_family total_bytes = {
	"gpuprobe_gpu_memory_total_bytes",
	METRIC_GAUGE,
	"Memory of a GPU, by NVML.",
};
static const struct metric_family process_bytes = {
	"gpuprobe_process_gpu_memory_bytes",
	METRIC_GAUGE,
	"Memory of a GPU in use by a process, by NVML.",
};
static const struct metric_family untracked_bytes = {
	"gpuprobe_device_memory_untracked_bytes",
	METRIC_GAUGE,
	"Memory of a GPU that NVML counts for a process and no allocation seen accounts for: context,"
	" code, libraries.",
};

static const struct metric_family since_attach = {
	"gpuprobe_process_since_attach",
	METRIC_GAUGE,
	"Processes that were there before gpuprobe, 1 of each: what they did, allocated and made until then is in none of their"
	" series.",
};

static const struct metric_family unfollowed = {
	"gpuprobe_unfollowed_calls",
	METRIC_COUNTER,
	"Calls whose return was not followed, since their thread had switched stacks inside a call or by --no-return-probes: results and"
	" durations are unknown, and memory, copies and waits are without them.",
};
static const struct metric_family unfollowed_bytes = {
	"gpuprobe_unfollowed_allocated_bytes",
	METRIC_COUNTER,
	"Bytes that allocations among these calls asked for.",
};

static void label_number(struct exposition_writer *w, const char *name, int32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	/* No process has the pid 0. */
	exposition__label(w, name, number ? text : "unknown");
}

static void write_info(struct metrics_page *page)
{
	struct exposition_writer *w = &page->writer;

	exposition__family(w, &info);
	for (size_t i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];

		if (!p->identified)
			continue;
		metrics_page__sample(w, p);
		label_number(w, "ppid", p->parent);
		exposition__label(w, "user", p->user);
		exposition__label(w, "container", p->cgroup_known ? p->container : "unknown");
		exposition__label(w, "pod", p->cgroup_known ? p->pod : "unknown");
		label_number(w, "ns_pid", p->namespace_pid);
		exposition__u64(w, 1);
	}
}

static void label_gpu(struct exposition_writer *w, const struct gpu *gpu)
{
	char label[GPU_LABEL_SIZE];

	gpu_label(gpu, label);
	exposition__label(w, "gpu", label);
	exposition__label(w, "uuid", gpu->uuid);
}

static void write_machine(struct metrics_page *page, const struct metric_family *family)
{
	struct exposition_writer *w = &page->writer;

	exposition__family(w, family);
	for (size_t i = 0; i < page->model->gpu_count; i++) {
		const struct gpu *gpu = &page->model->gpus[i];
		uint64_t bytes = family == &used_bytes ? gpu->used_bytes : gpu->total_bytes;

		if (bytes == GPU_UNKNOWN_BYTES)
			continue;
		exposition__sample(w);
		label_gpu(w, gpu);
		exposition__label(w, "name", gpu->name);
		exposition__u64(w, bytes);
	}
}

static void write_processes(struct metrics_page *page, const struct metric_family *family)
{
	struct exposition_writer *w = &page->writer;

	exposition__family(w, family);
	for (size_t i = 0; i < page->process_count; i++) {
		const struct process *p = page->processes[i];

		for (size_t k = 0; k < p->gpu_count; k++) {
			const struct gpu *gpu = gpu_label__find(page->model, &p->gpus[k]);
			uint64_t bytes = family == &process_bytes ? p->gpus[k].used_bytes :
								    p->gpus[k].untracked_bytes;

			if (!gpu || bytes == GPU_UNKNOWN_BYTES)
				continue;
			metrics_page__sample(w, p);
			label_gpu(w, gpu);
			exposition__u64(w, bytes);
		}
	}
}

static void write_late(struct metrics_page *page)
{
	exposition__family(&page->writer, &since_attach);
	for (size_t i = 0; i < page->process_count; i++) {
		if (!page->processes[i]->since_attach)
			continue;
		metrics_page__sample(&page->writer, page->processes[i]);
		exposition__u64(&page->writer, 1);
	}
}

static bool has_unfollowed(const struct metrics_page *page)
{
	for (size_t i = 0; i < page->process_count; i++)
		if (page->processes[i]->unfollowed.calls)
			return true;
	return false;
}

static void write_unfollowed(struct metrics_page *page, const struct metric_family *family)
{
	struct exposition_writer *w = &page->writer;

	exposition__family(w, family);
	for (size_t i = 0; i < page->process_count; i++) {
		const struct unfollowed_totals *totals = &page->processes[i]->unfollowed;

		if (!totals->calls)
			continue;
		metrics_page__sample(w, page->processes[i]);
		exposition__u64(w, family == &unfollowed ? totals->calls : totals->allocated_bytes);
	}
}

void process_series__write(struct metrics_page *page)
{
	write_info(page);
	write_machine(page, &used_bytes);
	write_machine(page, &total_bytes);
	write_processes(page, &process_bytes);
	write_processes(page, &untracked_bytes);
	write_late(page);
	if (has_unfollowed(page)) {
		write_unfollowed(page, &unfollowed);
		write_unfollowed(page, &unfollowed_bytes);
	}
}
