// SPDX-License-Identifier: BSD-2-Clause
// Describes an allocation that failed: who held the memory, and the likely cause. See oom.h.
#include "model/oom.h"

#include <string.h>

#include "base/saturate.h"
#include "model/at_failure.h"
#include "model/devices.h"
#include "model/tensors.h"

#define MANY_PROCESSES 4
/* A leak is many allocations: a cache that is filled at startup is a few large ones. */
#define LEAK_ALLOCATIONS 8
#define KEPT_OF 10 /* one freed in so many */

const char *oom__cause_id(enum oom_cause cause)
{
	static const char *const ids[OOM_CAUSES] = {
		[OOM_UNKNOWN] = "unknown",     [OOM_LARGE_REQUEST] = "large-request",
		[OOM_LEAK] = "leak",	       [OOM_FRAGMENTATION] = "fragmentation",
		[OOM_NEIGHBOUR] = "neighbour", [OOM_MANY_PROCESSES] = "many-processes",
		[OOM_LIMIT] = "limit",	       [OOM_OWN_MEMORY] = "own-memory",
	};

	return ids[cause];
}

const char *oom__cause_name(enum oom_cause cause)
{
	static const char *const names[OOM_CAUSES] = {
		[OOM_UNKNOWN] = "unknown",
		[OOM_LARGE_REQUEST] = "one large request",
		[OOM_LEAK] = "a leak",
		[OOM_FRAGMENTATION] = "fragmentation",
		[OOM_NEIGHBOUR] = "another process",
		[OOM_MANY_PROCESSES] = "many other processes",
		[OOM_LIMIT] = "a limit inside PyTorch",
		[OOM_OWN_MEMORY] = "the memory of this process",
	};

	return names[cause];
}

const struct oom *oom__latest(const struct model *model, const struct process *process)
{
	for (size_t i = model->oom_count; i > 0; i--)
		if (model->ooms[i - 1].pid == process->pid &&
		    model->ooms[i - 1].start_ns == process->start_ns)
			return &model->ooms[i - 1];
	return NULL;
}

/* --- who holds it --- */

/* The process's entry for its device of that number. With one GPU the number may be unknown. */
static const struct process_gpu *find_gpu(const struct process *process, uint8_t device)
{
	for (size_t i = 0; i < process->gpu_count; i++)
		if (process->gpus[i].ordinal == device)
			return &process->gpus[i];
	return process->gpu_count == 1 ? &process->gpus[0] : NULL;
}

/* What the process held at the failure, if it is known; NULL: what it holds now must do. */
static const struct at_failure *held_then(const struct oom *oom, const struct process *process)
{
	const struct at_failure *held = process->at_failure;
	uint64_t apart_ns;

	if (!held)
		return NULL;
	apart_ns = held->time_ns > oom->time_ns ? held->time_ns - oom->time_ns :
						  oom->time_ns - held->time_ns;
	return apart_ns < LATE_FREES_NS ? held : NULL;
}

static uint64_t tracked_now(const struct process *process, uint8_t device)
{
	uint64_t bytes = 0;

	if (process->ended)
		return process->live_at_exit_bytes;
	for (size_t i = 0; i < process->device_count; i++)
		if (process->devices[i].device == device || process->device_count == 1)
			return process->devices[i].live_bytes;
	for (int kind = 0; kind < MEMORY_KINDS; kind++)
		if (memory_kind__is_device(kind))
			saturate__add(&bytes, process->memory[kind].live_bytes);
	return bytes;
}

static uint64_t tracked_bytes(const struct process *process, uint8_t device,
			      const struct at_failure *held)
{
	uint64_t bytes = 0;

	if (!held)
		return tracked_now(process, device);
	for (size_t i = 0; i < AT_FAILURE_DEVICES; i++)
		if (i == device || process->device_count <= 1)
			saturate__add(&bytes, held->held_bytes[i]);
	return bytes;
}

/* The call sites that held memory then: of tensors, if it had some, or of memory from CUDA. */
static const struct live_site *sites_of(const struct process *process,
					const struct at_failure *held, size_t *count)
{
	if (!held)
		return site_history__sites(process, count);
	if (held->tensors && held->tensors->live_site_count) {
		*count = held->tensors->live_site_count;
		return held->tensors->live_sites;
	}
	*count = held->site_count;
	return held->sites;
}

/* Keeps the largest ones, in order. */
static void add_neighbour(struct oom *oom, const struct process *process, uint64_t bytes)
{
	size_t at = oom->neighbour_count < OOM_NEIGHBOURS ? oom->neighbour_count : OOM_NEIGHBOURS;
	struct oom_neighbour neighbour = {.pid = process->pid, .bytes = bytes};

	oom->neighbour_count++;
	while (at && oom->neighbours[at - 1].bytes < bytes)
		at--;
	if (at == OOM_NEIGHBOURS)
		return;
	memmove(&oom->neighbours[at + 1], &oom->neighbours[at],
		(OOM_NEIGHBOURS - 1 - at) * sizeof(*oom->neighbours));
	memcpy(neighbour.comm, process->comm, sizeof(neighbour.comm));
	memcpy(neighbour.user, process->user, sizeof(neighbour.user));
	memcpy(neighbour.container, process->container, sizeof(neighbour.container));
	oom->neighbours[at] = neighbour;
}

/*
 * Processes that gpuprobe does not watch, or that have not called since the attach, hold the rest.
 * NVML's answer names them.
 */
static void add_strangers(struct oom *oom, const struct gpu *gpu)
{
	uint64_t of_all = saturate__difference(oom->used, oom->own);

	if (oom->used == GPU_UNKNOWN_BYTES || oom->own == GPU_UNKNOWN_BYTES ||
	    of_all <= oom->others)
		return;
	if (gpu->stranger_count <= 1 && gpu->stranger)
		add_neighbour(oom, &(struct process){.pid = gpu->stranger}, of_all - oom->others);
	for (size_t i = 0; gpu->stranger_count > 1 && i < gpu->stranger_count; i++) {
		if (i < GPU_STRANGERS)
			add_neighbour(oom, &(struct process){.pid = gpu->strangers[i].pid},
				      gpu->strangers[i].bytes);
		else
			oom->neighbour_count++;
	}
	oom->others = of_all;
}

static void find_neighbours(struct oom *oom, const struct model *model,
			    const struct process *process, const struct gpu *gpu)
{
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *other = &model->processes[i];

		if (other == process || other->ended)
			continue;
		for (size_t k = 0; k < other->gpu_count; k++) {
			if (gpu_label__find(model, &other->gpus[k]) != gpu ||
			    other->gpus[k].used_bytes == GPU_UNKNOWN_BYTES ||
			    !other->gpus[k].used_bytes)
				continue;
			add_neighbour(oom, other, other->gpus[k].used_bytes);
			saturate__add(&oom->others, other->gpus[k].used_bytes);
		}
	}
	add_strangers(oom, gpu);
}

static void take_sites(struct oom *oom, const struct process *process,
		       const struct at_failure *held)
{
	const struct tensors *tensors = held ? held->tensors : process->tensors;
	size_t count;
	const struct live_site *sites = sites_of(process, held, &count);

	oom->site_count = count < OOM_SITES ? count : OOM_SITES;
	oom->more_sites = count - oom->site_count;
	if (oom->site_count)
		memcpy(oom->sites, sites, oom->site_count * sizeof(*sites));
	oom->as_of_failure = held;
	oom->late_frees_lost = held ? held->lost : 0;
	if (!tensors || !tensors->live_site_count)
		return;
	oom->of_tensors = true;
	oom->sites_estimated = process->tensors && process->tensors->is_sampled;
	oom->unused = tensors->segments.unused_bytes;
	oom->largest_hole = tensors->segments.largest_hole;
}

/*
 * Whether hardly any tensor of the site had been freed; false if unknown. Those made since the
 * failure count as freed.
 */
static bool keeps(const struct process *process, const struct live_site *site)
{
	const struct tensor_site *tensors =
		site && process->tensors ? tensors__site(process->tensors, site->stack) : NULL;

	return tensors && site->count >= tensors->counts.made - tensors->counts.made / KEPT_OF;
}

/* NVML was asked after the failure: the process may have freed memory since. */
static void raise_used(struct oom *oom)
{
	uint64_t since;

	if (oom->own == GPU_UNKNOWN_BYTES || oom->own >= oom->tracked)
		return;
	since = oom->tracked - oom->own;
	oom->own = oom->tracked;
	if (oom->used != GPU_UNKNOWN_BYTES)
		oom->used = saturate__sum(oom->used, since);
	if (oom->used != GPU_UNKNOWN_BYTES && oom->used > oom->total)
		oom->used = oom->total;
}

void oom__describe(struct oom *oom, const struct model *model, const struct process *process,
		   uint8_t device, const struct site_history *history)
{
	const struct process_gpu *used = find_gpu(process, device);
	const struct gpu *gpu = used ? gpu_label__find(model, used) : NULL;
	const struct at_failure *held = held_then(oom, process);
	size_t count;
	const struct live_site *sites = sites_of(process, held, &count);

	oom->pid = process->pid;
	oom->start_ns = process->start_ns;
	memcpy(oom->comm, process->comm, sizeof(oom->comm));
	oom->ended = process->ended;
	oom->total = oom->used = oom->own = GPU_UNKNOWN_BYTES;
	oom->tracked = tracked_bytes(process, device, held);
	if (used && !process->ended)
		oom->own = used->used_bytes;
	if (gpu) {
		gpu_label(gpu, oom->gpu);
		oom->total = gpu->total_bytes;
		/* NVML's figure is from after the end of an ended process. */
		if (!process->ended)
			oom->used = gpu->used_bytes;
		raise_used(oom);
		find_neighbours(oom, model, process, gpu);
	}
	take_sites(oom, process, held);
	oom->increase = site_history__largest(history, process, sites, count,
					      process->ended ? process->ended_ns : model->now_ns);
	oom->increase_kept = keeps(process, oom->increase.site);
	oom->cause = oom__judge(oom);
}

/* --- the cause --- */

/* Others hold at least as much as the process, and enough for the request. */
static bool is_of_others(const struct oom *oom)
{
	uint64_t own = oom->own != GPU_UNKNOWN_BYTES ? oom->own : oom->tracked;

	return oom->others && oom->others >= own && oom->others >= oom->bytes;
}

/*
 * Free bytes of the GPU, at most; its total is known. If NVML could not be asked in time, since the
 * process has ended, what gpuprobe knows to be held counts.
 */
static uint64_t free_bytes(const struct oom *oom)
{
	uint64_t used = oom->used;

	if (used == GPU_UNKNOWN_BYTES) {
		used = oom->tracked;
		saturate__add(&used, oom->others);
	}
	return saturate__difference(oom->total, used);
}

enum oom_cause oom__judge(const struct oom *oom)
{
	const struct site_increase *increase = &oom->increase;
	bool knows_total = oom->total != GPU_UNKNOWN_BYTES && oom->total;
	bool leaks = increase->site && increase->count >= LEAK_ALLOCATIONS;

	if (knows_total && oom->bytes > oom->total)
		return OOM_LARGE_REQUEST;
	/* If a call of CUDA failed, the memory was taken: NVML's figure is of another time. */
	if (oom->of_framework && !oom->cuda_failed &&
	    (!knows_total || free_bytes(oom) >= oom->bytes))
		return OOM_LIMIT;
	if (oom->of_tensors && oom->unused >= oom->bytes && oom->largest_hole < oom->bytes)
		return OOM_FRAGMENTATION;
	if (is_of_others(oom))
		return oom->neighbour_count >= MANY_PROCESSES &&
				       oom->neighbours[0].bytes < oom->others / 2 ?
			       OOM_MANY_PROCESSES :
			       OOM_NEIGHBOUR;
	if (leaks && increase->bytes / 2 >= oom->bytes &&
	    (oom->increase_kept || increase->bytes >= oom->tracked / 10))
		return OOM_LEAK;
	if ((oom->tracked && oom->bytes >= oom->tracked) ||
	    (knows_total && oom->bytes >= oom->total / 4))
		return OOM_LARGE_REQUEST;
	return oom->tracked ? OOM_OWN_MEMORY : OOM_UNKNOWN;
}
