// SPDX-License-Identifier: BSD-2-Clause
// The course of what findings judge over time, see history.h.
#include "finding/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "model/growth_history.h"

/* Pools of all processes that are followed at a time. */
#define UNUSED_MAX 1024
/* Samples that say how it was all the time. */
#define UNUSED_LEAST 20

struct gpu_course {
	char uuid[GPU_UUID_SIZE];
	struct growth_history used;
	UT_hash_handle hh;
};

struct unused_key {
	uint64_t start_ns; /* with the pid tells which process it is */
	uint64_t pool;	   /* handle; 0: not known */
	int32_t pid;
	uint32_t device;   /* of the pool; NO_POOL: of physical memory */
};

#define NO_POOL UINT32_MAX

struct unused_sample {
	uint64_t time_ns, unused, reserved;
};

struct unused_course {
	struct unused_key key;
	struct unused_sample samples[GROWTH_RECENT]; /* a ring */
	size_t next, count;
	uint64_t seen; /* the latest round */
	UT_hash_handle hh;
};

struct finding_history {
	uint64_t window_ns, sampled_ns;
	uint64_t rounds;
	struct growth *growth;
	struct gpu_course *gpus;      /* uthash tables */
	struct unused_course *unused;
};

struct finding_history *finding_history__new(uint64_t window_ns)
{
	struct finding_history *history = calloc(1, sizeof(*history));

	if (!history)
		return NULL;
	history->window_ns = window_ns;
	history->growth = growth__new(window_ns, GROWTH_SITES_MAX);
	if (history->growth)
		return history;
	free(history);
	return NULL;
}

static void forget_unused(struct finding_history *history, struct unused_course *course)
{
	HASH_DEL(history->unused, course);
	free(course);
}

void finding_history__free(struct finding_history *history)
{
	struct gpu_course *gpu, *next_gpu;
	struct unused_course *course, *next;

	if (!history)
		return;
	HASH_ITER(hh, history->gpus, gpu, next_gpu) {
		HASH_DEL(history->gpus, gpu);
		free(gpu);
	}
	HASH_ITER(hh, history->unused, course, next)
		forget_unused(history, course);
	growth__free(history->growth);
	free(history);
}

const struct growth *finding_history__growth(const struct finding_history *history)
{
	return history->growth;
}

/* --- devices --- */

static struct gpu_course *find_gpu(const struct finding_history *history, const struct gpu *gpu)
{
	struct gpu_course *course;

	HASH_FIND_STR(history->gpus, gpu->uuid, course);
	return course;
}

/* GPUs do not go, so none is forgotten. */
static int sample_gpu(struct finding_history *history, const struct gpu *gpu, uint64_t now_ns)
{
	struct gpu_course *course;

	if (!gpu->uuid[0] || gpu->used_bytes == GPU_UNKNOWN_BYTES)
		return 0;
	course = find_gpu(history, gpu);
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

void finding_history__judge_gpu(const struct finding_history *history, const struct gpu *gpu,
				struct growth_evidence *evidence)
{
	const struct gpu_course *course = find_gpu(history, gpu);

	*evidence = (struct growth_evidence){.verdict = GROWTH_UNKNOWN};
	if (course)
		growth_history__judge(&course->used, evidence);
}

/* --- what is reserved and not used --- */

static struct unused_key unused_key(const struct process *process, const struct pool_totals *pool)
{
	return (struct unused_key){
		.start_ns = process->start_ns,
		.pool = pool ? pool->handle : 0,
		.pid = process->pid,
		.device = pool ? pool->device : NO_POOL,
	};
}

static struct unused_course *find_unused(const struct finding_history *history, const struct process *process,
					 const struct pool_totals *pool)
{
	struct unused_key key = unused_key(process, pool);
	struct unused_course *course;

	HASH_FIND(hh, history->unused, &key, sizeof(key), course);
	return course;
}

static int sample_unused(struct finding_history *history, const struct process *process,
			 const struct pool_totals *pool, const struct unused_sample *sample)
{
	struct unused_course *course = find_unused(history, process, pool);

	if (!course && HASH_COUNT(history->unused) >= UNUSED_MAX)
		return 0;
	if (!course) {
		course = calloc(1, sizeof(*course));
		if (!course)
			return -ENOMEM;
		course->key = unused_key(process, pool);
		HASH_ADD(hh, history->unused, key, sizeof(course->key), course);
	}
	course->seen = history->rounds;
	course->samples[course->next] = *sample;
	course->next = (course->next + 1) % GROWTH_RECENT;
	if (course->count < GROWTH_RECENT)
		course->count++;
	return 0;
}

uint64_t finding_history__unmapped(const struct process *process, uint64_t *created)
{
	uint64_t mapped = process->memory[MEMORY_MAPPED].live_bytes;

	/* Memory of others may be mapped too, or one's own twice: then more of it is mapped nowhere. */
	*created = process->memory[MEMORY_PHYSICAL].live_bytes;
	return *created > mapped ? *created - mapped : 0;
}

static int sample_process(struct finding_history *history, const struct process *process, uint64_t now_ns)
{
	struct unused_sample sample = {.time_ns = now_ns};
	int ret = 0;

	sample.unused = finding_history__unmapped(process, &sample.reserved);
	if (process->memory[MEMORY_PHYSICAL].allocations)
		ret = sample_unused(history, process, NULL, &sample);
	for (size_t i = 0; i < process->pool_count && !ret; i++) {
		const struct pool_totals *pool = &process->pools[i];

		sample.reserved = pool->reserved;
		sample.unused = pool->reserved > pool->used ? pool->reserved - pool->used : 0;
		ret = sample_unused(history, process, pool, &sample);
	}
	return ret;
}

static bool has_process(const struct model *model, const struct unused_key *key)
{
	for (size_t i = 0; i < model->process_count; i++)
		if (model->processes[i].start_ns == key->start_ns && model->processes[i].pid == key->pid)
			return true;
	return false;
}

/* Of an ended process it stays as it was while the model has it; pools that went are forgotten. */
static void forget_old(struct finding_history *history, const struct model *model)
{
	struct unused_course *course, *next;

	HASH_ITER(hh, history->unused, course, next)
		if (!has_process(model, &course->key) || history->rounds - course->seen > GROWTH_RECENT)
			forget_unused(history, course);
}

void finding_history__judge_unused(const struct finding_history *history, const struct process *process,
				   const struct pool_totals *pool, struct unused_evidence *evidence)
{
	const struct unused_course *course = find_unused(history, process, pool);
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	*evidence = (struct unused_evidence){.bytes = UINT64_MAX, .share = 1};
	for (size_t i = 0; course && i < course->count; i++) {
		const struct unused_sample *sample = &course->samples[i];
		double share = sample->reserved ? (double)sample->unused / (double)sample->reserved : 0;

		if (sample->unused < evidence->bytes)
			evidence->bytes = sample->unused;
		if (share < evidence->share)
			evidence->share = share;
		if (sample->time_ns < first_ns)
			first_ns = sample->time_ns;
		if (sample->time_ns > last_ns)
			last_ns = sample->time_ns;
		evidence->samples++;
	}
	evidence->span_ns = evidence->samples ? last_ns - first_ns : 0;
	evidence->known = evidence->samples >= UNUSED_LEAST && evidence->span_ns >= history->window_ns / 3 * 2;
}

int finding_history__sample(struct finding_history *history, const struct model *model)
{
	int ret, failed = growth__sample(history->growth, model);

	/* As growth__sample: samples that come closer are not taken in. */
	if (history->sampled_ns && model->now_ns - history->sampled_ns < GROWTH_SAMPLE_NS(history->window_ns) / 2)
		return failed;
	history->sampled_ns = model->now_ns;
	history->rounds++;
	for (size_t i = 0; i < model->gpu_count; i++) {
		ret = sample_gpu(history, &model->gpus[i], model->now_ns);
		failed = failed ? failed : ret;
	}
	for (size_t i = 0; i < model->process_count; i++) {
		if (model->processes[i].ended)
			continue;
		ret = sample_process(history, &model->processes[i], model->now_ns);
		failed = failed ? failed : ret;
	}
	forget_old(history, model);
	return failed;
}
