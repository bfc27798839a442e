// SPDX-License-Identifier: BSD-2-Clause
// Graphs and captures, see graphs.h.
#include "collect/graphs.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "gen/gpuprobe.skel.h"

static int append_run(struct process *process, const struct graph_run *run)
{
	size_t capacity = process->graph_run_capacity ? process->graph_run_capacity * 2 : 8;
	struct graph_run *grown;

	if (process->graph_run_count == process->graph_run_capacity) {
		grown = realloc(process->graph_runs, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		process->graph_runs = grown;
		process->graph_run_capacity = capacity;
	}
	process->graph_runs[process->graph_run_count++] = *run;
	return 0;
}

int graphs__begin_runs(struct reading *reading)
{
	struct model *model = &reading->collector->model;

	for (size_t i = 0; i < model->process_count; i++) {
		if (model->processes[i].slot == NO_PROCESS)
			continue;
		model->processes[i].graph_run_count = 0;
		model->processes[i].graph_kernels = 0;
		model->processes[i].graph_launches_of_unknown_size = 0;
	}
	return 0;
}

int graphs__take_run(struct reading *reading, struct process *process, const void *key,
		     const void *value)
{
	const struct graph_run_key *size = key;
	struct graph_run run = {.kernels = size->kernels, .unknown = size->unknown};
	const uint64_t *launches = value;

	(void)reading;
	run.launches = *launches;
	if (append_run(process, &run))
		return -ENOMEM;
	if (run.unknown)
		process->graph_launches_of_unknown_size += run.launches;
	else
		process->graph_kernels += run.launches * run.kernels;
	return ELEMENT_KEEP;
}

static int by_launches(const void *a, const void *b)
{
	const struct graph_run *x = a, *y = b;

	if (x->launches != y->launches)
		return x->launches < y->launches ? 1 : -1;
	if (x->unknown != y->unknown)
		return x->unknown ? 1 : -1;
	return x->kernels < y->kernels ? 1 : (x->kernels > y->kernels ? -1 : 0);
}

void graphs__sort_runs(struct process *process)
{
	if (process->graph_run_count)
		qsort(process->graph_runs, process->graph_run_count, sizeof(*process->graph_runs),
		      by_launches);
}

int graphs__finish_runs(struct reading *reading)
{
	struct model *model = &reading->collector->model;

	for (size_t i = 0; i < model->process_count; i++)
		graphs__sort_runs(&model->processes[i]);
	return 0;
}

/*
 * Whether the element is deleted with its process anyway, so that other maps need not be looked up.
 */
static bool goes_anyway(const struct reading *reading, const struct process *process)
{
	return process && reading__reaps(reading, process);
}

int graphs__take_capture(struct reading *reading, struct process *process, const void *key,
			 const void *value)
{
	const struct capture_record *record = value;
	struct context_key context_key = {.context = record->context,
					  .slot = ((const struct capture_key *)key)->slot};
	struct context_record context;

	if (goes_anyway(reading, process) || !record->context ||
	    bpf_map__lookup_elem(reading->collector->skeleton->maps.contexts, &context_key,
				 sizeof(context_key), &context, sizeof(context), 0))
		return ELEMENT_KEEP;
	return context.died_ns > record->start_ns ? ELEMENT_DELETE : ELEMENT_KEEP;
}

void graphs__delete_capture(struct reading *reading, const void *key)
{
	const struct capture_key *capture = key;
	struct collector *collector = reading->collector;

	if (!bpf_map__delete_elem(collector->skeleton->maps.captures, capture, sizeof(*capture), 0))
		__atomic_fetch_sub(&collector->records[capture->slot].captures, 1,
				   __ATOMIC_RELAXED);
}

int graphs__take_node(struct reading *reading, struct process *process, const void *key,
		      const void *value)
{
	const struct graph_node_record *node = value;
	struct graph_key graph_key = {.handle = node->graph,
				      .slot = ((const struct graph_key *)key)->slot};
	struct graph_record graph;

	if (goes_anyway(reading, process))
		return ELEMENT_KEEP;
	if (bpf_map__lookup_elem(reading->collector->skeleton->maps.graphs, &graph_key,
				 sizeof(graph_key), &graph, sizeof(graph), 0))
		return ELEMENT_DELETE;
	return graph.start_ns != node->graph_start_ns ? ELEMENT_DELETE : ELEMENT_KEEP;
}

int graphs__take_disabled(struct reading *reading, struct process *process, const void *key,
			  const void *value)
{
	const struct disabled_node_key *disabled = key;
	struct graph_key exec_key = {.handle = disabled->exec, .slot = disabled->slot};
	struct graph_exec_record exec;

	if (goes_anyway(reading, process))
		return ELEMENT_KEEP;
	if (bpf_map__lookup_elem(reading->collector->skeleton->maps.graph_execs, &exec_key,
				 sizeof(exec_key), &exec, sizeof(exec), 0))
		return ELEMENT_DELETE;
	return exec.start_ns != *(const uint64_t *)value ? ELEMENT_DELETE : ELEMENT_KEEP;
}
