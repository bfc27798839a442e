// SPDX-License-Identifier: BSD-2-Clause
// Owners and containers of processes, and the machine's GPUs, see attribution.h.
#include "collect/attribution.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "device/cuda_environment.h"
#include "device/nvml.h"
#include "collect/process_gpus.h"
#include "collect/workloads.h"
#include "target/cgroup.h"
#include "target/command_line.h"
#include "target/proc.h"
#include "target/user_name.h"

#define NVML_WAIT_MS 50
/* a snapshot older than this is unusable: NVML no longer answers */
#define STALE_NS (10 * NS_PER_S)
#define START_STEP_NS (20 * NS_PER_MS) /* tolerance: start times in /proc are in ticks of 10 ms */

_Static_assert(sizeof(((struct process *)0)->user) == USER_NAME_SIZE, "names of users");

struct attribution {
	struct nvml *nvml;
	struct user_names *users;
	struct image_names *images;
	struct memory_reader *memory;
	struct pod_logs logs;
	bool watches_gpus; /* also without a process */
	uint64_t begun_ns; /* of the model's snapshot; 0: none */
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
	attribution->images = image_names__new();
	if (attribution->nvml && attribution->users && attribution->images)
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
	image_names__free(attribution->images);
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
			workloads__learn(&attribution->logs, attribution->images, process, cgroups);
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

/* --- the machine's GPUs --- */

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
	struct gpu_reading reading;

	workloads__retry(&attribution->logs, model);
	if (attribution->watches_gpus || needs_nvml(model))
		snapshot = nvml__refresh(attribution->nvml, NVML_WAIT_MS);
	if (!snapshot || clock__boot_ns() - snapshot->begun_ns > STALE_NS) {
		forget_use(attribution, model);
		return;
	}
	reading = (struct gpu_reading){
		.snapshot = snapshot,
		.is_new = snapshot->begun_ns != attribution->begun_ns,
		.requested_ns = nvml__requested_ns(attribution->nvml),
	};
	if (reading.is_new && take_gpus(model, snapshot))
		return;
	attribution->begun_ns = snapshot->begun_ns;
	model->gpus_ns = snapshot->begun_ns;
	for (size_t i = 0; i < model->process_count; i++) {
		if (!model->processes[i].ended || lacks_gpus(&model->processes[i]))
			process_gpus__list(&reading, model, &model->processes[i]);
		if (model->processes[i].ended)
			end_use(&model->processes[i]);
	}
}
