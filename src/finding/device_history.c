// SPDX-License-Identifier: BSD-2-Clause
// The memory of devices over time, see device_history.h.
#include "finding/device_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "model/growth_history.h"

/* Devices of all processes that are followed at a time. */
#define COURSES_MAX 1024

#define ALL_DEVICES UINT32_MAX

struct gpu_course {
	char uuid[GPU_UUID_SIZE];
	struct growth_history used;
	UT_hash_handle hh;
};

struct course_key {
	uint64_t start_ns; /* with the pid tells which process it is */
	int32_t pid;
	uint32_t device; /* its number in the process */
};

/* What a process has live on one device. */
struct device_course {
	struct course_key key;
	struct growth_history live;
	UT_hash_handle hh;
};

/* Of a process: its GPUs' fullest moment. */
struct full_course {
	struct course_key key; /* of ALL_DEVICES */
	struct memory_holding fullest;
	UT_hash_handle hh;
};

struct device_history {
	uint64_t window_ns;
	struct gpu_course *gpus; /* uthash tables */
	struct device_course *devices;
	struct full_course *full;
};

struct device_history *device_history__new(uint64_t window_ns)
{
	struct device_history *history = calloc(1, sizeof(*history));

	if (history)
		history->window_ns = window_ns;
	return history;
}

void device_history__free(struct device_history *history)
{
	struct gpu_course *gpu, *next_gpu;
	struct device_course *device, *next_device;
	struct full_course *full, *next_full;

	if (!history)
		return;
	HASH_ITER(hh, history->gpus, gpu, next_gpu) {
		HASH_DEL(history->gpus, gpu);
		free(gpu);
	}
	HASH_ITER(hh, history->devices, device, next_device) {
		HASH_DEL(history->devices, device);
		free(device);
	}
	HASH_ITER(hh, history->full, full, next_full) {
		HASH_DEL(history->full, full);
		free(full);
	}
	free(history);
}

static struct course_key key_of(const struct process *process, uint32_t device)
{
	return (struct course_key){.start_ns = process->start_ns, .pid = process->pid, .device = device};
}

/* --- who has the memory --- */

const struct gpu *device_history__gpu(const struct model *model, const struct process *process, uint8_t device)
{
	for (size_t i = 0; i < process->gpu_count; i++)
		if (process->gpus[i].ordinal == device)
			return gpu_label__find(model, &process->gpus[i]);
	return NULL;
}

static uint64_t used_by(const struct model *model, const struct process *process, const struct gpu *gpu)
{
	for (size_t i = 0; i < process->gpu_count; i++)
		if (gpu_label__find(model, &process->gpus[i]) == gpu)
			return process->gpus[i].used_bytes;
	return GPU_UNKNOWN_BYTES;
}

bool memory_holding__of(const struct model *model, const struct gpu *gpu, const struct process *process,
			struct memory_holding *holding)
{
	*holding = (struct memory_holding){.total = gpu->total_bytes, .used = gpu->used_bytes, .own = GPU_UNKNOWN_BYTES};
	if (gpu->total_bytes == GPU_UNKNOWN_BYTES || !gpu->total_bytes || gpu->used_bytes == GPU_UNKNOWN_BYTES)
		return false;
	gpu_label(gpu, holding->label);
	if (process)
		holding->own = used_by(model, process, gpu);
	for (size_t i = 0; i < model->process_count; i++) {
		const struct process *other = &model->processes[i];
		uint64_t bytes = other == process || other->ended ? 0 : used_by(model, other, gpu);

		if (bytes == GPU_UNKNOWN_BYTES || bytes <= holding->largest)
			continue;
		holding->largest = bytes;
		holding->largest_pid = other->pid;
		memcpy(holding->largest_comm, other->comm, sizeof(holding->largest_comm));
	}
	holding->others = holding->used - (holding->largest < holding->used ? holding->largest : holding->used);
	if (holding->own != GPU_UNKNOWN_BYTES)
		holding->others -= holding->own < holding->others ? holding->own : holding->others;
	return true;
}

/* --- taking in --- */

/* GPUs do not go, so none is forgotten. */
static int sample_gpu(struct device_history *history, const struct gpu *gpu, uint64_t now_ns)
{
	struct gpu_course *course;

	if (!gpu->uuid[0] || gpu->used_bytes == GPU_UNKNOWN_BYTES)
		return 0;
	HASH_FIND_STR(history->gpus, gpu->uuid, course);
	if (!course) {
		course = calloc(1, sizeof(*course));
		if (!course)
			return -ENOMEM;
		memcpy(course->uuid, gpu->uuid, sizeof(course->uuid));
		course->used.window_ns = history->window_ns;
		HASH_ADD_STR(history->gpus, uuid, course);
	}
	growth_history__add(&course->used, now_ns, gpu->used_bytes);
	return 0;
}

static int sample_device(struct device_history *history, const struct process *process,
			 const struct device_totals *device, uint64_t now_ns)
{
	struct course_key key = key_of(process, device->device);
	struct device_course *course;

	HASH_FIND(hh, history->devices, &key, sizeof(key), course);
	if (!course && HASH_COUNT(history->devices) >= COURSES_MAX)
		return 0;
	if (!course) {
		course = calloc(1, sizeof(*course));
		if (!course)
			return -ENOMEM;
		course->key = key;
		course->live.window_ns = history->window_ns;
		HASH_ADD(hh, history->devices, key, sizeof(course->key), course);
	}
	growth_history__add(&course->live, now_ns, device->live_bytes);
	return 0;
}

static int sample_full(struct device_history *history, const struct process *process,
		       const struct memory_holding *holding)
{
	struct course_key key = key_of(process, ALL_DEVICES);
	struct full_course *course;

	HASH_FIND(hh, history->full, &key, sizeof(key), course);
	if (!course) {
		course = calloc(1, sizeof(*course));
		if (!course)
			return -ENOMEM;
		course->key = key;
		HASH_ADD(hh, history->full, key, sizeof(course->key), course);
	}
	if (!course->fullest.total || (double)holding->used / (double)holding->total >=
					      (double)course->fullest.used / (double)course->fullest.total)
		course->fullest = *holding;
	return 0;
}

static int sample_process(struct device_history *history, const struct model *model, const struct process *process)
{
	struct memory_holding holding;
	int ret = 0;

	for (size_t i = 0; i < process->device_count && !ret; i++)
		if (process->devices[i].device != DEVICE_UNKNOWN)
			ret = sample_device(history, process, &process->devices[i], model->now_ns);
	for (size_t i = 0; i < process->gpu_count && !ret; i++) {
		const struct gpu *gpu = gpu_label__find(model, &process->gpus[i]);

		if (gpu && memory_holding__of(model, gpu, process, &holding))
			ret = sample_full(history, process, &holding);
	}
	return ret;
}

static bool has_process(const struct model *model, const struct course_key *key)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].start_ns == key->start_ns && model->processes[i].pid == key->pid)
			return true;
	return false;
}

/* Of ended processes it stays as it was while the model has them. */
static void forget_old(struct device_history *history, const struct model *model)
{
	struct device_course *device, *next_device;
	struct full_course *full, *next_full;

	HASH_ITER(hh, history->devices, device, next_device) {
		if (has_process(model, &device->key))
			continue;
		HASH_DEL(history->devices, device);
		free(device);
	}
	HASH_ITER(hh, history->full, full, next_full) {
		if (has_process(model, &full->key))
			continue;
		HASH_DEL(history->full, full);
		free(full);
	}
}

int device_history__sample(struct device_history *history, const struct model *model)
{
	int ret = 0;

	for (size_t i = 0; i < model->gpu_count && !ret; i++)
		ret = sample_gpu(history, &model->gpus[i], model->now_ns);
	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (!model->processes[i].ended)
			ret = sample_process(history, model, &model->processes[i]);
	forget_old(history, model);
	return ret;
}

/* --- judging --- */

void device_history__judge_gpu(const struct device_history *history, const struct gpu *gpu,
			       struct growth_evidence *evidence)
{
	const struct gpu_course *course;

	*evidence = (struct growth_evidence){.verdict = GROWTH_UNKNOWN};
	HASH_FIND_STR(history->gpus, gpu->uuid, course);
	if (course)
		growth_history__judge(&course->used, evidence);
}

void device_history__judge_process(const struct device_history *history, const struct process *process,
				   uint8_t device, struct growth_evidence *evidence)
{
	struct course_key key = key_of(process, device);
	const struct device_course *course;

	*evidence = (struct growth_evidence){.verdict = GROWTH_UNKNOWN};
	HASH_FIND(hh, history->devices, &key, sizeof(key), course);
	if (course)
		growth_history__judge(&course->live, evidence);
}

bool device_history__fullest(const struct device_history *history, const struct process *process,
			     struct memory_holding *holding)
{
	struct course_key key = key_of(process, ALL_DEVICES);
	const struct full_course *course;

	HASH_FIND(hh, history->full, &key, sizeof(key), course);
	if (course)
		*holding = course->fullest;
	return course;
}
