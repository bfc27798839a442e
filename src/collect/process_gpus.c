// SPDX-License-Identifier: BSD-2-Clause
// The GPUs of a process and its memory on them, see process_gpus.h.
#include "collect/process_gpus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "device/cuda_environment.h"
#include "device/visible_devices.h"

/* NVML and tallies this close together count as simultaneous */
#define TOGETHER_NS (100 * NS_PER_MS)

/*
 * The bytes that NVML counts for a process on a GPU beyond its tracked allocations.
 * GPU_UNKNOWN_BYTES if either is unknown, or if the allocations exceed NVML's count: then the two
 * were not taken at the same time.
 */
static uint64_t untracked_bytes(uint64_t nvml_used, uint64_t tracked)
{
	if (nvml_used == GPU_UNKNOWN_BYTES || tracked == GPU_UNKNOWN_BYTES || tracked > nvml_used)
		return GPU_UNKNOWN_BYTES;
	return nvml_used - tracked;
}

int process_gpus__report_uuid(struct process *process, int ordinal, const uint8_t uuid[16])
{
	struct device_uuid *grown;

	for (size_t i = 0; i < process->uuid_count; i++)
		if (process->uuids[i].ordinal == ordinal)
			return 0;
	grown = realloc(process->uuids, (process->uuid_count + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	process->uuids = grown;
	grown[process->uuid_count].ordinal = ordinal;
	memcpy(grown[process->uuid_count++].uuid, uuid, sizeof(grown->uuid));
	return 0;
}

/* Whether NVML sees the process on a GPU that its environment excludes. */
static bool is_elsewhere(const struct process *process, const struct visible_devices *visible,
			 const struct gpu_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->use_count; i++) {
		bool found = false;

		if (snapshot->uses[i].pid != process->pid)
			continue;
		for (size_t k = 0; k < visible->count && !found; k++)
			found = visible->gpu[k] == snapshot->uses[i].gpu ||
				visible->gpu[k] == GPU_NONE;
		if (!found)
			return true;
	}
	return false;
}

/*
 * On a divided GPU (MIG), calls report the whole GPU's UUID, although the process has an instance.
 */
static bool agree(const struct gpu_snapshot *snapshot, int by_environment, int reported)
{
	const struct gpu *part, *whole;

	if (by_environment == GPU_NONE || reported == GPU_NONE || by_environment == reported)
		return true;
	part = &snapshot->gpus[by_environment];
	whole = &snapshot->gpus[reported];
	return whole->divided && part->mig != GPU_NONE && part->index == whole->index;
}

/* Whether a call reported a device that contradicts the process's environment. */
static bool is_another(const struct process *process, const struct visible_devices *visible,
		       const struct gpu_snapshot *snapshot)
{
	for (size_t i = 0; i < process->uuid_count; i++) {
		const struct device_uuid *reported = &process->uuids[i];
		int gpu = visible_devices__by_uuid(reported->uuid, snapshot->gpus,
						   snapshot->gpu_count);

		if ((size_t)reported->ordinal >= visible->count ||
		    !agree(snapshot, visible->gpu[reported->ordinal], gpu))
			return true;
	}
	return false;
}

static void map_visible(struct process *process, const struct gpu_snapshot *snapshot,
			struct visible_devices *visible)
{
	*visible = (struct visible_devices){0};
	if (!process->environment)
		return;
	visible_devices__map(process->environment, snapshot->gpus, snapshot->gpu_count, visible);
	if (!visible->known ||
	    (!is_elsewhere(process, visible, snapshot) && !is_another(process, visible, snapshot)))
		return;
	/* The process has changed its variables, or cannot open all GPUs that it may see. */
	process->environment->known = false;
	*visible = (struct visible_devices){0};
}

/* A process's list of GPUs while it is built. */
struct gpu_list {
	struct process_gpu *gpus;
	size_t count;
};

static struct process_gpu *append(struct gpu_list *list, int ordinal, int index)
{
	struct process_gpu *gpu = &list->gpus[list->count++];

	*gpu = (struct process_gpu){
		.ordinal = ordinal,
		.gpu = index,
		.used_bytes = GPU_UNKNOWN_BYTES,
		.untracked_bytes = GPU_UNKNOWN_BYTES,
		.bytes_at_request = GPU_UNKNOWN_BYTES,
	};
	return gpu;
}

static void add_visible(struct gpu_list *list, const struct visible_devices *visible)
{
	for (size_t i = 0; i < visible->count; i++)
		append(list, (int)i, visible->gpu[i]);
}

static void add_reported(struct gpu_list *list, const struct process *process,
			 const struct gpu_snapshot *snapshot)
{
	size_t visible = list->count;

	for (size_t i = 0; i < process->uuid_count; i++) {
		const struct device_uuid *reported = &process->uuids[i];
		int gpu = visible_devices__by_uuid(reported->uuid, snapshot->gpus,
						   snapshot->gpu_count);

		if (visible == 0)
			append(list, reported->ordinal, gpu);
		else if (list->gpus[reported->ordinal].gpu == GPU_NONE)
			list->gpus[reported->ordinal].gpu = gpu;
	}
}

/* The only device that the process made calls for; -1 if there is none or more than one. */
static int only_device(const struct process *process)
{
	if (process->device_count != 1 || process->devices[0].device == DEVICE_UNKNOWN)
		return -1;
	return process->devices[0].device;
}

static void add_used(struct gpu_list *list, const struct process *process,
		     const struct gpu_snapshot *snapshot)
{
	size_t named = list->count, only = 0;
	struct process_gpu *gpu;

	for (size_t i = 0; i < snapshot->use_count; i++) {
		const struct gpu_use *use = &snapshot->uses[i];

		if (use->pid != process->pid)
			continue;
		for (gpu = list->gpus; gpu < list->gpus + named && gpu->gpu != use->gpu; gpu++)
			;
		if (gpu == list->gpus + named) {
			gpu = append(list, GPU_NONE, use->gpu);
			only = list->count - 1;
		}
		gpu->used_bytes = use->bytes;
	}
	/* If one device is used and NVML sees the process on one GPU, they are the same. */
	if (named == 0 && list->count == 1)
		list->gpus[only].ordinal = only_device(process);
}

/*
 * The process's live bytes on a device, or GPU_UNKNOWN_BYTES if they may not be all of its memory
 * there. Managed memory need not be on the device. Lost allocations, and those from before gpuprobe
 * started, are not counted.
 */
static uint64_t tracked_bytes(const struct model *model, const struct process *process, int ordinal)
{
	static const enum loss incomplete[] = {LOSS_ALLOCATION_MAP_FULL, LOSS_TALLY_MAP_FULL,
					       LOSS_NO_MEMORY, LOSS_THREAD_STORAGE,
					       LOSS_CALL_DEPTH};
	uint64_t bytes = 0;

	if (!(model->sections & SECTION_MEMORY) || process->since_attach || ordinal == GPU_NONE ||
	    process->memory[MEMORY_MANAGED].live_count)
		return GPU_UNKNOWN_BYTES;
	for (size_t i = 0; i < sizeof(incomplete) / sizeof(*incomplete); i++)
		if (model->lost[incomplete[i]])
			return GPU_UNKNOWN_BYTES;
	for (size_t i = 0; i < process->device_count; i++) {
		const struct device_totals *device = &process->devices[i];

		if (device->device == DEVICE_UNKNOWN && device->live_count)
			return GPU_UNKNOWN_BYTES;
		if (device->device == ordinal)
			bytes = device->live_bytes;
	}
	return bytes;
}

static uint64_t allocation_calls(const struct process *process, int ordinal)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < process->device_count; i++)
		if (process->devices[i].device == ordinal)
			calls = process->devices[i].allocations;
	return calls;
}

static const struct process_gpu *find_old(const struct process *process,
					  const struct process_gpu *gpu)
{
	for (size_t i = 0; i < process->gpu_count; i++)
		if (process->gpus[i].ordinal == gpu->ordinal && process->gpus[i].gpu == gpu->gpu)
			return &process->gpus[i];
	return NULL;
}

/*
 * With a new snapshot, computes the untracked bytes if the snapshot was taken together with the
 * tallies, or if nothing has been allocated or freed since NVML was queried for it; otherwise they
 * are unknown. Between snapshots they stay as they were.
 */
static void find_untracked(const struct gpu_reading *reading, const struct model *model,
			   const struct process *process, struct process_gpu *gpu)
{
	const struct process_gpu *old = find_old(process, gpu);
	uint64_t bytes = tracked_bytes(model, process, gpu->ordinal);
	uint64_t calls = allocation_calls(process, gpu->ordinal);
	bool unchanged = old && old->bytes_at_request == bytes && old->calls_at_request == calls;

	if (!reading->is_new) {
		gpu->untracked_bytes = old ? old->untracked_bytes : GPU_UNKNOWN_BYTES;
		gpu->untracked_ns = old ? old->untracked_ns : 0;
	} else if (unchanged || reading->snapshot->begun_ns - model->now_ns < TOGETHER_NS) {
		gpu->untracked_bytes = untracked_bytes(gpu->used_bytes, bytes);
		gpu->untracked_ns = model->now_ns;
	}
	if (reading->requested_ns >= model->now_ns) {
		gpu->bytes_at_request = bytes;
		gpu->calls_at_request = calls;
	} else if (old) {
		gpu->bytes_at_request = old->bytes_at_request;
		gpu->calls_at_request = old->calls_at_request;
	}
}

static size_t count_uses(const struct process *process, const struct gpu_snapshot *snapshot)
{
	size_t count = 0;

	for (size_t i = 0; i < snapshot->use_count; i++)
		count += snapshot->uses[i].pid == process->pid;
	return count;
}

void process_gpus__list(const struct gpu_reading *reading, const struct model *model,
			struct process *process)
{
	const struct gpu_snapshot *snapshot = reading->snapshot;
	struct visible_devices visible;
	struct gpu_list list = {0};

	map_visible(process, snapshot, &visible);
	list.gpus = calloc(visible.count + process->uuid_count + count_uses(process, snapshot) + 1,
			   sizeof(*list.gpus));
	if (!list.gpus)
		return;
	add_visible(&list, &visible);
	add_reported(&list, process, snapshot);
	add_used(&list, process, snapshot);
	for (size_t i = 0; i < list.count; i++)
		find_untracked(reading, model, process, &list.gpus[i]);
	free(process->gpus);
	process->gpus = list.gpus;
	process->gpu_count = list.count;
}
