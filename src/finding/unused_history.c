// SPDX-License-Identifier: BSD-2-Clause
// Reserved but unused memory over time, see unused_history.h.
#include "finding/unused_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "model/process_index.h"

/* Pools followed at a time, over all processes. */
#define COURSES_MAX 1024
/* Samples per pool: a window including both ends, see GROWTH_SAMPLE_NS. */
#define SAMPLES 61
/* Samples needed to represent the whole time; there are fewer only on a busy machine. */
#define SAMPLES_LEAST 10

/* One sample in this many looks for processes that are gone: there may be thousands. */
#define FORGET_ROUNDS 16

#define NO_POOL UINT32_MAX

struct unused_key {
	uint64_t start_ns; /* identifies the process together with the pid */
	uint64_t pool;	   /* handle; 0: unknown */
	int32_t pid;
	uint32_t device; /* the pool's device; NO_POOL: physical memory */
};

struct unused_sample {
	uint64_t time_ns, unused, reserved;
};

struct unused_trend {
	struct unused_key key;
	struct unused_sample samples[SAMPLES]; /* a ring */
	size_t next, count;
	UT_hash_handle hh;
};

struct unused_history {
	uint64_t window_ns, rounds;
	struct unused_trend *trends; /* a uthash table */
};

struct unused_history *unused_history__new(uint64_t window_ns)
{
	struct unused_history *history = calloc(1, sizeof(*history));

	if (history)
		history->window_ns = window_ns;
	return history;
}

void unused_history__free(struct unused_history *history)
{
	if (!history)
		return;
	TABLE_CLEAR(history->trends, free);
	free(history);
}

static struct unused_key key_of(const struct process *process, const struct pool_totals *pool)
{
	return (struct unused_key){
		.start_ns = process->start_ns,
		.pool = pool ? pool->handle : 0,
		.pid = process->pid,
		.device = pool ? pool->device : NO_POOL,
	};
}

static struct unused_trend *find(const struct unused_history *history, const struct unused_key *key)
{
	return TABLE_FIND(history->trends, key, key);
}

static int add_sample(struct unused_history *history, const struct unused_key *key,
		      const struct unused_sample *sample)
{
	struct unused_trend *trend = find(history, key);

	if (!trend && HASH_COUNT(history->trends) >= COURSES_MAX)
		return 0;
	if (!trend)
		trend = TABLE_ADD_NEW(history->trends, key, key);
	if (!trend)
		return -ENOMEM;
	trend->samples[trend->next] = *sample;
	trend->next = (trend->next + 1) % SAMPLES;
	if (trend->count < SAMPLES)
		trend->count++;
	return 0;
}

/*
 * Lower bound of the process's physical memory that is mapped nowhere. *created: all its physical
 * memory.
 */
static uint64_t unmapped_bytes(const struct process *process, uint64_t *created)
{
	uint64_t mapped = process->memory[MEMORY_MAPPED].live_bytes;

	/*
	 * A lower bound: if it also maps others' memory, or its own twice, more of its own is
	 * unmapped.
	 */
	*created = process->memory[MEMORY_PHYSICAL].live_bytes;
	return *created > mapped ? *created - mapped : 0;
}

static int sample_process(struct unused_history *history, const struct process *process,
			  uint64_t now_ns)
{
	struct unused_sample sample = {.time_ns = now_ns};
	struct unused_key key = key_of(process, NULL);
	int ret = 0;

	sample.unused = unmapped_bytes(process, &sample.reserved);
	if (process->memory[MEMORY_PHYSICAL].allocations)
		ret = add_sample(history, &key, &sample);
	for (size_t i = 0; i < process->pool_count && !ret; i++) {
		const struct pool_totals *pool = &process->pools[i];

		key = key_of(process, pool);
		sample.reserved = pool->reserved;
		sample.unused = pool->reserved > pool->used ? pool->reserved - pool->used : 0;
		ret = add_sample(history, &key, &sample);
	}
	return ret;
}

/* The history of an ended process stays unchanged while the model has the process. */
static void forget_old(struct unused_history *history, const struct model *model)
{
	struct process_index *index = process_index__new(model, NULL);

	/* Without memory this is retried in a later round. */
	if (!index)
		return;
	TABLE_DROP(history->trends, trend,
		   !process_index__find(index, trend->key.pid, trend->key.start_ns), free);
	process_index__free(index);
}

int unused_history__sample(struct unused_history *history, const struct model *model)
{
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (!model->processes[i].ended)
			ret = sample_process(history, &model->processes[i], model->now_ns);
	if (!(history->rounds++ % FORGET_ROUNDS))
		forget_old(history, model);
	return ret;
}

void unused_history__judge(const struct unused_history *history, const struct process *process,
			   const struct pool_totals *pool, struct unused_evidence *evidence)
{
	struct unused_key key = key_of(process, pool);
	const struct unused_trend *trend = find(history, &key);
	uint64_t first_ns = UINT64_MAX, last_ns = 0;

	*evidence = (struct unused_evidence){
		.bytes = UINT64_MAX, .share = 1, .needed_ns = history->window_ns / 3 * 2};
	for (size_t i = 0; trend && i < trend->count; i++) {
		const struct unused_sample *sample = &trend->samples[i];
		double share =
			sample->reserved ? (double)sample->unused / (double)sample->reserved : 0;

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
	evidence->known =
		evidence->samples >= SAMPLES_LEAST && evidence->span_ns >= evidence->needed_ns;
}
