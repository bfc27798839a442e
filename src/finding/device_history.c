// SPDX-License-Identifier: BSD-2-Clause
// The memory use of devices over time, see device_history.h.
#include "finding/device_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/table.h"
#include "model/growth_history.h"
#include "model/process_index.h"

/* Devices followed at a time, over all processes. */
#define COURSES_MAX 1024
/* Samples per device: a window including both ends, see GROWTH_SAMPLE_NS. */
#define SAMPLES 61
/* One sample in this many looks for processes that are gone: there may be thousands. */
#define FORGET_ROUNDS 16
/* Gradual growth has at least this many rises between samples. */
#define RISES_LEAST 10
/* The share of its growth time for which it may have stood still since. */
#define STILL_TIME (1.0 / 6)

struct gpu_trend {
	char uuid[GPU_UUID_SIZE];
	struct growth_history used;
	UT_hash_handle hh;
};

struct trend_key {
	uint64_t start_ns; /* identifies the process together with the pid */
	int32_t pid;
	/* its number in the process; in a full_trend the GPU's index in the model */
	uint32_t device;
};

struct device_sample {
	uint64_t time_ns, bytes, launches;
};

/* A process's live memory on one device. */
struct device_trend {
	struct trend_key key;
	struct growth_history live;
	struct device_sample samples[SAMPLES]; /* a ring */
	size_t next, count;
	uint64_t seen; /* the latest sample that included it */
	UT_hash_handle hh;
};

/* For a process: the moment when a GPU was fullest. */
struct full_trend {
	struct trend_key key;
	struct memory_holding fullest;
	uint64_t seen; /* the latest sample that included it */
	UT_hash_handle hh;
};

struct device_history {
	uint64_t window_ns, rounds;
	uint64_t samples;
	struct gpu_trend *gpus; /* uthash tables */
	struct device_trend *devices;
	struct full_trend *full;
	uint32_t gpu_count; /* largest number of GPUs seen in the model */
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
	if (!history)
		return;
	TABLE_CLEAR(history->gpus, free);
	TABLE_CLEAR(history->devices, free);
	TABLE_CLEAR(history->full, free);
	free(history);
}

static struct trend_key key_of(const struct process *process, uint32_t device)
{
	return (struct trend_key){
		.start_ns = process->start_ns, .pid = process->pid, .device = device};
}

/* --- memory holders --- */

const struct gpu *device_history__gpu(const struct model *model, const struct process *process,
				      uint8_t device)
{
	for (size_t i = 0; i < process->gpu_count; i++)
		if (process->gpus[i].ordinal == device)
			return gpu_label__find(model, &process->gpus[i]);
	return NULL;
}

static uint64_t used_by(const struct model *model, const struct process *process,
			const struct gpu *gpu)
{
	for (size_t i = 0; i < process->gpu_count; i++)
		if (gpu_label__find(model, &process->gpus[i]) == gpu)
			return process->gpus[i].used_bytes;
	return GPU_UNKNOWN_BYTES;
}

/*
 * The two processes with the most memory of a GPU: at least one of them is not the process in
 * question.
 */
struct holders {
	const struct process *process[2];
	uint64_t bytes[2];
};

static void add_holder(struct holders *holders, const struct process *process, uint64_t bytes)
{
	if (process->ended || bytes == GPU_UNKNOWN_BYTES || bytes <= holders->bytes[1])
		return;
	holders->process[1] = process;
	holders->bytes[1] = bytes;
	if (bytes <= holders->bytes[0])
		return;
	holders->process[1] = holders->process[0];
	holders->bytes[1] = holders->bytes[0];
	holders->process[0] = process;
	holders->bytes[0] = bytes;
}

static bool is_known(const struct gpu *gpu)
{
	return gpu->total_bytes && gpu->total_bytes != GPU_UNKNOWN_BYTES &&
	       gpu->used_bytes != GPU_UNKNOWN_BYTES;
}

static void report_holding(const struct model *model, const struct gpu *gpu,
			   const struct process *process, const struct holders *holders,
			   struct memory_holding *holding)
{
	size_t other = holders->process[0] && holders->process[0] == process;

	*holding = (struct memory_holding){
		.total = gpu->total_bytes, .used = gpu->used_bytes, .own = GPU_UNKNOWN_BYTES};
	gpu_label(gpu, holding->label);
	if (process)
		holding->own = used_by(model, process, gpu);
	if (holders->process[other]) {
		holding->largest = holders->bytes[other];
		holding->largest_pid = holders->process[other]->pid;
		memcpy(holding->largest_comm, holders->process[other]->comm,
		       sizeof(holding->largest_comm));
	}
	holding->others = holding->used -
			  (holding->largest < holding->used ? holding->largest : holding->used);
	if (holding->own != GPU_UNKNOWN_BYTES)
		holding->others -= holding->own < holding->others ? holding->own : holding->others;
}

bool memory_holding__of(const struct model *model, const struct gpu *gpu,
			const struct process *process, struct memory_holding *holding)
{
	struct holders holders = {0};

	if (!is_known(gpu))
		return false;
	for (size_t i = 0; i < model->process_count; i++)
		add_holder(&holders, &model->processes[i],
			   used_by(model, &model->processes[i], gpu));
	report_holding(model, gpu, process, &holders, holding);
	return true;
}

/* --- sampling --- */

/* GPUs do not disappear, so none is dropped. */
static int sample_gpu(struct device_history *history, const struct gpu *gpu, uint64_t now_ns)
{
	struct gpu_trend *trend;

	if (!gpu->uuid[0] || gpu->used_bytes == GPU_UNKNOWN_BYTES)
		return 0;
	HASH_FIND_STR(history->gpus, gpu->uuid, trend);
	if (!trend) {
		trend = calloc(1, sizeof(*trend));
		if (!trend)
			return -ENOMEM;
		memcpy(trend->uuid, gpu->uuid, sizeof(trend->uuid));
		trend->used.window_ns = history->window_ns;
		HASH_ADD_STR(history->gpus, uuid, trend);
		if (!trend->hh.tbl) {
			free(trend);
			return -ENOMEM;
		}
	}
	growth_history__add(&trend->used, now_ns, gpu->used_bytes);
	return 0;
}

static int sample_device(struct device_history *history, const struct process *process,
			 const struct device_totals *device, uint64_t now_ns)
{
	struct trend_key key = key_of(process, device->device);
	struct device_trend *trend = TABLE_FIND(history->devices, key, &key);

	if (!trend && HASH_COUNT(history->devices) >= COURSES_MAX)
		return 0;
	if (!trend)
		trend = TABLE_ADD_NEW(history->devices, key, &key);
	if (!trend)
		return -ENOMEM;
	trend->live.window_ns = history->window_ns;
	trend->seen = history->samples;
	growth_history__add(&trend->live, now_ns, device->live_bytes);
	trend->samples[trend->next] =
		(struct device_sample){.time_ns = now_ns,
				       .bytes = device->live_bytes,
				       .launches = process->launches + process->graph_launches};
	trend->next = (trend->next + 1) % SAMPLES;
	if (trend->count < SAMPLES)
		trend->count++;
	return 0;
}

static bool is_fuller(const struct memory_holding *holding, const struct memory_holding *than)
{
	return !than->total || (double)holding->used / (double)holding->total >=
				       (double)than->used / (double)than->total;
}

static struct full_trend *find_full(const struct device_history *history,
				    const struct process *process, uint32_t gpu)
{
	struct trend_key key = key_of(process, gpu);

	return TABLE_FIND(history->full, key, &key);
}

static int sample_full(struct device_history *history, const struct process *process, uint32_t gpu,
		       const struct memory_holding *holding)
{
	struct trend_key key = key_of(process, gpu);
	struct full_trend *trend = TABLE_TAKE(history->full, key, &key);

	if (!trend)
		return -ENOMEM;
	trend->seen = history->samples;
	if (is_fuller(holding, &trend->fullest))
		trend->fullest = *holding;
	return 0;
}

/* `holders` are those of the model's GPUs, in the same order. */
static int sample_process(struct device_history *history, const struct model *model,
			  const struct process *process, const struct holders *holders)
{
	struct memory_holding holding;
	int ret = 0;

	for (size_t i = 0; i < process->device_count && !ret; i++)
		if (process->devices[i].device != DEVICE_UNKNOWN)
			ret = sample_device(history, process, &process->devices[i], model->now_ns);
	for (size_t i = 0; i < process->gpu_count && !ret; i++) {
		const struct gpu *gpu = gpu_label__find(model, &process->gpus[i]);

		if (!gpu || !is_known(gpu))
			continue;
		report_holding(model, gpu, process, &holders[gpu - model->gpus], &holding);
		ret = sample_full(history, process, (uint32_t)(gpu - model->gpus), &holding);
	}
	return ret;
}

/*
 * For all GPUs at once, since there may be thousands of processes. Release with free; NULL without
 * memory.
 */
static struct holders *find_holders(const struct model *model)
{
	struct holders *holders = calloc(model->gpu_count + 1, sizeof(*holders));

	for (size_t i = 0; holders && i < model->process_count; i++) {
		const struct process *process = &model->processes[i];

		for (size_t k = 0; k < process->gpu_count; k++) {
			const struct gpu *gpu = gpu_label__find(model, &process->gpus[k]);

			if (gpu)
				add_holder(&holders[gpu - model->gpus], process,
					   process->gpus[k].used_bytes);
		}
	}
	return holders;
}

static bool has_process(const struct process_index *index, const struct trend_key *key)
{
	return process_index__find(index, key->pid, key->start_ns);
}

/* Histories of ended processes stay unchanged while the model has the processes. */
static void forget_old(struct device_history *history, const struct model *model)
{
	struct process_index *index = process_index__new(model, NULL);

	/* Without memory this is retried after a later sample. */
	if (!index)
		return;
	TABLE_DROP(history->devices, device,
		   device->seen != history->samples && !has_process(index, &device->key), free);
	TABLE_DROP(history->full, full,
		   full->seen != history->samples && !has_process(index, &full->key), free);
	process_index__free(index);
}

int device_history__sample(struct device_history *history, const struct model *model)
{
	struct holders *holders = find_holders(model);
	int ret = holders ? 0 : -ENOMEM;

	history->samples++;
	if (model->gpu_count > history->gpu_count)
		history->gpu_count = (uint32_t)model->gpu_count;
	for (size_t i = 0; i < model->gpu_count && !ret; i++)
		ret = sample_gpu(history, &model->gpus[i], model->now_ns);
	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (!model->processes[i].ended)
			ret = sample_process(history, model, &model->processes[i], holders);
	forget_old(history, model);
	free(holders);
	return ret;
}

/* --- judging --- */

/* Grows evenly, and is still growing. */
static void judge_trend(const struct growth_history *trend, struct device_growth *growth)
{
	struct growth_evidence evidence;

	growth_history__judge(trend, &evidence);
	growth->known = evidence.verdict != GROWTH_UNKNOWN;
	growth->first_ns = evidence.first_ns;
	if (evidence.verdict != GROWTH_GROWING ||
	    (double)evidence.still_ns >= STILL_TIME * (double)evidence.span_ns)
		return;
	growth->grows = true;
	growth->bytes = evidence.grown;
	growth->span_ns = evidence.grown_ns;
}

void device_history__judge_gpu(const struct device_history *history, const struct gpu *gpu,
			       struct device_growth *growth)
{
	const struct gpu_trend *trend;

	*growth = (struct device_growth){.needed_ns = GROWTH_LEAST_NS(history->window_ns)};
	HASH_FIND_STR(history->gpus, gpu->uuid, trend);
	if (trend)
		judge_trend(&trend->used, growth);
}

static const struct device_sample *sample_at(const struct device_trend *trend, size_t i)
{
	return &trend->samples[(trend->next + SAMPLES - trend->count + i) % SAMPLES];
}

/* Counts new maxima in the latest samples that were reached while kernels were launched. */
static void judge_rises(const struct device_trend *trend, struct device_growth *growth)
{
	const struct device_sample *before = sample_at(trend, 0);
	uint64_t highest = before->bytes, bytes = 0;
	size_t rises = 0;

	for (size_t i = 1; i < trend->count; i++) {
		const struct device_sample *sample = sample_at(trend, i);

		if (sample->bytes > highest && sample->launches > before->launches) {
			saturate__add(&bytes, sample->bytes - highest);
			rises++;
		}
		if (sample->bytes > highest)
			highest = sample->bytes;
		before = sample;
	}
	if (rises < RISES_LEAST)
		return;
	growth->grows = true;
	growth->bytes = bytes;
	growth->span_ns = before->time_ns - sample_at(trend, 0)->time_ns;
}

void device_history__judge_process(const struct device_history *history,
				   const struct process *process, uint8_t device,
				   struct device_growth *growth)
{
	struct trend_key key = key_of(process, device);
	const struct device_trend *trend = TABLE_FIND(history->devices, key, &key);

	*growth = (struct device_growth){.needed_ns = GROWTH_LEAST_NS(history->window_ns)};
	if (!trend || !trend->count)
		return;
	judge_trend(&trend->live, growth);
	if (!growth->grows)
		judge_rises(trend, growth);
}

bool device_history__fullest(const struct device_history *history, const struct process *process,
			     const struct gpu *gpu, struct memory_holding *holding)
{
	char label[GPU_LABEL_SIZE] = "";

	*holding = (struct memory_holding){.total = 0};
	if (gpu)
		gpu_label(gpu, label);
	for (uint32_t index = 0; index < history->gpu_count; index++) {
		const struct full_trend *trend = find_full(history, process, index);

		if (!trend || (gpu && strcmp(trend->fullest.label, label)))
			continue;
		if (is_fuller(&trend->fullest, holding))
			*holding = trend->fullest;
	}
	return holding->total > 0;
}
