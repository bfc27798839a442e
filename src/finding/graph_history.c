// SPDX-License-Identifier: BSD-2-Clause
// Graphs over time, see graph_history.h.
#include "finding/graph_history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "model/process_index.h"

/* What is gone is looked for in one of so many samples: there may be thousands of processes. */
#define FORGET_ROUNDS 16

struct process_key {
	uint64_t start_ns;
	int64_t pid;
};

struct graph_course {
	struct process_key key;
	uint64_t made, launches; /* as of the latest sample */
	uint64_t between;	 /* made up to then, while graphs were launched */
	UT_hash_handle hh;
};

struct graph_history {
	uint64_t rounds;
	struct graph_course *courses; /* a uthash table */
};

struct graph_history *graph_history__new(void)
{
	return calloc(1, sizeof(struct graph_history));
}

static void forget(struct graph_history *history, struct graph_course *course)
{
	HASH_DEL(history->courses, course);
	free(course);
}

void graph_history__free(struct graph_history *history)
{
	struct graph_course *course, *next;

	if (!history)
		return;
	HASH_ITER (hh, history->courses, course, next)
		forget(history, course);
	free(history);
}

static struct graph_course *find(const struct graph_history *history, const struct process *process)
{
	struct process_key key = {.start_ns = process->start_ns, .pid = process->pid};
	struct graph_course *course;

	HASH_FIND(hh, history->courses, &key, sizeof(key), course);
	return course;
}

static uint64_t since(const struct graph_course *course, const struct process *process)
{
	uint64_t made = process->objects[OBJECT_GRAPH_EXEC].created;

	return process->graph_launches > course->launches && made > course->made ? made - course->made : 0;
}

static int sample_process(struct graph_history *history, const struct process *process)
{
	struct graph_course *course = find(history, process);

	if (!course) {
		course = calloc(1, sizeof(*course));
		if (!course)
			return -ENOMEM;
		course->key = (struct process_key){.start_ns = process->start_ns, .pid = process->pid};
		HASH_ADD(hh, history->courses, key, sizeof(course->key), course);
		if (!course->hh.tbl) {
			free(course);
			return -ENOMEM;
		}
	}
	course->between += since(course, process);
	course->made = process->objects[OBJECT_GRAPH_EXEC].created;
	course->launches = process->graph_launches;
	return 0;
}

static void forget_old(struct graph_history *history, const struct model *model)
{
	struct process_index *index = process_index__new(model, NULL);
	struct graph_course *course, *next;

	/* Without memory in a later round. */
	if (!index)
		return;
	HASH_ITER (hh, history->courses, course, next)
		if (!process_index__find(index, (int32_t)course->key.pid, course->key.start_ns))
			forget(history, course);
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

uint64_t graph_history__made_between(const struct graph_history *history, const struct process *process)
{
	static const struct graph_course none;
	const struct graph_course *course = find(history, process);

	if (!course)
		course = &none;
	return course->between + since(course, process);
}
