// SPDX-License-Identifier: BSD-2-Clause
// The rows of `gpuprobe top`, see list.h.
#include "output/top/list.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/workload.h"

const char *const top_sort_words[TOP_SORTS] = {
	[TOP_BY_MEMORY] = "memory", [TOP_BY_GROWTH] = "growth", [TOP_BY_LAUNCHES] = "launches",
	[TOP_BY_WAIT] = "wait",	    [TOP_BY_COPIES] = "copies", [TOP_BY_PID] = "pid",
};

void top_list__clear(struct top_list *list)
{
	free(list->rows);
	*list = (struct top_list){0};
}

/* --- filters --- */

static bool is_in_workload(const struct workload *workload, const char *filter)
{
	return strcasestr(workload->pod, filter) || strcasestr(workload->container, filter) ||
	       strcasestr(workload->unit, filter) || strstr(workload->slurm_job, filter) ||
	       strstr(workload->pbs_job, filter) || strcasestr(workload->image, filter);
}

static bool has_filter_text(const struct process *process, const char *filter)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", process->pid);
	return strcasestr(process->command, filter) || strcasestr(process->comm, filter) ||
	       strcasestr(process->container, filter) || strcasestr(process->pod, filter) ||
	       (process->workload && is_in_workload(process->workload, filter)) ||
	       strstr(pid, filter);
}

static bool passes(const struct process *process, const struct top_order *order)
{
	if (order->user && *order->user && strcmp(process->user, order->user))
		return false;
	return !order->filter || !*order->filter || has_filter_text(process, order->filter);
}

/* --- order --- */

static double value_of(const struct top_row *row, enum top_sort sort)
{
	bool at_least;

	switch (sort) {
	case TOP_BY_MEMORY: return (double)process__held_bytes(row->process, &at_least);
	case TOP_BY_GROWTH: return row->rate.memory_slope;
	case TOP_BY_LAUNCHES: return row->rate.launches;
	case TOP_BY_WAIT: return row->rate.waiting;
	case TOP_BY_COPIES: return row->rate.to_device + row->rate.to_host;
	default: return -(double)row->process->pid;
	}
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct top_row *x = a, *y = b;
	const struct top_order *order = arg;
	double first = value_of(x, order->sort), second = value_of(y, order->sort);

	if (x->process->ended != y->process->ended)
		return x->process->ended ? 1 : -1;
	if (first != second)
		return (first > second ? -1 : 1) * (order->reverse ? -1 : 1);
	if (x->process->pid != y->process->pid)
		return x->process->pid < y->process->pid ? -1 : 1;
	/* The same pid twice: both processes have ended, or one of them. */
	return x->process < y->process ? -1 : x->process > y->process;
}

/* --- the tree --- */

#define NONE SIZE_MAX

/* A row's links in the tree: indexes of rows, or NONE. */
struct branch {
	size_t parent;
	size_t child, next; /* the first child, and the next one of the same parent */
};

struct pid_row {
	int32_t pid;
	size_t row;
};

static int by_pid(const void *a, const void *b)
{
	const struct pid_row *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* A parent is older: a pid that was used again is no parent, and no circle comes of it. */
static bool is_older(const struct process *process, const struct process *other)
{
	if (process->start_ns != other->start_ns)
		return process->start_ns < other->start_ns;
	return process->pid < other->pid;
}

static size_t parent_of(const struct top_list *list, const struct pid_row *pids, size_t count,
			const struct process *process)
{
	const struct pid_row wanted = {.pid = process->parent};
	const struct pid_row *found;

	if (!process->identified || process->ended)
		return NONE;
	found = bsearch(&wanted, pids, count, sizeof(*pids), by_pid);
	return found && is_older(list->rows[found->row].process, process) ? found->row : NONE;
}

/* Links each row to its parent. Children stay in the order of the list. */
static void link_rows(const struct top_list *list, struct branch *branches, struct pid_row *pids)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (!list->rows[i].process->ended)
			pids[count++] = (struct pid_row){list->rows[i].process->pid, i};
		branches[i] = (struct branch){NONE, NONE, NONE};
	}
	qsort(pids, count, sizeof(*pids), by_pid);
	for (size_t i = list->count; i-- > 0;) {
		size_t parent = parent_of(list, pids, count, list->rows[i].process);

		branches[i].parent = parent;
		if (parent == NONE)
			continue;
		branches[i].next = branches[parent].child;
		branches[parent].child = i;
	}
}

/* Copies the row and all below it, in depth first order. */
static void copy_branch(const struct top_list *list, const struct branch *branches, size_t root,
			struct top_row *rows, size_t *count)
{
	unsigned int depth = 0;
	size_t at = root;

	while (at != NONE) {
		rows[*count] = list->rows[at];
		rows[(*count)++].depth = depth;
		if (branches[at].child != NONE) {
			depth++;
			at = branches[at].child;
			continue;
		}
		while (at != root && branches[at].next == NONE) {
			depth--;
			at = branches[at].parent;
		}
		at = at == root ? NONE : branches[at].next;
	}
}

static int make_tree(struct top_list *list)
{
	struct branch *branches = calloc(list->count, sizeof(*branches));
	struct pid_row *pids = calloc(list->count, sizeof(*pids));
	struct top_row *rows = calloc(list->count, sizeof(*rows));
	size_t count = 0;
	int ret = branches && pids && rows ? 0 : -ENOMEM;

	if (ret)
		goto out;
	link_rows(list, branches, pids);
	for (size_t i = 0; i < list->count; i++)
		if (branches[i].parent == NONE)
			copy_branch(list, branches, i, rows, &count);
	memcpy(list->rows, rows, count * sizeof(*rows));
out:
	free(rows);
	free(pids);
	free(branches);
	return ret;
}

/* --- the list --- */

static bool is_long_gone(const struct process *process, const struct model *model)
{
	return process->ended && model->now_ns > process->ended_ns + TOP_ENDED_NS;
}

/* Adds the row of the process unless the filters hide it. */
static void add(struct top_list *list, const struct top_row *row, const struct top_order *order)
{
	if (passes(row->process, order))
		list->rows[list->count++] = *row;
	else
		list->hidden++;
}

int top_list__make(struct top_list *list, const struct model *model, const struct model *quiet,
		   const struct process_rates *rates, const struct top_order *order)
{
	size_t quiet_count = quiet ? quiet->process_count : 0;
	struct top_order with = *order;
	int ret;

	*list = (struct top_list){
		.rows = calloc(model->process_count + quiet_count + 1, sizeof(*list->rows)),
	};
	if (!list->rows)
		return -ENOMEM;
	for (size_t i = 0; i < model->process_count; i++) {
		struct top_row row = {.process = &model->processes[i]};

		if (is_long_gone(row.process, model))
			continue;
		process_rates__of(rates, row.process, &row.rate);
		add(list, &row, order);
	}
	for (size_t i = 0; i < quiet_count; i++)
		add(list, &(struct top_row){.process = &quiet->processes[i], .quiet = true}, order);
	qsort_r(list->rows, list->count, sizeof(*list->rows), compare, &with);
	ret = order->tree && list->count ? make_tree(list) : 0;
	if (ret)
		top_list__clear(list);
	return ret;
}

bool top_list__has(const struct top_list *list, int32_t pid)
{
	size_t i = 0;

	while (i < list->count && list->rows[i].process->pid != pid)
		i++;
	return i < list->count;
}

size_t top_list__find(const struct top_list *list, int32_t pid, uint64_t start_ns)
{
	size_t i = 0;

	while (i < list->count &&
	       (list->rows[i].process->pid != pid || list->rows[i].process->start_ns != start_ns))
		i++;
	return i;
}
