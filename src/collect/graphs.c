// SPDX-License-Identifier: BSD-2-Clause
// Graphs and captures, see graphs.h.
#include "collect/graphs.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "collect/sweep.h"
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

static int take_run(const struct sweep *sweep, const void *key, const void *value)
{
	const struct graph_run_key *size = key;
	struct process *process = collector__process_at(sweep->collector, size->slot);
	struct graph_run run = {.kernels = size->kernels, .unknown = size->unknown};
	const uint64_t *launches = value;
	int ret;

	if (!process)
		return 0;
	run.launches = *launches;
	ret = append_run(process, &run);
	if (ret)
		return ret;
	if (run.unknown)
		process->graph_launches_of_unknown_size += run.launches;
	else
		process->graph_kernels += run.launches * run.kernels;
	return (int)sweep__of_process(sweep, size->slot);
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
		qsort(process->graph_runs, process->graph_run_count, sizeof(*process->graph_runs), by_launches);
}

static int read_runs(struct sweep *sweep)
{
	struct model *model = &sweep->collector->model;
	int ret;

	for (size_t i = 0; i < model->process_count; i++) {
		if (model->processes[i].slot == NO_PROCESS)
			continue;
		model->processes[i].graph_run_count = 0;
		model->processes[i].graph_kernels = 0;
		model->processes[i].graph_launches_of_unknown_size = 0;
	}
	sweep->map = sweep->collector->skeleton->maps.graph_runs;
	sweep->take = take_run;
	ret = sweep__run(sweep);
	for (size_t i = 0; i < model->process_count; i++)
		graphs__sort_runs(&model->processes[i]);
	return ret;
}

/* A capture that no call can end any more: its context went, and its streams with it. */
static int take_capture(const struct sweep *sweep, const void *key, const void *value)
{
	const struct capture_key *capture = key;
	const struct capture_record *record = value;
	struct context_key context_key = {.context = record->context, .slot = capture->slot};
	struct context_record context;

	if (sweep__of_process(sweep, capture->slot) == SWEEP_END)
		return SWEEP_END;
	if (!record->context || bpf_map__lookup_elem(sweep->collector->skeleton->maps.contexts, &context_key,
						     sizeof(context_key), &context, sizeof(context), 0))
		return SWEEP_KEEP;
	return context.died_ns > record->start_ns ? SWEEP_DELETE : SWEEP_KEEP;
}

/* Who deletes a capture counts it out, here as in the BPF programs. */
static void capture_deleted(const struct sweep *sweep, const void *key)
{
	const struct capture_key *capture = key;

	__atomic_fetch_sub(&sweep->collector->records[capture->slot].captures, 1, __ATOMIC_RELAXED);
}

static int take_of_stream(const struct sweep *sweep, const void *key, const void *value)
{
	(void)value;
	return (int)sweep__of_process(sweep, ((const struct stream_key *)key)->slot);
}

static int take_of_event(const struct sweep *sweep, const void *key, const void *value)
{
	(void)value;
	return (int)sweep__of_process(sweep, ((const struct event_key *)key)->slot);
}

static int take_of_graph(const struct sweep *sweep, const void *key, const void *value)
{
	(void)value;
	return (int)sweep__of_process(sweep, ((const struct graph_key *)key)->slot);
}

/* Nodes go with their graph. */
static int take_node(const struct sweep *sweep, const void *key, const void *value)
{
	const struct graph_node_record *node = value;
	struct graph_key graph_key = {.handle = node->graph, .slot = ((const struct graph_key *)key)->slot};
	struct graph_record graph;

	if (sweep__of_process(sweep, graph_key.slot) == SWEEP_END)
		return SWEEP_END;
	if (bpf_map__lookup_elem(sweep->collector->skeleton->maps.graphs, &graph_key, sizeof(graph_key), &graph,
				 sizeof(graph), 0))
		return SWEEP_DELETE;
	return graph.start_ns != node->graph_start_ns ? SWEEP_DELETE : SWEEP_KEEP;
}

static int take_disabled(const struct sweep *sweep, const void *key, const void *value)
{
	const struct disabled_node_key *disabled = key;
	struct graph_key exec_key = {.handle = disabled->exec, .slot = disabled->slot};
	struct graph_exec_record exec;

	if (sweep__of_process(sweep, disabled->slot) == SWEEP_END)
		return SWEEP_END;
	if (bpf_map__lookup_elem(sweep->collector->skeleton->maps.graph_execs, &exec_key, sizeof(exec_key), &exec,
				 sizeof(exec), 0))
		return SWEEP_DELETE;
	return exec.start_ns != *(const uint64_t *)value ? SWEEP_DELETE : SWEEP_KEEP;
}

/* While a process ends, everything of it; else what may fill a map although its owner lives. */
static int clear(struct sweep *sweep)
{
	const struct gpuprobe_bpf *skeleton = sweep->collector->skeleton;
	const struct {
		const struct bpf_map *map;
		int (*take)(const struct sweep *sweep, const void *key, const void *value);
		void (*deleted)(const struct sweep *sweep, const void *key);
		bool always;
	} maps[] = {
		{skeleton->maps.captures, take_capture, capture_deleted, true},
		{skeleton->maps.capturing, take_of_stream, NULL, false},
		{skeleton->maps.captured_events, take_of_event, NULL, false},
		{skeleton->maps.graph_nodes, take_node, NULL, true},
		{skeleton->maps.disabled_nodes, take_disabled, NULL, true},
		{skeleton->maps.graphs, take_of_graph, NULL, false},
		{skeleton->maps.graph_execs, take_of_graph, NULL, false},
	};
	int ret = 0;

	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps) && !ret; i++) {
		if (!sweep->reap && !maps[i].always)
			continue;
		sweep->map = maps[i].map;
		sweep->take = maps[i].take;
		sweep->deleted = maps[i].deleted;
		ret = sweep__run(sweep);
	}
	return ret;
}

int graphs__read(struct collector *collector, bool reap)
{
	struct sweep sweep = {.collector = collector, .reap = reap};
	int ret;

	ret = read_runs(&sweep);
	return ret ? ret : clear(&sweep);
}
