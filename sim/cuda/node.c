// SPDX-License-Identifier: BSD-2-Clause
/*
 * The contents of graph nodes: added by the function of their type or by the generic one, queried
 * and changed.
 */
#include "cuda/graph.h"
#include "cuda/memory.h"

int node__check_kernel(const CUDA_KERNEL_NODE_PARAMS *params)
{
	const void *handle = params->func ? (void *)params->func : (void *)params->kern;

	if (!kernel__get(handle))
		return CUDA_ERROR_INVALID_VALUE;
	return launch__check(&params->gridDimX, &params->blockDimX);
}

int node__reserve(struct CUgraphNode_st *node, size_t size, int device, CUdeviceptr *out)
{
	struct block like = { .kind = MEMORY_GRAPH, .size = size, .device = device };
	uint64_t address;
	int result = memory__allocate(&like, &address);

	if (result)
		return result;
	node->allocation.bytesize = size;
	node->allocation.dptr = address;
	node->owns_memory = true;
	*out = address;
	return CUDA_SUCCESS;
}

/* The first form's structure is the beginning of the second's. */
static CUDA_KERNEL_NODE_PARAMS from_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	CUDA_KERNEL_NODE_PARAMS wide = { 0 };

	__builtin_memcpy(&wide, params, sizeof(*params));
	return wide;
}

/* The common arguments of both kinds of adding functions: the destination and the dependencies. */
struct place {
	CUgraphNode *out;
	struct CUgraph_st *graph;
	const CUgraphNode *from;
	size_t count;
};

static int add(const struct place *at, CUgraphNodeType type)
{
	return graph__add_after(at->out, at->graph, type, at->from, at->count);
}

static int add_kernel(const struct place *at, const CUDA_KERNEL_NODE_PARAMS *params)
{
	int result = node__check_kernel(params);

	if (!result)
		result = add(at, CU_GRAPH_NODE_TYPE_KERNEL);
	if (!result)
		(*at->out)->kernel = *params;
	return result;
}

static int add_kernel_v1(const struct place *at, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	CUDA_KERNEL_NODE_PARAMS wide = from_v1(params);

	return add_kernel(at, &wide);
}

static int add_copy(const struct place *at, const CUDA_MEMCPY3D *params)
{
	int result = add(at, CU_GRAPH_NODE_TYPE_MEMCPY);

	if (!result)
		(*at->out)->copy = *params;
	return result;
}

static int add_set(const struct place *at, const CUDA_MEMSET_NODE_PARAMS *params)
{
	int result = add(at, CU_GRAPH_NODE_TYPE_MEMSET);

	if (!result)
		(*at->out)->set = *params;
	return result;
}

static int add_host(const struct place *at, const CUDA_HOST_NODE_PARAMS *params)
{
	int result = params->fn ? add(at, CU_GRAPH_NODE_TYPE_HOST) :
				  (int)CUDA_ERROR_INVALID_VALUE;

	if (!result)
		(*at->out)->host = *params;
	return result;
}

static int add_child(const struct place *at, struct CUgraph_st *child)
{
	struct CUgraph_st *copy;
	int result;

	if (!child || child->capture_id)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	copy = graph__clone(child);
	pthread_mutex_unlock(&driver.lock);
	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = add(at, CU_GRAPH_NODE_TYPE_GRAPH);
	if (result)
		graph__free(copy);
	else
		(*at->out)->child = copy;
	return result;
}

static int add_event(const struct place *at, CUgraphNodeType type, CUevent event)
{
	int result;

	if (!pool__holds(driver.events, event))
		return CUDA_ERROR_INVALID_HANDLE;
	result = add(at, type);
	if (!result)
		(*at->out)->event = event;
	return result;
}

static int add_allocation(const struct place *at, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
	int device = params->poolProps.location.id;
	int result;

	if (driver__require_device(device) || !params->bytesize)
		return CUDA_ERROR_INVALID_VALUE;
	result = add(at, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
	if (result)
		return result;
	(*at->out)->allocation = *params;
	return node__reserve(*at->out, params->bytesize, device, &params->dptr);
}

static int add_free(const struct place *at, CUdeviceptr address)
{
	struct block block;
	int result;

	if (!memory__find(address, &block) || block.kind != MEMORY_GRAPH)
		return CUDA_ERROR_INVALID_VALUE;
	result = add(at, CU_GRAPH_NODE_TYPE_MEM_FREE);
	if (!result)
		(*at->out)->address = address;
	return result;
}

static int add_batch(const struct place *at, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
	int result = add(at, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);

	if (!result)
		(*at->out)->batch = *params;
	return result;
}

static CUDA_MEMSET_NODE_PARAMS without_context(const CUDA_MEMSET_NODE_PARAMS_v2 *params)
{
	return (CUDA_MEMSET_NODE_PARAMS){
		.dst = params->dst, .pitch = params->pitch, .value = params->value,
		.elementSize = params->elementSize, .width = params->width,
		.height = params->height,
	};
}

static int add_any(const struct place *at, CUgraphNodeParams *params)
{
	CUDA_MEMSET_NODE_PARAMS set;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)params->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return add_kernel(at, &params->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return add_copy(at, &params->memcpy.copyParams);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		set = without_context(&params->memset);
		return add_set(at, &set);
	case CU_GRAPH_NODE_TYPE_HOST:
		return add_host(at, &params->host);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return add_child(at, graph__get(params->graph.graph));
	case CU_GRAPH_NODE_TYPE_EMPTY:
		return add(at, CU_GRAPH_NODE_TYPE_EMPTY);
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return add_event(at, params->type, params->eventWait.event);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return add_allocation(at, &params->alloc);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return add_free(at, params->free.dptr);
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return add_batch(at, &params->memOp);
	}
	return CUDA_ERROR_NOT_SUPPORTED;
}

static int set_kernel(struct CUgraphNode_st *node, const CUDA_KERNEL_NODE_PARAMS *params)
{
	int result;

	if (!node || !params)
		return CUDA_ERROR_INVALID_VALUE;
	result = node__check_kernel(params);
	if (!result)
		node->kernel = *params;
	return result;
}

static int set_kernel_v1(struct CUgraphNode_st *node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
	CUDA_KERNEL_NODE_PARAMS wide;

	if (!params)
		return CUDA_ERROR_INVALID_VALUE;
	wide = from_v1(params);
	return set_kernel(node, &wide);
}

static int set_any(struct CUgraphNode_st *node, const CUgraphNodeParams *params)
{
	if (!node || !params || node->type != params->type)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)params->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return set_kernel(node, &params->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		node->copy = params->memcpy.copyParams;
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		node->set = without_context(&params->memset);
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_HOST:
		node->host = params->host;
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		node->event = params->eventWait.event;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_NOT_SUPPORTED;
}

static int set_event(struct CUgraphNode_st *node, CUevent event)
{
	if (!node || !pool__holds(driver.events, event))
		return CUDA_ERROR_INVALID_VALUE;
	node->event = event;
	return CUDA_SUCCESS;
}

static int get_type(CUgraphNode node, CUgraphNodeType *out)
{
	if (!node__get(node) || !out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = node->type;
	return CUDA_SUCCESS;
}

#define PLACE CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,		\
	      size_t nr_dependencies
#define AT (&(struct place){ out, graph__get(graph), dependencies, nr_dependencies })
#define WITH(params, work) ((params) ? (work) : (int)CUDA_ERROR_INVALID_VALUE)

DRIVER_PLAIN(cuGraphAddKernelNode_v2, (PLACE, const CUDA_KERNEL_NODE_PARAMS *params),
	     WITH(params, add_kernel(AT, params)));
DRIVER_PLAIN(cuGraphAddKernelNode, (PLACE, const CUDA_KERNEL_NODE_PARAMS_v1 *params),
	     WITH(params, add_kernel_v1(AT, params)));
DRIVER_PLAIN(cuGraphAddEmptyNode, (PLACE), add(AT, CU_GRAPH_NODE_TYPE_EMPTY));
DRIVER_PLAIN(cuGraphAddMemcpyNode, (PLACE, const CUDA_MEMCPY3D *params, CUcontext context),
	     ((void)context, WITH(params, add_copy(AT, params))));
DRIVER_PLAIN(cuGraphAddMemsetNode, (PLACE, const CUDA_MEMSET_NODE_PARAMS *params,
				    CUcontext context),
	     ((void)context, WITH(params, add_set(AT, params))));
DRIVER_PLAIN(cuGraphAddHostNode, (PLACE, const CUDA_HOST_NODE_PARAMS *params),
	     WITH(params, add_host(AT, params)));
DRIVER_PLAIN(cuGraphAddChildGraphNode, (PLACE, CUgraph child),
	     add_child(AT, graph__get(child)));
DRIVER_PLAIN(cuGraphAddEventRecordNode, (PLACE, CUevent event),
	     add_event(AT, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
DRIVER_PLAIN(cuGraphAddEventWaitNode, (PLACE, CUevent event),
	     add_event(AT, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
DRIVER_PLAIN(cuGraphAddMemAllocNode, (PLACE, CUDA_MEM_ALLOC_NODE_PARAMS *params),
	     WITH(params, add_allocation(AT, params)));
DRIVER_PLAIN(cuGraphAddMemFreeNode, (PLACE, CUdeviceptr address), add_free(AT, address));
DRIVER_PLAIN(cuGraphAddBatchMemOpNode, (PLACE, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params),
	     WITH(params, add_batch(AT, params)));
DRIVER_PLAIN(cuGraphAddNode, (PLACE, CUgraphNodeParams *params), add_any(AT, params));
DRIVER_PLAIN(cuGraphAddNode_v2, (CUgraphNode *out, CUgraph graph,
				 const CUgraphNode *dependencies, const CUgraphEdgeData *edges,
				 size_t nr_dependencies, CUgraphNodeParams *params),
	     ((void)edges, add_any(AT, params)));

DRIVER_PLAIN(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *out), get_type(node, out));
DRIVER_PLAIN(cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams *params),
	     set_any(node__get(node), params));

/* Copies a member out of a node of the type, or into it. */
#define GET(type, out, member)								\
	({										\
		struct CUgraphNode_st *node_ =						\
			node__get_typed(node, CU_GRAPH_NODE_TYPE_##type);		\
											\
		if (node_ && (out))							\
			*(out) = node_->member;						\
		node_ && (out) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;		\
	})
#define SET(type, in, member)								\
	({										\
		struct CUgraphNode_st *node_ =						\
			node__get_typed(node, CU_GRAPH_NODE_TYPE_##type);		\
											\
		if (node_ && (in))							\
			node_->member = *(in);						\
		node_ && (in) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;		\
	})
#define KERNEL_NODE node__get_typed(node, CU_GRAPH_NODE_TYPE_KERNEL)

/* The function that returns a node's parameters, and the one that sets them. */
#define NODE_GET(name, type, what, member)						\
	DRIVER_PLAIN(name, (CUgraphNode node, what *out), GET(type, out, member))
#define NODE_SET(name, type, what, member)						\
	DRIVER_PLAIN(name, (CUgraphNode node, const what *in), SET(type, in, member))

NODE_GET(cuGraphKernelNodeGetParams_v2, KERNEL, CUDA_KERNEL_NODE_PARAMS, kernel);
DRIVER_PLAIN(cuGraphKernelNodeGetParams, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *out),
	     GET(KERNEL, out, first_form));
DRIVER_PLAIN(cuGraphKernelNodeSetParams_v2, (CUgraphNode node,
					     const CUDA_KERNEL_NODE_PARAMS *in),
	     set_kernel(KERNEL_NODE, in));
DRIVER_PLAIN(cuGraphKernelNodeSetParams, (CUgraphNode node,
					  const CUDA_KERNEL_NODE_PARAMS_v1 *in),
	     set_kernel_v1(KERNEL_NODE, in));
NODE_GET(cuGraphMemcpyNodeGetParams, MEMCPY, CUDA_MEMCPY3D, copy);
NODE_SET(cuGraphMemcpyNodeSetParams, MEMCPY, CUDA_MEMCPY3D, copy);
NODE_GET(cuGraphMemsetNodeGetParams, MEMSET, CUDA_MEMSET_NODE_PARAMS, set);
NODE_SET(cuGraphMemsetNodeSetParams, MEMSET, CUDA_MEMSET_NODE_PARAMS, set);
NODE_GET(cuGraphHostNodeGetParams, HOST, CUDA_HOST_NODE_PARAMS, host);
NODE_SET(cuGraphHostNodeSetParams, HOST, CUDA_HOST_NODE_PARAMS, host);
NODE_GET(cuGraphBatchMemOpNodeGetParams, BATCH_MEM_OP, CUDA_BATCH_MEM_OP_NODE_PARAMS, batch);
NODE_SET(cuGraphBatchMemOpNodeSetParams, BATCH_MEM_OP, CUDA_BATCH_MEM_OP_NODE_PARAMS, batch);
NODE_GET(cuGraphMemAllocNodeGetParams, MEM_ALLOC, CUDA_MEM_ALLOC_NODE_PARAMS, allocation);
NODE_GET(cuGraphMemFreeNodeGetParams, MEM_FREE, CUdeviceptr, address);
NODE_GET(cuGraphChildGraphNodeGetGraph, GRAPH, CUgraph, child);
NODE_GET(cuGraphEventRecordNodeGetEvent, EVENT_RECORD, CUevent, event);
NODE_GET(cuGraphEventWaitNodeGetEvent, WAIT_EVENT, CUevent, event);
DRIVER_PLAIN(cuGraphEventRecordNodeSetEvent, (CUgraphNode node, CUevent event),
	     set_event(node__get_typed(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD), event));
DRIVER_PLAIN(cuGraphEventWaitNodeSetEvent, (CUgraphNode node, CUevent event),
	     set_event(node__get_typed(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT), event));

/* Attributes have no effect here. */
DRIVER_PLAIN(cuGraphKernelNodeGetAttribute, (CUgraphNode node, CUkernelNodeAttrID attribute,
					     CUkernelNodeAttrValue *out),
	     ((void)attribute, KERNEL_NODE && out ?
	      (__builtin_memset(out, 0, sizeof(*out)), CUDA_SUCCESS) :
	      CUDA_ERROR_INVALID_VALUE));
DRIVER_PLAIN(cuGraphKernelNodeSetAttribute, (CUgraphNode node, CUkernelNodeAttrID attribute,
					     const CUkernelNodeAttrValue *value),
	     ((void)attribute, KERNEL_NODE && value ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE));
DRIVER_PLAIN(cuGraphKernelNodeCopyAttributes, (CUgraphNode node, CUgraphNode from),
	     KERNEL_NODE && node__get_typed(from, CU_GRAPH_NODE_TYPE_KERNEL) ? CUDA_SUCCESS :
	     CUDA_ERROR_INVALID_VALUE);
