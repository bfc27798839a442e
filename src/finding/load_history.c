// SPDX-License-Identifier: BSD-2-Clause
/*
 * The load of processes in the latest minute, see load_history.h. Each process has a ring of
 * samples.
 */
#include "finding/load_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "model/process_index.h"

/* Enough samples for a minute, at least this far apart. */
#define SAMPLES 16 /* a power of two */
#define SAMPLE_NS 4000000000ull
/* One sample in this many looks for processes that are gone. */
#define FORGET_ROUNDS 16

struct load_key {
	uint64_t start_ns; /* identifies the process together with the pid */
	int32_t pid;
	uint32_t pad;
};

struct load_trend {
	struct load_key key;
	struct load samples[SAMPLES]; /* the latest is at (count - 1) % SAMPLES */
	size_t count;
	uint64_t first_ns;		      /* time of the first sample */
	uint64_t busy_percent, busy_readings; /* over all samples, including those not kept */
	UT_hash_handle hh;
};

struct load_history {
	struct load_trend *trends; /* a uthash table */
	uint64_t rounds;
};

struct load_history *load_history__new(void)
{
	return calloc(1, sizeof(struct load_history));
}

void load_history__free(struct load_history *history)
{
	if (!history)
		return;
	TABLE_CLEAR(history->trends, free);
	free(history);
}

static struct load_trend *find(const struct load_history *history, const struct process *process)
{
	struct load_key key = {.start_ns = process->start_ns, .pid = process->pid};

	return TABLE_FIND(history->trends, key, &key);
}

static struct load_trend *add(struct load_history *history, const struct process *process)
{
	struct load_key key = {.start_ns = process->start_ns, .pid = process->pid};

	return TABLE_ADD_NEW(history->trends, key, &key);
}

/* The second sample comes as soon as idle time may be proved. */
static void keep(struct load_trend *trend, const struct load *load)
{
	uint64_t least_ns = trend->count == 1 ? LOAD_EARLIER_NS : SAMPLE_NS;

	if (!trend->count)
		trend->first_ns = load->ns;
	else if (load->ns - trend->samples[(trend->count - 1) % SAMPLES].ns < least_ns)
		return;
	trend->samples[trend->count++ % SAMPLES] = *load;
}

static void take(struct load_trend *trend, struct load *load)
{
	trend->busy_percent += load->busy_percent;
	trend->busy_readings += load->busy_readings;
	load->busy_percent = trend->busy_percent;
	load->busy_readings = trend->busy_readings;
	keep(trend, load);
}

static void forget_gone(struct load_history *history, const struct model *model)
{
	struct process_index *index = process_index__new(model, NULL);

	/* Without memory they stay for another round. */
	if (!index)
		return;
	TABLE_DROP(history->trends, trend,
		   !process_index__find(index, trend->key.pid, trend->key.start_ns), free);
	process_index__free(index);
}

/* An ended process gets no more samples. */
static int sample_process(struct load_history *history, const struct model *model,
			  const struct process *process)
{
	struct load_trend *trend = find(history, process);
	struct load load;

	if (process->ended_ns)
		return 0;
	load__of(process, model->now_ns, &load);
	load__add_use(model, process, &load);
	if (!load.launches && !load.copies)
		return 0;
	if (!trend && HASH_COUNT(history->trends) < LOAD_PROCESSES) {
		trend = add(history, process);
		if (!trend)
			return -ENOMEM;
	}
	if (trend)
		take(trend, &load);
	return 0;
}

int load_history__sample(struct load_history *history, const struct model *model)
{
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++)
		ret = sample_process(history, model, &model->processes[i]);
	if (!(history->rounds++ % FORGET_ROUNDS))
		forget_gone(history, model);
	return ret;
}

/* The latest sample not after `from_ns`, or else the oldest one kept. */
static const struct load *sample_at(const struct load_trend *trend, uint64_t from_ns)
{
	size_t first = trend->count > SAMPLES ? trend->count - SAMPLES : 0, at = trend->count - 1;

	while (at > first && trend->samples[at % SAMPLES].ns > from_ns)
		at--;
	return &trend->samples[at % SAMPLES];
}

bool load_history__window(const struct load_history *history, const struct model *model,
			  const struct process *process, uint64_t from_ns, struct load *window)
{
	const struct load_trend *trend = find(history, process);
	const struct load *before = trend ? sample_at(trend, from_ns) : NULL;
	struct load now;

	if (!before)
		return false;
	load__of(process, model->now_ns, &now);
	if (now.profile != before->profile)
		return false;
	now.busy_percent = trend->busy_percent;
	now.busy_readings = trend->busy_readings;
	load__since(&now, before, window);
	return window->ns;
}

uint64_t load_history__first_ns(const struct load_history *history, const struct process *process)
{
	const struct load_trend *trend = find(history, process);

	return trend ? trend->first_ns : 0;
}

uint64_t load_history__settled_ns(const struct load_history *history, const struct process *process)
{
	const struct load_trend *trend = find(history, process);
	size_t first = trend && trend->count > SAMPLES ? trend->count - SAMPLES : 0;

	for (size_t at = first; trend && at < trend->count; at++)
		if (trend->samples[at % SAMPLES].ns >= trend->first_ns + LOAD_EARLIER_NS)
			return trend->samples[at % SAMPLES].ns;
	return 0;
}
