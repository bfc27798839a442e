// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs and their nodes, built by hand.
 */
#include "cuda/graph.h"

#define MAX_GRAPHS (1u << 16)
#define MAX_NODES (1u << 20)

static struct pool *graphs, *nodes;

bool graph__start(void)
{
	graphs = pool__new(sizeof(struct CUgraph_st), MAX_GRAPHS);
	nodes = pool__new(sizeof(struct CUgraphNode_st), MAX_NODES);
	return graphs && nodes;
}

struct CUgraph_st *graph__get(CUgraph graph)
{
	return pool__holds(graphs, graph) ? graph : NULL;
}

struct CUgraphNode_st *node__get(CUgraphNode node)
{
	return pool__holds(nodes, node) ? node : NULL;
}

struct CUgraph_st *graph__new(void)
{
	struct CUgraph_st *graph = pool__take(graphs);

	if (graph)
		graph->id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
	return graph;
}

struct CUgraphNode_st *graph__add(struct CUgraph_st *graph, CUgraphNodeType type)
{
	struct CUgraphNode_st *node = pool__take(nodes);

	if (!node)
		return NULL;
	node->type = type;
	node->id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
	node->kernels = type == CU_GRAPH_NODE_TYPE_KERNEL;
	node->graph = graph;
	pthread_mutex_lock(&driver.lock);
	node->previous = graph->last;
	if (graph->last)
		graph->last->next = node;
	else
		graph->first = node;
	graph->last = node;
	graph->nr_nodes++;
	pthread_mutex_unlock(&driver.lock);
	return node;
}

void graph__free(struct CUgraph_st *graph)
{
	struct CUgraphNode_st *next;

	if (!graph)
		return;
	for (struct CUgraphNode_st *node = graph->first; node; node = next) {
		next = node->next;
		pool__give(nodes, node);
	}
	pool__give(graphs, graph);
}

static int create(CUgraph *out)
{
	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = graph__new();
	if (!*out)
		return CUDA_ERROR_OUT_OF_MEMORY;
	driver__created(SIM_GRAPH);
	return CUDA_SUCCESS;
}

static int destroy(struct CUgraph_st *graph)
{
	if (!graph || graph->capture_id)
		return CUDA_ERROR_INVALID_VALUE;
	graph__free(graph);
	driver__destroyed(SIM_GRAPH);
	return CUDA_SUCCESS;
}

static int add_node(CUgraphNode *out, struct CUgraph_st *graph, CUgraphNodeType type,
		    const void *params)
{
	if (!out || !graph || !params)
		return CUDA_ERROR_INVALID_VALUE;
	*out = graph__add(graph, type);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int check_kernel(const CUDA_KERNEL_NODE_PARAMS *params)
{
	const void *handle = params->func ? (void *)params->func : (void *)params->kern;

	if (!kernel__get(handle))
		return CUDA_ERROR_INVALID_VALUE;
	return launch__check(&params->gridDimX, &params->blockDimX);
}

static int add_kernel_node(CUgraphNode *out, struct CUgraph_st *graph,
			   const CUDA_KERNEL_NODE_PARAMS *params)
{
	int result;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	result = check_kernel(params);
	if (!result)
		result = add_node(out, graph, CU_GRAPH_NODE_TYPE_KERNEL, params);
	if (!result)
		(*out)->kernel = *params;
	return result;
}

static int get_kernel_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out)
{
	if (!pool__holds(nodes, node) || node->type != CU_GRAPH_NODE_TYPE_KERNEL || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = node->kernel;
	return CUDA_SUCCESS;
}

static int set_kernel_params(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	int result;

	if (!pool__holds(nodes, node) || node->type != CU_GRAPH_NODE_TYPE_KERNEL || !params)
		return CUDA_ERROR_INVALID_VALUE;
	result = check_kernel(params);
	if (!result)
		node->kernel = *params;
	return result;
}

static int get_type(CUgraphNode node, CUgraphNodeType *out)
{
	if (!pool__holds(nodes, node) || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = node->type;
	return CUDA_SUCCESS;
}

static int get_nodes(struct CUgraph_st *graph, CUgraphNode *out, size_t *count)
{
	size_t n = 0;

	if (!graph || !count)
		return CUDA_ERROR_INVALID_VALUE;
	if (!out) {
		*count = graph->nr_nodes;
		return CUDA_SUCCESS;
	}
	for (struct CUgraphNode_st *node = graph->first; node && n < *count; node = node->next)
		out[n++] = node;
	*count = n;
	return CUDA_SUCCESS;
}

#define DEPENDENCIES const CUgraphNode *dependencies, size_t nr_dependencies
#define IGNORE_DEPENDENCIES (void)dependencies, (void)nr_dependencies

DRIVER_PLAIN(cuGraphCreate, (CUgraph *out, unsigned int flags), ((void)flags, create(out)));
DRIVER_PLAIN(cuGraphDestroy, (CUgraph graph), destroy(graph__get(graph)));
DRIVER_PLAIN(cuGraphAddKernelNode_v2, (CUgraphNode *out, CUgraph graph, DEPENDENCIES,
				       const CUDA_KERNEL_NODE_PARAMS *params),
	     (IGNORE_DEPENDENCIES, add_kernel_node(out, graph__get(graph), params)));
DRIVER_PLAIN(cuGraphAddEmptyNode, (CUgraphNode *out, CUgraph graph, DEPENDENCIES),
	     (IGNORE_DEPENDENCIES,
	      add_node(out, graph__get(graph), CU_GRAPH_NODE_TYPE_EMPTY, out)));
DRIVER_PLAIN(cuGraphAddMemcpyNode, (CUgraphNode *out, CUgraph graph, DEPENDENCIES,
				    const CUDA_MEMCPY3D *params, CUcontext context),
	     (IGNORE_DEPENDENCIES, (void)context,
	      add_node(out, graph__get(graph), CU_GRAPH_NODE_TYPE_MEMCPY, params)));
DRIVER_PLAIN(cuGraphAddMemsetNode, (CUgraphNode *out, CUgraph graph, DEPENDENCIES,
				    const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context),
	     (IGNORE_DEPENDENCIES, (void)context,
	      add_node(out, graph__get(graph), CU_GRAPH_NODE_TYPE_MEMSET, params)));
DRIVER_PLAIN(cuGraphAddHostNode, (CUgraphNode *out, CUgraph graph, DEPENDENCIES,
				  const CUDA_HOST_NODE_PARAMS *params),
	     (IGNORE_DEPENDENCIES,
	      add_node(out, graph__get(graph), CU_GRAPH_NODE_TYPE_HOST, params)));
DRIVER_PLAIN(cuGraphAddDependencies, (CUgraph graph, const CUgraphNode *from,
				      const CUgraphNode *to, size_t count),
	     ((void)from, (void)to, (void)count,
	      graph__get(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE));
DRIVER_PLAIN(cuGraphKernelNodeGetParams_v2, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out),
	     get_kernel_params(node, out));
DRIVER_PLAIN(cuGraphKernelNodeSetParams_v2, (CUgraphNode node,
					     const CUDA_KERNEL_NODE_PARAMS *params),
	     set_kernel_params(node, params));
DRIVER_PLAIN(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *out), get_type(node, out));
DRIVER_PLAIN(cuGraphGetNodes, (CUgraph graph, CUgraphNode *out, size_t *count),
	     get_nodes(graph__get(graph), out, count));
