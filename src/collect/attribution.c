// SPDX-License-Identifier: BSD-2-Clause
// Owners, containers and GPUs of processes, see attribution.h.
#include "collect/attribution.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "device/cuda_environment.h"
#include "device/nvml.h"
#include "device/visible_devices.h"
#include "collect/workloads.h"
#include "target/cgroup.h"
#include "target/command_line.h"
#include "target/proc.h"
#include "target/user_name.h"

#define NVML_WAIT_MS 50
/* NVML and tallies this close together count as simultaneous */
#define TOGETHER_NS (100 * NS_PER_MS)
/* a snapshot older than this is unusable: NVML no longer answers */
#define STALE_NS (10 * NS_PER_S)
#define START_STEP_NS (20 * NS_PER_MS) /* tolerance: start times in /proc are in ticks of 10 ms */

_Static_assert(sizeof(((struct process *)0)->user) == USER_NAME_SIZE, "names of users");

struct attribution {
	struct nvml *nvml;
	struct user_names *users;
	struct memory_reader *memory;
	struct pod_logs logs;
	bool watches_gpus; /* also without a process */
	uint64_t begun_ns; /* of the model's snapshot; 0: none */
	bool is_new;	   /* this refresh brought the snapshot */
};

struct attribution *attribution__new(struct memory_reader *memory, const struct pod_logs *logs)
{
	struct attribution *attribution = calloc(1, sizeof(*attribution));

	if (!attribution)
		return NULL;
	attribution->memory = memory;
	attribution->logs = *logs;
	attribution->nvml = nvml__new();
	attribution->users = user_names__new();
	if (attribution->nvml && attribution->users)
		return attribution;
	attribution__free(attribution);
	return NULL;
}

void attribution__free(struct attribution *attribution)
{
	if (!attribution)
		return;
	nvml__free(attribution->nvml);
	user_names__free(attribution->users);
	free(attribution);
}

void attribution__begin(struct attribution *attribution)
{
	nvml__begin(attribution->nvml);
}

void attribution__watch_gpus(struct attribution *attribution)
{
	attribution->watches_gpus = true;
	nvml__ask_power(attribution->nvml);
}

/* --- identity --- */

/* Whether the record's pid still belongs to its process, and that runs the same program. */
static bool is_still_there(const struct process_record *record)
{
	struct process_info info;
	uint64_t apart;

	if (proc__info(record->pid, &info) || info.state == 'Z' || info.state == 'X')
		return false;
	apart = info.start_ns > record->start_ns ? info.start_ns - record->start_ns :
						   record->start_ns - info.start_ns;
	return apart <= START_STEP_NS &&
	       __atomic_load_n(&record->state, __ATOMIC_ACQUIRE) == PROCESS_LIVE;
}

static void read_proc(const struct attribution *attribution, struct process *process,
		      const struct process_record *record)
{
	struct cuda_environment *environment = calloc(1, sizeof(*environment));
	struct memory_reader *memory = attribution->memory;
	char command[sizeof(process->command)] = "";
	struct process_info info;
	char *cgroups = NULL;

	cgroup__text(record->pid, &cgroups);
	if (memory && !proc__info(record->pid, &info))
		command_line__read(memory, &info, command, sizeof(command));
	if (environment)
		cuda_environment__read(memory, record->pid, environment);
	/* Checked last: everything read before this belongs to the process then. */
	if (is_still_there(record)) {
		process->environment = environment;
		environment = NULL;
		memcpy(process->command, command, sizeof(command));
		if (cgroups)
			workloads__learn(&attribution->logs, process, cgroups);
	}
	free(environment);
	free(cgroups);
}

void attribution__learn(struct attribution *attribution, struct process *process,
			const struct process_record *record)
{
	process->identified = true;
	process->parent = record->parent;
	process->uid = record->uid;
	process->namespace_pid = record->namespace_pid;
	user_names__find(attribution->users, record->uid, process->user);
	read_proc(attribution, process, record);
}

/* --- its GPUs --- */

uint64_t attribution__untracked(uint64_t nvml_used, uint64_t tracked)
{
	if (nvml_used == GPU_UNKNOWN_BYTES || tracked == GPU_UNKNOWN_BYTES || tracked > nvml_used)
		return GPU_UNKNOWN_BYTES;
	return nvml_used - tracked;
}

int attribution__report_uuid(struct process *process, int ordinal, const uint8_t uuid[16])
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
static void find_untracked(const struct attribution *attribution, const struct model *model,
			   const struct process *process, struct process_gpu *gpu)
{
	const struct process_gpu *old = find_old(process, gpu);
	uint64_t bytes = tracked_bytes(model, process, gpu->ordinal);
	uint64_t calls = allocation_calls(process, gpu->ordinal);
	bool unchanged = old && old->bytes_at_request == bytes && old->calls_at_request == calls;

	if (!attribution->is_new) {
		gpu->untracked_bytes = old ? old->untracked_bytes : GPU_UNKNOWN_BYTES;
		gpu->untracked_ns = old ? old->untracked_ns : 0;
	} else if (unchanged || attribution->begun_ns - model->now_ns < TOGETHER_NS) {
		gpu->untracked_bytes = attribution__untracked(gpu->used_bytes, bytes);
		gpu->untracked_ns = model->now_ns;
	}
	if (nvml__requested_ns(attribution->nvml) >= model->now_ns) {
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

/*
 * Rebuilds the list: GPUs by the environment, then those reported by calls, then others that NVML
 * sees.
 */
static void list_gpus(const struct attribution *attribution, const struct model *model,
		      struct process *process, const struct gpu_snapshot *snapshot)
{
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
		find_untracked(attribution, model, process, &list.gpus[i]);
	free(process->gpus);
	process->gpus = list.gpus;
	process->gpu_count = list.count;
}

/* Whether an index means the same GPU in both lists. */
static bool same_gpus(const struct model *model, const struct gpu_snapshot *snapshot)
{
	if (model->gpu_count != snapshot->gpu_count)
		return false;
	for (size_t i = 0; i < model->gpu_count; i++)
		if (model->gpus[i].index != snapshot->gpus[i].index ||
		    model->gpus[i].mig != snapshot->gpus[i].mig ||
		    strcmp(model->gpus[i].uuid, snapshot->gpus[i].uuid))
			return false;
	return true;
}

static void forget_gpus(struct process *process)
{
	free(process->gpus);
	process->gpus = NULL;
	process->gpu_count = 0;
}

/* Keeps those with most memory; unknown memory counts as none. */
static void add_stranger(struct gpu *gpu, const struct gpu_use *use)
{
	size_t at = gpu->stranger_count < GPU_STRANGERS ? gpu->stranger_count : GPU_STRANGERS;
	uint64_t bytes = use->bytes != GPU_UNKNOWN_BYTES ? use->bytes : 0;

	gpu->stranger = use->pid;
	gpu->stranger_count++;
	while (at && gpu->strangers[at - 1].bytes < bytes)
		at--;
	if (at == GPU_STRANGERS)
		return;
	memmove(&gpu->strangers[at + 1], &gpu->strangers[at],
		(GPU_STRANGERS - 1 - at) * sizeof(*gpu->strangers));
	gpu->strangers[at] = (struct gpu_stranger){.pid = use->pid, .bytes = bytes};
}

static void find_strangers(const struct model *model, const struct gpu_snapshot *snapshot,
			   struct gpu *list)
{
	for (size_t i = 0; i < snapshot->use_count; i++)
		if (!model__process_of(model, snapshot->uses[i].pid, 0))
			add_stranger(&list[snapshot->uses[i].gpu], &snapshot->uses[i]);
}

static int take_gpus(struct model *model, const struct gpu_snapshot *snapshot)
{
	struct gpu *list = calloc(snapshot->gpu_count + 1, sizeof(*list));

	if (!list)
		return -1;
	memcpy(list, snapshot->gpus, snapshot->gpu_count * sizeof(*list));
	if (!same_gpus(model, snapshot))
		for (size_t i = 0; i < model->process_count; i++)
			forget_gpus(&model->processes[i]);
	else
		for (size_t i = 0; i < snapshot->gpu_count; i++)
			list[i].stranger = model->gpus[i].stranger;
	find_strangers(model, snapshot, list);
	free(model->gpus);
	model->gpus = list;
	model->gpu_count = snapshot->gpu_count;
	return 0;
}

/* An old snapshot does not show current use. */
static void forget_use(struct attribution *attribution, struct model *model)
{
	attribution->begun_ns = 0;
	for (size_t i = 0; i < model->gpu_count; i++) {
		model->gpus[i].used_bytes = GPU_UNKNOWN_BYTES;
		model->gpus[i].busy_percent = GPU_UNKNOWN_PERCENT;
		model->gpus[i].milliwatts = GPU_UNKNOWN_NUMBER;
		model->gpus[i].celsius = GPU_UNKNOWN_NUMBER;
	}
	for (size_t i = 0; i < model->process_count; i++)
		for (size_t k = 0; k < model->processes[i].gpu_count; k++) {
			model->processes[i].gpus[k].used_bytes = GPU_UNKNOWN_BYTES;
			model->processes[i].gpus[k].untracked_bytes = GPU_UNKNOWN_BYTES;
		}
}

/* Also true for a process that ended before any reading saw it: its calls reported its GPUs. */
static bool lacks_gpus(const struct process *process)
{
	return process->ended && !process->gpu_count && process->uuid_count;
}

static bool needs_nvml(const struct model *model)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (!model->processes[i].ended || lacks_gpus(&model->processes[i]))
			return true;
	return false;
}

static void end_use(struct process *process)
{
	for (size_t i = 0; i < process->gpu_count; i++) {
		process->gpus[i].used_bytes = GPU_UNKNOWN_BYTES;
		process->gpus[i].untracked_bytes = GPU_UNKNOWN_BYTES;
	}
}

const struct gpu_snapshot *attribution__snapshot(struct attribution *attribution,
						 unsigned int wait_ms, int *failure)
{
	const struct gpu_snapshot *snapshot = nvml__wait(attribution->nvml, wait_ms);

	*failure = nvml__failure(attribution->nvml);
	return snapshot;
}

void attribution__hurry(struct attribution *attribution)
{
	nvml__hurry(attribution->nvml);
}

void attribution__refresh(struct attribution *attribution, struct model *model)
{
	const struct gpu_snapshot *snapshot = NULL;

	workloads__retry(&attribution->logs, model);
	if (attribution->watches_gpus || needs_nvml(model))
		snapshot = nvml__refresh(attribution->nvml, NVML_WAIT_MS);
	if (!snapshot || clock__boot_ns() - snapshot->begun_ns > STALE_NS) {
		forget_use(attribution, model);
		return;
	}
	attribution->is_new = snapshot->begun_ns != attribution->begun_ns;
	if (attribution->is_new && take_gpus(model, snapshot))
		return;
	attribution->begun_ns = snapshot->begun_ns;
	model->gpus_ns = snapshot->begun_ns;
	for (size_t i = 0; i < model->process_count; i++) {
		if (!model->processes[i].ended || lacks_gpus(&model->processes[i]))
			list_gpus(attribution, model, &model->processes[i], snapshot);
		if (model->processes[i].ended)
			end_use(&model->processes[i]);
	}
}
