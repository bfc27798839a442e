// SPDX-License-Identifier: BSD-2-Clause
// Graphs over time, see graph_history.h.
#include "finding/graph_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "model/process_index.h"

/* One sample in this many looks for processes that are gone: there may be thousands. */
#define FORGET_ROUNDS 16

struct process_key {
	uint64_t start_ns;
	int64_t pid;
};

struct graph_trend {
	struct process_key key;
	uint64_t made, launches; /* as of the latest sample */
	uint64_t between;	 /* created up to then, while graphs were being launched */
	UT_hash_handle hh;
};

struct graph_history {
	uint64_t rounds;
	struct graph_trend *trends; /* a uthash table */
};

struct graph_history *graph_history__new(void)
{
	return calloc(1, sizeof(struct graph_history));
}

void graph_history__free(struct graph_history *history)
{
	if (!history)
		return;
	TABLE_CLEAR(history->trends, free);
	free(history);
}

static struct graph_trend *find(const struct graph_history *history, const struct process *process)
{
	struct process_key key = {.start_ns = process->start_ns, .pid = process->pid};

	return TABLE_FIND(history->trends, key, &key);
}

static uint64_t since(const struct graph_trend *trend, const struct process *process)
{
	uint64_t made = process->objects[OBJECT_GRAPH_EXEC].created;

	return process->graph_launches > trend->launches && made > trend->made ?
		       made - trend->made :
		       0;
}

static int sample_process(struct graph_history *history, const struct process *process)
{
	struct process_key key = {.start_ns = process->start_ns, .pid = process->pid};
	struct graph_trend *trend = TABLE_TAKE(history->trends, key, &key);

	if (!trend)
		return -ENOMEM;
	trend->between += since(trend, process);
	trend->made = process->objects[OBJECT_GRAPH_EXEC].created;
	trend->launches = process->graph_launches;
	return 0;
}

static void forget_old(struct graph_history *history, const struct model *model)
{
	struct process_index *index = process_index__new(model, NULL);

	/* Without memory this is retried in a later round. */
	if (!index)
		return;
	TABLE_DROP(history->trends, trend,
		   !process_index__find(index, (int32_t)trend->key.pid, trend->key.start_ns), free);
	process_index__free(index);
}

int graph_history__sample(struct graph_history *history, const struct model *model)
{
	int ret = 0;

	for (size_t i = 0; i < model->process_count && !ret; i++)
		if (model->processes[i].objects[OBJECT_GRAPH_EXEC].created)
			ret = sample_process(history, &model->processes[i]);
	if (!(history->rounds++ % FORGET_ROUNDS))
		forget_old(history, model);
	return ret;
}

uint64_t graph_history__made_between(const struct graph_history *history,
				     const struct process *process)
{
	static const struct graph_trend none;
	const struct graph_trend *trend = find(history, process);

	if (!trend)
		trend = &none;
	return trend->between + since(trend, process);
}
