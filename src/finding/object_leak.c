// SPDX-License-Identifier: BSD-2-Clause
/*
 * Objects other than memory that one call site makes again and again and nothing destroys. Judged
 * by the number of live ones, with the evidence of leak-growing. Caches are bounded, often at some
 * thousands, so a few objects count only if they hold memory.
 */
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "finding/history.h"
#include "finding/rules.h"
#include "finding/site_lookup.h"
#include "model/object_costs.h"
#include "model/object_sites.h"

#define LEAST_OBJECTS 0
#define LEAST_BYTES 1

/* A device that is full sooner is a critical finding. */
#define SOON_NS (3600 * NS_PER_S)

#define TEXT_SIZE 160

struct object_leak {
	const struct process *process;
	const struct object_site *site;
	struct growth_evidence growth;
	struct object_cost cost;
	double held;	/* bytes in live objects; 0: none or unknown */
	double full_ns; /* until the device is full; 0: unknown, or never */
};

/* The only GPU on which the process has objects of this kind; NULL: unknown, or several. */
static const struct gpu *only_gpu(const struct finding_input *input, const struct process *process,
				  uint8_t kind)
{
	uint8_t device = DEVICE_UNKNOWN;

	for (size_t i = 0; i < process->device_count; i++) {
		if (!process->devices[i].objects[kind])
			continue;
		if (device != DEVICE_UNKNOWN)
			return NULL;
		device = process->devices[i].device;
	}
	return device == DEVICE_UNKNOWN ? NULL : device_history__gpu(input->model, process, device);
}

static double full_ns(const struct finding_input *input, const struct object_leak *leak)
{
	const struct gpu *gpu = only_gpu(input, leak->process, leak->site->kind);
	double rate = leak->growth.slope * leak->cost.bytes;

	if (!gpu || gpu->total_bytes == GPU_UNKNOWN_BYTES || gpu->used_bytes == GPU_UNKNOWN_BYTES ||
	    gpu->used_bytes > gpu->total_bytes || rate <= 0)
		return 0;
	return (double)(gpu->total_bytes - gpu->used_bytes) / rate * (double)NS_PER_S;
}

/* Whether the objects certainly take memory, rather than none. */
static bool takes_memory(const struct object_cost *cost)
{
	return cost->known && cost->bytes > cost->error;
}

static void know(const struct finding_input *input, const struct process *process,
		 const struct object_site *site, struct object_leak *leak)
{
	const struct growth *growth = findings__history(input->state)->growth;

	*leak = (struct object_leak){.process = process, .site = site};
	growth__judge_objects(growth, process, site, &leak->growth);
	leak->cost = object_costs__of(growth__object_costs(growth), process, site->kind);
	if (!takes_memory(&leak->cost))
		return;
	leak->held = leak->cost.bytes * (double)site->live;
	if (!process->ended)
		leak->full_ns = full_ns(input, leak);
}

static enum finding_severity severity_of(const struct object_leak *leak)
{
	if (leak->cost.known && !leak->held)
		return SEVERITY_INFO;
	return leak->full_ns && leak->full_ns < (double)SOON_NS ? SEVERITY_CRITICAL :
								  SEVERITY_WARNING;
}

static void print_cost(char *text, const struct object_leak *leak)
{
	const struct object_cost *cost = &leak->cost;

	if (cost->included)
		snprintf(text, TEXT_SIZE, "their memory cannot be told from that of other objects");
	else if (!cost->known)
		snprintf(text, TEXT_SIZE, "the memory of each is unknown");
	else if (!leak->held)
		snprintf(text, TEXT_SIZE, "each takes at most %s of device memory (estimated)",
			 quantity__bytes(cost->bytes + cost->error).text);
	else
		snprintf(text, TEXT_SIZE, "each takes %s ± %s (estimated), all %s",
			 quantity__bytes(cost->bytes).text, quantity__bytes(cost->error).text,
			 quantity__bytes(leak->held).text);
}

static void add_numbers(struct finding *finding, const struct object_leak *leak)
{
	finding__number(finding, "live", (double)leak->site->live, UNIT_COUNT);
	if (leak->site->made >= leak->site->live)
		finding__number(finding, "made", (double)leak->site->made, UNIT_COUNT);
	finding__number(finding, "growth", (double)leak->growth.grown, UNIT_COUNT);
	finding__number(finding, "growth_rate", leak->growth.slope, UNIT_PER_SECOND);
	finding__number(finding, "growth_time", (double)leak->growth.grown_ns, UNIT_NS);
	if (leak->cost.known) {
		finding__number(finding, "bytes_each", leak->cost.bytes, UNIT_BYTES);
		finding__number(finding, "bytes_each_error", leak->cost.error, UNIT_BYTES);
	}
	if (leak->full_ns)
		finding__number(finding, "full_in", leak->full_ns, UNIT_NS);
}

static int add(const struct finding_input *input, const struct object_leak *leak,
	       struct finding_list *out)
{
	struct finding *finding = finding_list__add(out, input, leak->process);
	const char *plural = object_kind__plural(leak->site->kind);
	char cost[TEXT_SIZE], full[TEXT_SIZE] = "";
	int ret;

	if (!finding)
		return -ENOMEM;
	finding->stack = leak->site->stack;
	finding->severity = severity_of(leak);
	finding->weight = leak->held ? leak->held : (double)leak->site->live;
	add_numbers(finding, leak);
	print_cost(cost, leak);
	if (leak->full_ns)
		snprintf(full, sizeof(full), "; at this pace its device is full in %s",
			 quantity__time(leak->full_ns).text);
	ret = finding__subject(finding, "%s", plural);
	if (ret)
		return ret;
	return finding__evidence(finding,
				 "live %s of this call site grew by %s within %s (%s a minute), to "
				 "%s%s; %s%s",
				 plural, quantity__amount((double)leak->growth.grown).text,
				 quantity__time((double)leak->growth.grown_ns).text,
				 quantity__amount(leak->growth.slope * 60).text,
				 quantity__amount((double)leak->site->live).text,
				 leak->process->ended ? " when the process ended" : "", cost, full);
}

static int detect(const struct finding_input *input, const struct process *process,
		  const struct object_site *site, struct finding_list *out)
{
	struct object_leak leak;

	know(input, process, site, &leak);
	if ((double)site->live < input->thresholds[LEAST_OBJECTS] &&
	    leak.held < input->thresholds[LEAST_BYTES])
		return 0;
	finding_list__follow(out, input,
			     leak.growth.verdict != GROWTH_UNKNOWN || leak.growth.replaces,
			     site_lookup__followed_ns(input, process, leak.growth.first_ns),
			     GROWTH_LEAST_NS(findings__history(input->state)->window_ns));
	return leak.growth.verdict == GROWTH_GROWING ? add(input, &leak, out) : 0;
}

static int detect_object_leak(const struct finding_input *input, const struct process *process,
			      struct finding_list *out)
{
	int ret = 0;

	for (size_t i = 0; i < process->object_site_count && !ret; i++)
		ret = detect(input, process, &process->object_sites[i], out);
	return ret;
}

const struct finding_kind object_leak_kind = {
	.id = "object-leak",
	.severity = SEVERITY_WARNING,
	.title = "objects other than memory are made and never destroyed",
	.advice = "Objects take device memory that no allocation shows. Make them once and reuse "
		  "them. An executable graph for each request or shape: keep it by shape and "
		  "launch it again, update it with cudaGraphExecUpdate, or call "
		  "cudaGraphExecDestroy; in PyTorch look for torch.cuda.CUDAGraph() and "
		  "torch.compile with ever new shapes. A module or library that is loaded for "
		  "each request: load it at startup, or unload it with cuModuleUnload or "
		  "cuLibraryUnload; generated kernels belong into a cache with a limit. Events "
		  "and streams: take them from a pool, or destroy them on each path, error paths "
		  "too (cudaEventDestroy, cudaStreamDestroy). Handles of libraries, such as "
		  "cublasCreate, make streams, events and memory: make one for each thread, not "
		  "for each call. The driver keeps the memory of destroyed objects for later "
		  "ones, so a peak costs until the process ends. Bytes each are estimated from "
		  "NVML's figure of the process, from 50 objects on. A cache with a limit looks "
		  "the same until it is full.",
	.thresholds =
		{
			{"objects", 4096, UNIT_COUNT, "minimum live objects, or"},
			{"bytes", 67108864, UNIT_BYTES, "minimum estimated memory in them"},
		},
	.detect = detect_object_leak,
};
