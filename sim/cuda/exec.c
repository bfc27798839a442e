// SPDX-License-Identifier: BSD-2-Clause
/*
 * Instantiated graphs and their launches. Kernels compute nothing and no bytes move, but host
 * functions are called, events recorded and memory allocated.
 */
#include "cuda/graph.h"
#include "cuda/memory.h"
#include "cuda/step.h"

#include <stdlib.h>

#define MAX_EXECS (1u << 16)

struct CUgraphExec_st {
	struct object object;
	uint64_t reserved;
	uint64_t flags;
	uint64_t kernels;	/* per launch */
	uint64_t device_ns;	/* per launch, with the device clock */
	bool idle;		/* a launch has nothing to do in the simulation */
	size_t nr_steps;
	struct step *steps;
};

static struct pool *execs;

bool exec__start(void)
{
	execs = pool__new(sizeof(struct CUgraphExec_st), MAX_EXECS);
	return execs != NULL;
}

static void sum_up(struct CUgraphExec_st *exec)
{
	uint64_t kernels = 0, device_ns = 0;
	bool idle = true;

	for (size_t i = 0; i < exec->nr_steps; i++) {
		const struct step *step = &exec->steps[i];

		if (step->enabled) {
			kernels += step->kernels;
			device_ns += step->device_ns;
		}
		if (step->host.fn || step->event || step->allocates)
			idle = false;
	}
	exec->idle = idle;
	__atomic_store_n(&exec->kernels, kernels, __ATOMIC_RELAXED);
	__atomic_store_n(&exec->device_ns, device_ns, __ATOMIC_RELAXED);
}

static int instantiate(CUgraphExec *out, struct CUgraph_st *graph, uint64_t flags)
{
	struct CUgraphExec_st *exec;

	if (!out || !graph || graph->capture_id)
		return CUDA_ERROR_INVALID_VALUE;
	exec = pool__take(execs);
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->flags = flags;
	exec->steps = steps__new(graph, &exec->nr_steps);
	if (!exec->steps) {
		pool__give(execs, exec);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	graph->instantiated = true;
	sum_up(exec);
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

static void run(const struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
	for (size_t i = 0; i < exec->nr_steps; i++) {
		const struct step *step = &exec->steps[i];

		if (step->host.fn)
			step->host.fn(step->host.userData);
		if (step->event)
			event__record(step->event, stream);
		if (step->allocates)
			memory__run(step->allocates);
	}
}

/*
 * With the device clock, the whole graph waits for the events of its nodes, and takes the sum of
 * their times.
 */
static void issue(const struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
	uint64_t ns = __atomic_load_n(&exec->device_ns, __ATOMIC_RELAXED), end;

	if (!driver.clock) {
		stream__issue(stream, WORK_GRAPH, ns);
		return;
	}
	for (size_t i = 0; i < exec->nr_steps; i++)
		event__await(exec->steps[i].awaited, stream);
	end = listener__work(stream, WORK_GRAPH, ns);
	if (driver.listened)
		steps__tell(exec->steps, exec->nr_steps, stream, end - ns);
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
		node->device_ns = exec->device_ns;
		call->captured = true;
		sim_add(&tallies->captured.graph_launches, 1);
		return CUDA_SUCCESS;
	}
	issue(exec, stream);
	if (!exec->idle)
		run(exec, stream);
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

/* The step of a node that the graph had when it was instantiated, NULL if there is none. */
static struct step *find_step(struct CUgraphExec_st *exec, const struct CUgraphNode_st *node)
{
	if (!pool__holds(execs, exec) || !node)
		return NULL;
	for (size_t i = 0; i < exec->nr_steps; i++)
		if (exec->steps[i].node == node && exec->steps[i].id == node->id)
			return &exec->steps[i];
	return NULL;
}

static struct step *find_typed(struct CUgraphExec_st *exec, CUgraphNode node,
			       CUgraphNodeType type)
{
	return find_step(exec, node__get_typed(node, type));
}

/* Only kernels, copies and memsets can be disabled. */
static int set_enabled(struct CUgraphExec_st *exec, CUgraphNode node, bool on)
{
	struct step *step = find_step(exec, node__get(node));

	if (!step || (int)step->type > CU_GRAPH_NODE_TYPE_MEMSET)
		return CUDA_ERROR_INVALID_VALUE;
	step->enabled = on;
	sum_up(exec);
	return CUDA_SUCCESS;
}

static int get_enabled(struct CUgraphExec_st *exec, CUgraphNode node, unsigned int *out)
{
	struct step *step = find_step(exec, node__get(node));

	if (!step || !out || (int)step->type > CU_GRAPH_NODE_TYPE_MEMSET)
		return CUDA_ERROR_INVALID_VALUE;
	*out = step->enabled;
	return CUDA_SUCCESS;
}

static int set_kernel(struct CUgraphExec_st *exec, CUgraphNode node,
		      const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct step *step = find_typed(exec, node, CU_GRAPH_NODE_TYPE_KERNEL);
	int result;

	if (!step || !params)
		return CUDA_ERROR_INVALID_VALUE;
	result = node__check_kernel(params);
	if (!result && driver.clock) {
		step__set_kernel(step, params);
		sum_up(exec);
	}
	return result;
}

static int set_kernel_v1(struct CUgraphExec_st *exec, CUgraphNode node,
			 const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	CUDA_KERNEL_NODE_PARAMS wide = { 0 };

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	__builtin_memcpy(&wide, params, sizeof(*params));
	return set_kernel(exec, node, &wide);
}

static int set_host(struct CUgraphExec_st *exec, CUgraphNode node,
		    const CUDA_HOST_NODE_PARAMS *params)
{
	struct step *step = find_typed(exec, node, CU_GRAPH_NODE_TYPE_HOST);

	if (!step || !params || !params->fn)
		return CUDA_ERROR_INVALID_VALUE;
	step->host = *params;
	return CUDA_SUCCESS;
}

static int set_event(struct CUgraphExec_st *exec, CUgraphNode node, CUgraphNodeType type,
		     CUevent event)
{
	struct step *step = find_typed(exec, node, type);

	if (!step || !pool__holds(driver.events, event))
		return CUDA_ERROR_INVALID_VALUE;
	if (type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
		step->event = event;
	else
		step->awaited = event;
	return CUDA_SUCCESS;
}

/* The parameters of the copy or memset are ignored, because a launch moves nothing. */
static int set_moves(struct CUgraphExec_st *exec, CUgraphNode node, CUgraphNodeType type,
		     const void *params)
{
	if (!find_typed(exec, node, type) || !params)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static int set_any(struct CUgraphExec_st *exec, CUgraphNode node, const CUgraphNodeParams *params)
{
	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)params->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return set_kernel(exec, node, &params->kernel);
	case CU_GRAPH_NODE_TYPE_HOST:
		return set_host(exec, node, &params->host);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return set_event(exec, node, params->type, params->eventWait.event);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
	case CU_GRAPH_NODE_TYPE_MEMSET:
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return set_moves(exec, node, params->type, params);
	}
	return CUDA_ERROR_NOT_SUPPORTED;
}

/* The graph must have the existing steps in the same order; only their parameters are taken. */
static CUgraphExecUpdateResult update_steps(struct CUgraphExec_st *exec,
					    const struct step *steps, size_t count)
{
	if (count != exec->nr_steps)
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	for (size_t i = 0; i < count; i++)
		if (steps[i].type != exec->steps[i].type)
			return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
	for (size_t i = 0; i < count; i++) {
		exec->steps[i].kernels = steps[i].kernels;
		exec->steps[i].host = steps[i].host;
		exec->steps[i].event = steps[i].event;
		exec->steps[i].awaited = steps[i].awaited;
		exec->steps[i].amount = steps[i].amount;
		exec->steps[i].copy = steps[i].copy;
		exec->steps[i].device_ns = steps[i].device_ns;
	}
	sum_up(exec);
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static int update(struct CUgraphExec_st *exec, struct CUgraph_st *graph,
		  CUgraphExecUpdateResult *out)
{
	struct step *steps;
	size_t count;

	if (!pool__holds(execs, exec) || !graph || graph->capture_id || !out)
		return CUDA_ERROR_INVALID_VALUE;
	steps = steps__new(graph, &count);
	if (!steps)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = update_steps(exec, steps, count);
	free(steps);
	return *out ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS;
}

static int update_v1(struct CUgraphExec_st *exec, struct CUgraph_st *graph, CUgraphNode *node,
		     CUgraphExecUpdateResult *out)
{
	if (node)
		*node = NULL;
	return update(exec, graph, out);
}

static int update_v2(struct CUgraphExec_st *exec, struct CUgraph_st *graph,
		     CUgraphExecUpdateResultInfo *info)
{
	if (!info)
		return CUDA_ERROR_INVALID_VALUE;
	info->errorNode = NULL;
	info->errorFromNode = NULL;
	return update(exec, graph, &info->result);
}

/* The child keeps its number of kernels, because its topology must not change. */
static int set_child(struct CUgraphExec_st *exec, CUgraphNode node, struct CUgraph_st *child)
{
	if (!find_typed(exec, node, CU_GRAPH_NODE_TYPE_GRAPH) || !child)
		return CUDA_ERROR_INVALID_VALUE;
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
DRIVER(cuGraphInstantiate, SIM_OTHER, (CUgraphExec *out, CUgraph graph, CUgraphNode *node,
				       char *log, size_t size), 0,
       ((void)node, (void)log, (void)size, instantiate(out, graph__get(graph), 0)));

#define NODE CUgraphExec exec, CUgraphNode node

DRIVER_PLAIN(cuGraphNodeSetEnabled, (NODE, unsigned int on), set_enabled(exec, node, on != 0));
DRIVER_PLAIN(cuGraphNodeGetEnabled, (NODE, unsigned int *out), get_enabled(exec, node, out));
DRIVER_PLAIN(cuGraphExecUpdate, (CUgraphExec exec, CUgraph graph, CUgraphNode *node,
				 CUgraphExecUpdateResult *out),
	     update_v1(exec, graph__get(graph), node, out));
DRIVER_PLAIN(cuGraphExecUpdate_v2, (CUgraphExec exec, CUgraph graph,
				    CUgraphExecUpdateResultInfo *info),
	     update_v2(exec, graph__get(graph), info));
DRIVER_PLAIN(cuGraphExecNodeSetParams, (NODE, CUgraphNodeParams *params),
	     set_any(exec, node, params));
DRIVER_PLAIN(cuGraphExecKernelNodeSetParams_v2, (NODE, const CUDA_KERNEL_NODE_PARAMS *params),
	     set_kernel(exec, node, params));
DRIVER_PLAIN(cuGraphExecKernelNodeSetParams, (NODE, const CUDA_KERNEL_NODE_PARAMS_v1 *params),
	     set_kernel_v1(exec, node, params));
DRIVER_PLAIN(cuGraphExecMemcpyNodeSetParams, (NODE, const CUDA_MEMCPY3D *params,
					      CUcontext context),
	     ((void)context, set_moves(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY, params)));
DRIVER_PLAIN(cuGraphExecMemsetNodeSetParams, (NODE, const CUDA_MEMSET_NODE_PARAMS *params,
					      CUcontext context),
	     ((void)context, set_moves(exec, node, CU_GRAPH_NODE_TYPE_MEMSET, params)));
DRIVER_PLAIN(cuGraphExecBatchMemOpNodeSetParams, (NODE,
						  const CUDA_BATCH_MEM_OP_NODE_PARAMS *params),
	     set_moves(exec, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, params));
DRIVER_PLAIN(cuGraphExecHostNodeSetParams, (NODE, const CUDA_HOST_NODE_PARAMS *params),
	     set_host(exec, node, params));
DRIVER_PLAIN(cuGraphExecChildGraphNodeSetParams, (NODE, CUgraph child),
	     set_child(exec, node, graph__get(child)));
DRIVER_PLAIN(cuGraphExecEventRecordNodeSetEvent, (NODE, CUevent event),
	     set_event(exec, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
DRIVER_PLAIN(cuGraphExecEventWaitNodeSetEvent, (NODE, CUevent event),
	     set_event(exec, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
