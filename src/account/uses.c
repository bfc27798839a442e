// SPDX-License-Identifier: BSD-2-Clause
// What a process had of its GPUs between two readings, see uses.h.
#include "account/uses.h"

#include "base/array.h"
#include "base/saturate.h"
#include "model/gpu_label.h"
#include "model/load.h"
#include "model/profile.h"

/* A wait costs this much with nothing to wait for, or to wake up: nothing says that there was. */
#define WAIT_COST_NS 20000

void accounted__free(struct accounted *accounted)
{
	if (accounted->group)
		accounted->group->members--;
	account_memory__clear(&accounted->memory);
	free(accounted->devices);
	free(accounted->uses);
	free(accounted);
}

/* --- shared GPUs --- */

int gpu_sharing__begin(struct gpu_sharing *sharing, const struct model *model)
{
	*sharing = (struct gpu_sharing){.gpu_count = model->gpu_count};
	sharing->users = calloc(model->gpu_count + 1, sizeof(*sharing->users));
	if (!sharing->users)
		return -ENOMEM;
	return 0;
}

void gpu_sharing__clear(struct gpu_sharing *sharing)
{
	free(sharing->users);
	*sharing = (struct gpu_sharing){0};
}

static void count_user(struct gpu_sharing *sharing, const struct gpu_use *use)
{
	if (!use->most_ns)
		return;
	if (use->gpu >= 0 && (size_t)use->gpu < sharing->gpu_count)
		sharing->users[use->gpu]++;
	else
		sharing->unknown++;
}

static bool is_shared(const struct gpu_sharing *sharing, const struct gpu_use *use)
{
	uint32_t known = 0;

	if (use->gpu >= 0 && (size_t)use->gpu < sharing->gpu_count)
		return sharing->users[use->gpu] + sharing->unknown > 1;
	for (size_t i = 0; i < sharing->gpu_count; i++)
		known += sharing->users[i];
	return known + sharing->unknown > 1;
}

void gpu_sharing__apply(const struct gpu_sharing *sharing, struct accounted *accounted)
{
	for (size_t i = 0; i < accounted->use_count; i++)
		if (is_shared(sharing, &accounted->uses[i]))
			accounted->uses[i].least_ns = 0;
}

/* --- counters of devices --- */

static uint64_t wait_calls(const struct device_totals *device)
{
	uint64_t calls = 0;

	for (int scope = 0; scope < WAIT_SCOPES; scope++)
		calls += device->waits[scope].calls + device->waits[scope].open;
	return calls;
}

static uint64_t idle_of(const struct load *load, uint8_t device)
{
	return load->queues[device < PROFILE_DEVICES - 1 ? device : PROFILE_DEVICES - 1].idle_ns;
}

static bool was_used(const struct load *load, uint8_t device)
{
	return load->queues[device < PROFILE_DEVICES - 1 ? device : PROFILE_DEVICES - 1].used;
}

static struct device_counts counts_of(const struct device_totals *device, const struct load *load)
{
	return (struct device_counts){
		.device = device->device,
		.idle_ns = idle_of(load, device->device),
		.waits = wait_calls(device),
		.wait_ns = device->wait_ns,
	};
}

static struct device_counts counts_before(const struct accounted *accounted, uint8_t device)
{
	for (size_t i = 0; i < accounted->device_count; i++)
		if (accounted->devices[i].device == device)
			return accounted->devices[i];
	return (struct device_counts){.device = device};
}

/* --- bounds of the time with work --- */

/* Threads that wait: one of them has at least an equal part of the time. */
static uint64_t waiting_threads(const struct profile *profile)
{
	uint64_t threads = profile->unlisted_threads;

	for (size_t i = 0; i < profile->thread_count; i++)
		threads += profile->threads[i].time[TIME_WAIT].calls > 0;
	return threads ? threads : 1;
}

static uint64_t work_at_least(const struct process *process, const struct device_counts *now,
			      const struct device_counts *before)
{
	uint64_t waited = saturate__difference(now->wait_ns, before->wait_ns),
		 waits = saturate__difference(now->waits, before->waits);

	if (!process->profile)
		return 0;
	waited = saturate__difference(waited, saturate__product(waits, WAIT_COST_NS));
	return waited / waiting_threads(process->profile);
}

/* Whether nothing that takes the GPU's time was ever seen, and nothing can have been missed. */
static bool never_worked(const struct process *process, const struct device_totals *device,
			 const struct load *load)
{
	return load->proves && !process->since_attach && !load->estimated &&
	       !was_used(load, device->device) && !device->launches && !device->copies;
}

static uint64_t work_at_most(const struct process *process, const struct device_totals *device,
			     const struct load *load, const struct device_counts *before,
			     uint64_t span_ns)
{
	uint64_t idle_ns = saturate__difference(idle_of(load, device->device), before->idle_ns);

	if (never_worked(process, device, load))
		return 0;
	return load->profile && load->proves ? saturate__difference(span_ns, idle_ns) : span_ns;
}

/* --- the uses --- */

static int32_t gpu_number(const struct process *process, uint8_t device)
{
	for (size_t i = 0; i < process->gpu_count && device != DEVICE_UNKNOWN; i++)
		if (process->gpus[i].ordinal == device && process->gpus[i].gpu >= 0)
			return process->gpus[i].gpu;
	return -1 - (int32_t)device;
}

static bool is_active(const struct device_totals *device)
{
	if (device->launches || device->allocations || device->copies || device->wait_ns)
		return true;
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		if (device->objects[kind] || device->had_objects[kind])
			return true;
	return false;
}

static bool has_use(const struct accounted *accounted, int32_t gpu)
{
	for (size_t i = 0; i < accounted->use_count; i++)
		if (accounted->uses[i].gpu == gpu)
			return true;
	return false;
}

static int look_at_device(struct accounted *accounted, const struct process *process,
			  const struct device_totals *device, const struct load *load)
{
	const struct device_counts now = counts_of(device, load),
				   before = counts_before(accounted, device->device);
	struct gpu_use use = {
		.gpu = gpu_number(process, device->device),
		.most_ns = work_at_most(process, device, load, &before,
					accounted->span.to_ns - accounted->span.from_ns),
		.least_ns = work_at_least(process, &now, &before),
	};

	if (use.least_ns > use.most_ns)
		use.least_ns = use.most_ns;
	return ARRAY_APPEND(accounted->uses, accounted->use_count, use);
}

/* A GPU of which only CUDA's number is known; NULL: there is none. */
static struct gpu_use *unknown_use(const struct accounted *accounted)
{
	for (size_t i = 0; i < accounted->use_count; i++)
		if (accounted->uses[i].gpu < 0)
			return &accounted->uses[i];
	return NULL;
}

/*
 * GPUs that NVML lists it on: those that it calls, if their CUDA number is all that is known of
 * these, and others.
 */
static int look_at_gpus(struct accounted *accounted, const struct process *process)
{
	int ret = 0;

	for (size_t i = 0; i < process->gpu_count && !ret; i++) {
		const struct process_gpu *gpu = &process->gpus[i];
		struct gpu_use use = {
			.gpu = gpu->gpu,
			.most_ns = accounted->span.to_ns - accounted->span.from_ns,
		};
		struct gpu_use *unknown = unknown_use(accounted);

		if (gpu->gpu < 0 || gpu->used_bytes == GPU_UNKNOWN_BYTES || !gpu->used_bytes ||
		    has_use(accounted, gpu->gpu))
			continue;
		if (unknown)
			unknown->gpu = gpu->gpu;
		else
			ret = ARRAY_APPEND(accounted->uses, accounted->use_count, use);
	}
	return ret;
}

/* If NVML is late, a process that has made no call has the GPUs of the reading before. */
static void keep_gpus(struct accounted *accounted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		accounted->uses[i].most_ns = accounted->span.to_ns - accounted->span.from_ns;
		accounted->uses[i].least_ns = 0;
	}
	accounted->use_count = count;
}

/* What a call without a device used is on a GPU of its own only if there is no other. */
static int look_at_devices(struct accounted *accounted, const struct process *process,
			   const struct load *load)
{
	size_t had = accounted->use_count;
	int ret = 0;

	accounted->use_count = 0;
	for (size_t i = 0; i < process->device_count && !ret; i++) {
		const struct device_totals *device = &process->devices[i];
		bool is_known = device->device != DEVICE_UNKNOWN;

		if (is_active(device) && (is_known || !accounted->use_count))
			ret = look_at_device(accounted, process, device, load);
	}
	if (!ret)
		ret = look_at_gpus(accounted, process);
	if (!ret && !accounted->use_count)
		keep_gpus(accounted, had);
	return ret;
}

static uint64_t begin_of(const struct process *process, uint64_t began_ns)
{
	uint64_t first_ns = process->profile ? profile__first_call_ns(process->profile) : 0;

	if (first_ns && (!process->since_attach || process->start_ns > began_ns))
		return first_ns;
	return process->start_ns > began_ns ? process->start_ns : began_ns;
}

static void note_last_call(struct accounted *accounted, const struct process *process)
{
	const struct profile *profile = process->profile;
	uint64_t calls = process__calls(process), latest_ns = 0;

	for (size_t i = 0; profile && i < profile->thread_count; i++)
		if (profile->threads[i].latest_ns > latest_ns)
			latest_ns = profile->threads[i].latest_ns;
	if (process->open_count || (!profile && calls != accounted->calls))
		latest_ns = accounted->span.to_ns;
	if (latest_ns > accounted->last_call_ns)
		accounted->last_call_ns = latest_ns;
	accounted->calls = calls;
}

int accounted__look(struct accounted *accounted, const struct process *process, uint64_t now_ns,
		    uint64_t began_ns, struct gpu_sharing *sharing)
{
	struct account_span *span = &accounted->span;
	struct load load;
	int ret;

	span->from_ns = accounted->has_begun ? accounted->until_ns : begin_of(process, began_ns);
	span->to_ns = process->ended ? process->ended_ns : now_ns;
	if (span->to_ns < span->from_ns)
		span->to_ns = span->from_ns;
	span->is_edge = !accounted->has_begun || process->ended;
	load__of(process, span->to_ns, &load);
	ret = ARRAY_RESERVE(accounted->devices, accounted->device_count, process->device_count + 1);
	if (!ret)
		ret = look_at_devices(accounted, process, &load);
	note_last_call(accounted, process);
	for (size_t i = 0; i < accounted->use_count && !ret; i++)
		count_user(sharing, &accounted->uses[i]);
	return ret;
}

void accounted__remember(struct accounted *accounted, const struct process *process)
{
	struct load load;

	load__of(process, accounted->span.to_ns, &load);
	/* There is room, see accounted__look. */
	accounted->device_count = 0;
	for (size_t i = 0; i < process->device_count; i++)
		accounted->devices[accounted->device_count++] =
			counts_of(&process->devices[i], &load);
	accounted->has_begun = true;
	accounted->until_ns = accounted->span.to_ns;
}
