// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs made ready to run, and their launches: kernels compute nothing and
 * nothing is moved, but host functions are called. The nodes of child graphs
 * stand in one list with the others.
 */
#include "cuda/graph.h"

#include <stdlib.h>

#define MAX_EXECS (1u << 16)

/* A node as it was when the graph was instantiated. */
struct step {
	const struct CUgraphNode_st *node;
	uint64_t id;
	uint64_t kernels;
	CUgraphNodeType type;
	bool enabled;
	CUDA_HOST_NODE_PARAMS host;
};

struct CUgraphExec_st {
	struct object object;
	uint64_t reserved;
	uint64_t flags;
	uint64_t kernels;	/* of one launch */
	size_t nr_steps;
	struct step *steps;
};

static struct pool *execs;

bool exec__start(void)
{
	execs = pool__new(sizeof(struct CUgraphExec_st), MAX_EXECS);
	return execs != NULL;
}

static size_t count_steps(const struct CUgraph_st *graph)
{
	size_t count = graph->nr_nodes;

	for (const struct CUgraphNode_st *node = graph->first; node; node = node->next)
		if (node->type == CU_GRAPH_NODE_TYPE_GRAPH && node->child)
			count += count_steps(node->child);
	return count;
}

static struct step *fill_steps(struct step *step, const struct CUgraph_st *graph)
{
	for (const struct CUgraphNode_st *node = graph->first; node; node = node->next) {
		*step = (struct step){
			.node = node, .id = node->id, .kernels = node->kernels,
			.type = node->type, .enabled = true,
		};
		if (node->type == CU_GRAPH_NODE_TYPE_HOST)
			step->host = node->host;
		step++;
		if (node->type == CU_GRAPH_NODE_TYPE_GRAPH && node->child)
			step = fill_steps(step, node->child);
	}
	return step;
}

static void count_kernels(struct CUgraphExec_st *exec)
{
	uint64_t kernels = 0;

	for (size_t i = 0; i < exec->nr_steps; i++)
		if (exec->steps[i].enabled)
			kernels += exec->steps[i].kernels;
	__atomic_store_n(&exec->kernels, kernels, __ATOMIC_RELAXED);
}

static int instantiate(CUgraphExec *out, struct CUgraph_st *graph, uint64_t flags)
{
	struct CUgraphExec_st *exec;

	if (!out || !graph || graph->capture_id)
		return CUDA_ERROR_INVALID_VALUE;
	exec = pool__take(execs);
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&driver.lock);
	exec->flags = flags;
	exec->nr_steps = count_steps(graph);
	exec->steps = calloc(exec->nr_steps + 1, sizeof(*exec->steps));
	if (exec->steps)
		fill_steps(exec->steps, graph);
	pthread_mutex_unlock(&driver.lock);
	if (!exec->steps) {
		pool__give(execs, exec);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	count_kernels(exec);
	driver__created(SIM_GRAPH_EXEC);
	*out = exec;
	return CUDA_SUCCESS;
}

static int instantiate_params(CUgraphExec *out, struct CUgraph_st *graph,
			      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	params->hErrNode_out = NULL;
	params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
	return instantiate(out, graph, params->flags);
}

static void run(struct CUgraphExec_st *exec)
{
	for (size_t i = 0; i < exec->nr_steps; i++)
		if (exec->steps[i].host.fn && exec->steps[i].enabled)
			exec->steps[i].host.fn(exec->steps[i].host.userData);
}

static int launch(struct sim_call *call, struct CUgraphExec_st *exec, CUstream handle)
{
	struct CUstream_st *stream = stream__get(call, handle);
	struct sim_tallies *tallies = &call->thread->tallies;
	struct CUgraphNode_st *node;

	if (!pool__holds(execs, exec))
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream__capture(stream)) {
		node = capture__add(stream, CU_GRAPH_NODE_TYPE_GRAPH);
		if (!node)
			return CUDA_ERROR_OUT_OF_MEMORY;
		node->kernels = exec->kernels;
		call->captured = true;
		sim_add(&tallies->captured.graph_launches, 1);
		return CUDA_SUCCESS;
	}
	stream__issue(stream);
	run(exec);
	sim_add(&tallies->devices[driver__device()].graph_launches, 1);
	sim_add(&tallies->graphs.launches, 1);
	sim_add(&tallies->graphs.kernels, __atomic_load_n(&exec->kernels, __ATOMIC_RELAXED));
	return CUDA_SUCCESS;
}

static int destroy_exec(struct CUgraphExec_st *exec)
{
	if (!pool__holds(execs, exec))
		return CUDA_ERROR_INVALID_VALUE;
	free(exec->steps);
	pool__give(execs, exec);
	driver__destroyed(SIM_GRAPH_EXEC);
	return CUDA_SUCCESS;
}

static int get_flags(const struct CUgraphExec_st *exec, cuuint64_t *out)
{
	if (!pool__holds(execs, exec) || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = exec->flags;
	return CUDA_SUCCESS;
}

#define STREAM stream__get(&call, stream)

DRIVER(cuGraphInstantiateWithFlags, SIM_OTHER, (CUgraphExec *out, CUgraph graph,
						unsigned long long flags), 0,
       instantiate(out, graph__get(graph), flags));
DRIVER(cuGraphInstantiate_v2, SIM_OTHER, (CUgraphExec *out, CUgraph graph, CUgraphNode *node,
					  char *log, size_t size), 0,
       ((void)node, (void)log, (void)size, instantiate(out, graph__get(graph), 0)));
DRIVER_PTSZ(cuGraphInstantiateWithParams, SIM_OTHER, (CUgraphExec *out, CUgraph graph,
						      CUDA_GRAPH_INSTANTIATE_PARAMS *params), 0,
	    instantiate_params(out, graph__get(graph), params));
DRIVER_PTSZ(cuGraphUpload, SIM_OTHER, (CUgraphExec exec, CUstream stream), 0,
	    pool__holds(execs, exec) && STREAM ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
DRIVER_PTSZ(cuGraphLaunch, SIM_LAUNCH, (CUgraphExec exec, CUstream stream), 0,
	    launch(&call, exec, stream));
DRIVER_PLAIN(cuGraphExecDestroy, (CUgraphExec exec), destroy_exec(exec));
DRIVER_PLAIN(cuGraphExecGetFlags, (CUgraphExec exec, cuuint64_t *out), get_flags(exec, out));
