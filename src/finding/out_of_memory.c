// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lack of memory, and who holds it: calls that failed for lack of memory, and devices that are
 * nearly full while more and more is taken. A process that takes nearly everything at startup and
 * then stays constant, as servers do, is fine.
 */
#include <errno.h>
#include <stdio.h>

#include "base/quantity.h"
#include "base/saturate.h"
#include "finding/history.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "api/api.h"
#include "model/devices.h"
#include "model/oom.h"

#define OUT_OF_MEMORY 2 /* same code in both layers */
#define REPORT_TEXT 320

/* --- memory holders --- */

struct holders {
	char text[256];
};

/* "of the 79.6 GiB of GPU 0, 78.9 GiB were in use: 70.0 GiB by this process, …" */
static struct holders describe(const struct memory_holding *holding)
{
	struct holders holders;
	size_t size = sizeof(holders.text), at;
	const char *before = ": ";

	at = (size_t)snprintf(holders.text, size, "of the %s of GPU %s, %s were in use",
			      quantity__bytes((double)holding->total).text, holding->label,
			      quantity__bytes((double)holding->used).text);
	if (holding->own != GPU_UNKNOWN_BYTES && at < size) {
		at += (size_t)snprintf(holders.text + at, size - at, "%s%s by this process", before,
				       quantity__bytes((double)holding->own).text);
		before = ", ";
	}
	if (holding->largest_pid && at < size) {
		at += (size_t)snprintf(holders.text + at, size - at, "%s%s by process %d (%.15s)",
				       before, quantity__bytes((double)holding->largest).text,
				       holding->largest_pid, holding->largest_comm);
		before = ", ";
	}
	/* "others" alone would say nothing. */
	if (before[0] == ',' && holding->others && at < size)
		snprintf(holders.text + at, size - at, ", %s by others",
			 quantity__bytes((double)holding->others).text);
	return holders;
}

static void add_holding(struct finding *finding, const struct memory_holding *holding)
{
	finding__number(finding, "device_total", (double)holding->total, UNIT_BYTES);
	finding__number(finding, "device_used", (double)holding->used, UNIT_BYTES);
	if (holding->own != GPU_UNKNOWN_BYTES)
		finding__number(finding, "by_process", (double)holding->own, UNIT_BYTES);
	if (holding->largest_pid) {
		finding__number(finding, "largest_other_pid", holding->largest_pid, UNIT_COUNT);
		finding__number(finding, "by_largest_other", (double)holding->largest, UNIT_BYTES);
	}
}

/* --- oom --- */

struct shortage {
	const struct failure *most; /* the function that failed most often */
	uint64_t calls;
	bool of_device; /* not only of host memory */
};

static bool is_of_host(const struct failure *failure)
{
	int row = api__find(failure->function, API_NEWEST);
	const struct function_desc *desc = row < 0 ? NULL : &api_functions[row].desc;

	return desc && desc->operation == OP_ALLOC &&
	       (desc->kind == MEMORY_HOST || desc->kind == MEMORY_REGISTERED);
}

static void sum_up(const struct process *process, struct shortage *shortage)
{
	*shortage = (struct shortage){0};
	for (size_t i = 0; i < process->failure_count; i++) {
		const struct failure *failure = &process->failures[i];

		if (failure->code != OUT_OF_MEMORY)
			continue;
		shortage->calls += failure->count;
		shortage->of_device = shortage->of_device || !is_of_host(failure);
		if (!shortage->most || failure->count > shortage->most->count)
			shortage->most = failure;
	}
}

static uint64_t live_on_devices(const struct process *process)
{
	uint64_t bytes = 0;

	if (process->ended)
		return process->live_at_exit_bytes;
	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		if (memory_kind__is_device(kind))
			saturate__add(&bytes, process->memory[kind].live_bytes);
	return bytes;
}

/* What the latest out-of-memory report of the process says, in brief. */
static void describe_report(const struct oom *report, char *text, size_t size)
{
	snprintf(text, size, "the out-of-memory report: %s asked for%s%s, likely cause: %s",
		 quantity__bytes((double)report->bytes).text, report->line[0] ? " at " : "",
		 report->line, oom__cause_name(report->cause));
}

/*
 * How full the device was at the reading at which it was fullest. If that was less than half, NVML
 * was read too early or too late, or the call requested too much at once.
 */
static int report_oom(const struct finding_input *input, const struct process *process,
		      const struct shortage *shortage, struct finding *finding)
{
	struct memory_holding holding;
	uint64_t live = live_on_devices(process);
	struct holders holders = {""};
	const struct oom *report = oom__latest(input->model, process);
	char own[96] = "", part[64] = "", told[REPORT_TEXT] = "";

	if (shortage->of_device &&
	    device_history__fullest(findings__history(input->state)->devices, process, NULL,
				    &holding) &&
	    holding.used >= holding.total / 2) {
		add_holding(finding, &holding);
		holders = describe(&holding);
	}
	finding__number(finding, "live_bytes", (double)live, UNIT_BYTES);
	if (report) {
		finding__number(finding, "requested", (double)report->bytes, UNIT_BYTES);
		describe_report(report, told, sizeof(told));
	}
	if (shortage->of_device)
		snprintf(own, sizeof(own), "; the process has %s allocated on devices%s",
			 quantity__bytes((double)live).text, process->ended ? " at its end" : "");
	if (shortage->most->count < shortage->calls)
		snprintf(part, sizeof(part), ", %s of them",
			 quantity__amount((double)shortage->most->count).text);
	return finding__evidence(
		finding, "%s call%s failed for want of memory%s%s %s (%s)%s%s%s%s%s",
		quantity__amount((double)shortage->calls).text, shortage->calls == 1 ? "" : "s",
		part, part[0] ? "" : (shortage->calls == 1 ? "," : ", all of them"),
		shortage->most->function, shortage->most->error ? shortage->most->error : "2", own,
		holders.text[0] ? "; when the device was fullest, " : "", holders.text,
		told[0] ? "; " : "", told);
}

/* A framework's own limit: no call of CUDA has failed, and only the report knows. */
static int add_limited(const struct finding_input *input, const struct process *process,
		       const struct oom *report, struct finding_list *out)
{
	struct finding *finding = finding_list__add(out, input, process);
	char text[REPORT_TEXT];

	if (!finding || finding__subject(finding, "PyTorch"))
		return -ENOMEM;
	finding->weight = (double)process->out_of_memory;
	finding__number(finding, "calls", (double)process->out_of_memory, UNIT_COUNT);
	finding__number(finding, "requested", (double)report->bytes, UNIT_BYTES);
	describe_report(report, text, sizeof(text));
	return finding__evidence(finding, "PyTorch failed to allocate, and no call of CUDA did; %s",
				 text);
}

static int detect_oom(const struct finding_input *input, const struct process *process,
		      struct finding_list *out)
{
	const struct oom *report = oom__latest(input->model, process);
	struct shortage shortage;
	struct finding *finding;
	int row;

	sum_up(process, &shortage);
	if (!shortage.calls && report && (double)process->out_of_memory >= input->thresholds[0])
		return add_limited(input, process, report, out);
	if (!shortage.calls || (double)shortage.calls < input->thresholds[0])
		return 0;
	finding = finding_list__add(out, input, process);
	if (!finding || finding__subject(finding, "%s", shortage.most->function))
		return -ENOMEM;
	finding->weight = (double)shortage.calls;
	finding__number(finding, "calls", (double)shortage.calls, UNIT_COUNT);
	row = api__find(shortage.most->function, API_NEWEST);
	if (row >= 0)
		finding->stack = site_lookup__of_failure(process, (size_t)row, OUT_OF_MEMORY);
	return report_oom(input, process, &shortage, finding);
}

const struct finding_kind oom_kind = {
	.id = "oom",
	.severity = SEVERITY_CRITICAL,
	.title = "an allocation failed for want of memory",
	.advice = "First see which processes hold the memory: the evidence names the largest, and "
		  "the out-of-memory report on standard error (--oom-dir DIR keeps it in a file) "
		  "the call sites, what grew, and the likely cause. If it is other processes, end "
		  "or move them; a process that is missing from nvidia-smi's list may still run "
		  "in another container. If it is this one: use a smaller batch, free before "
		  "allocating rather than after, and look for leak-growing and fragmentation "
		  "among the findings. In PyTorch: gradient accumulation, activation "
		  "checkpointing, torch.no_grad() for inference, "
		  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True if much is reserved and not "
		  "allocated. When cudaMalloc fails, PyTorch's caching allocator frees its unused "
		  "blocks and tries again: if the program continued, that is what happened, and "
		  "each time costs a synchronisation. Pinned host memory (cudaMallocHost, "
		  "cudaHostRegister) is limited by the machine's memory, or that of the container "
		  "(ulimit -l, cgroup).",
	.thresholds =
		{
			{"calls", 1, UNIT_COUNT, "minimum failed allocations"},
		},
	.detect = detect_oom,
};

/* --- oom-near --- */

#define MOST_FREE 0
#define LEAST_GROWTH 1

/* `growth` is that of the process; without a process, that of all users of the GPU. */
static int add_near(const struct finding_input *input, const struct process *process,
		    const struct memory_holding *holding, const struct device_growth *growth,
		    struct finding_list *out)
{
	struct finding *finding = finding_list__add(out, input, process);
	uint64_t free_bytes = holding->total > holding->used ? holding->total - holding->used : 0;
	double free_share = (double)free_bytes / (double)holding->total;
	bool ended = process && process->ended;

	if (!finding || finding__subject(finding, "GPU %s", holding->label))
		return -ENOMEM;
	finding->weight = 1 - free_share;
	finding__number(finding, "free", (double)free_bytes, UNIT_BYTES);
	finding__number(finding, "free_share", free_share, UNIT_SHARE);
	finding__number(finding, "growth", (double)growth->bytes, UNIT_BYTES);
	finding__number(finding, "growth_time", (double)growth->span_ns, UNIT_NS);
	add_holding(finding, holding);
	return finding__evidence(
		finding, "%s%s; %s (%s) %s left, and %s took %s more within %s%s",
		ended ? "when the device was fullest, " : "", describe(holding).text,
		quantity__bytes((double)free_bytes).text, quantity__share(free_share).text,
		ended ? "were" : "are", process ? "this process" : "other processes",
		quantity__bytes((double)growth->bytes).text,
		quantity__time((double)growth->span_ns).text, ended ? " before its end" : "");
}

static bool is_full(const struct finding_input *input, uint64_t total, uint64_t used)
{
	return (double)total - (double)used < input->thresholds[MOST_FREE] * (double)total;
}

/* Too little is left, and enough was taken. */
static bool is_near(const struct finding_input *input, const struct memory_holding *holding,
		    const struct device_growth *growth)
{
	return growth->grows &&
	       (double)growth->bytes >= input->thresholds[LEAST_GROWTH] * (double)holding->total &&
	       is_full(input, holding->total, holding->used);
}

/* An ended process holds no memory, so the time at which the device was fullest counts. */
static bool find_holding(const struct finding_input *input, const struct gpu *gpu,
			 const struct process *process, struct memory_holding *holding)
{
	if (process && process->ended)
		return device_history__fullest(findings__history(input->state)->devices, process,
					       gpu, holding);
	return memory_holding__of(input->model, gpu, process, holding);
}

/* Judges what one process takes of the GPU. 1: a finding was added. */
static int detect_process(const struct finding_input *input, const struct gpu *gpu,
			  const struct process *process, struct finding_list *out)
{
	struct memory_holding holding;
	struct device_growth growth;
	int ret;

	/* The cheap test comes first, since there may be thousands of processes. */
	if (!process->ended && !is_full(input, gpu->total_bytes, gpu->used_bytes))
		return 0;
	for (size_t i = 0; i < process->device_count; i++) {
		uint8_t device = process->devices[i].device;

		if (device_history__gpu(input->model, process, device) != gpu)
			continue;
		device_history__judge_process(findings__history(input->state)->devices, process,
					      device, &growth);
		if (!growth.grows || !find_holding(input, gpu, process, &holding) ||
		    !is_near(input, &holding, &growth))
			continue;
		ret = add_near(input, process, &holding, &growth, out);
		return ret ? ret : 1;
	}
	return 0;
}

static int detect_gpu(const struct finding_input *input, const struct gpu *gpu,
		      struct finding_list *out)
{
	struct memory_holding holding;
	struct device_growth growth;
	bool reported = false;

	for (size_t i = 0; i < input->model->process_count; i++) {
		int ret = detect_process(input, gpu, &input->model->processes[i], out);

		if (ret < 0)
			return ret;
		reported = reported || ret;
	}
	if (!find_holding(input, gpu, NULL, &holding))
		return 0;
	device_history__judge_gpu(findings__history(input->state)->devices, gpu, &growth);
	if (is_full(input, holding.total, holding.used))
		finding_list__follow(out, input, reported || growth.known,
				     site_lookup__followed_ns(input, NULL, growth.first_ns),
				     growth.needed_ns);
	/* Otherwise a process that is not watched takes it. */
	if (reported)
		return 0;
	return is_near(input, &holding, &growth) ? add_near(input, NULL, &holding, &growth, out) :
						   0;
}

static int detect_oom_near(const struct finding_input *input, struct finding_list *out)
{
	int ret = 0;

	/* For a divided GPU its instances are judged instead. */
	for (size_t i = 0; i < input->model->gpu_count && !ret; i++)
		if (!input->model->gpus[i].divided)
			ret = detect_gpu(input, &input->model->gpus[i], out);
	return ret;
}

const struct finding_kind oom_near_kind = {
	.id = "oom-near",
	.severity = SEVERITY_WARNING,
	.title = "the memory of a device is nearly used up",
	.advice = "Find out which process takes more: the finding names the largest holders. "
		  "leak-growing, if it is found too, names the call site, and gpuprobe memleak "
		  "its allocations. If the growth is intended, stop it before the device is full: "
		  "a smaller batch, activation checkpointing, a limit on the cache. In PyTorch "
		  "torch.cuda.set_per_process_memory_fraction() makes one process fail before the "
		  "others do, and PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True leaves less "
		  "unused between its blocks. In inference servers lower the share for the "
		  "key-value cache. If other processes hold the memory, move them, or this one, "
		  "to another device.",
	.thresholds =
		{
			{"free", 0.05, UNIT_SHARE, "maximum share of memory that is free"},
			{"growth", 0.01, UNIT_SHARE,
			 "minimum share of memory that was taken recently"},
		},
	.detect_all = detect_oom_near,
};
