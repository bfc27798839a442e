// SPDX-License-Identifier: BSD-2-Clause
/*
 * Graphs: built by hand or by capturing a stream, instantiated and launched. A
 * graph is the list of its nodes; what depends on what is not kept.
 */
#include "cuda/driver.h"

#define MAX_GRAPHS (1u << 16)
#define MAX_NODES (1u << 20)

struct CUgraphNode_st {
	struct object object;
	uint64_t reserved;
	CUgraphNodeType type;
	struct CUgraph_st *graph;
	struct CUgraphNode_st *next;
	CUDA_KERNEL_NODE_PARAMS kernel;
};

struct CUgraph_st {
	struct object object;
	uint64_t reserved;
	uint64_t id;
	bool capturing;
	size_t nr_nodes;
	struct CUgraphNode_st *first;
	struct CUgraphNode_st **last;
};

struct CUgraphExec_st {
	struct object object;
	uint64_t reserved;
	uint64_t flags;
	size_t nr_nodes;
};

static struct pool *graphs, *nodes, *execs;

bool graph__start(void)
{
	graphs = pool__new(sizeof(struct CUgraph_st), MAX_GRAPHS);
	nodes = pool__new(sizeof(struct CUgraphNode_st), MAX_NODES);
	execs = pool__new(sizeof(struct CUgraphExec_st), MAX_GRAPHS);
	return graphs && nodes && execs;
}

static struct CUgraph_st *checked(CUgraph graph)
{
	return pool__holds(graphs, graph) ? graph : NULL;
}

static struct CUgraph_st *new_graph(void)
{
	struct CUgraph_st *graph = pool__take(graphs);

	if (graph) {
		graph->last = &graph->first;
		graph->id = __atomic_add_fetch(&driver.next_id, 1, __ATOMIC_RELAXED);
	}
	return graph;
}

static struct CUgraphNode_st *add(struct CUgraph_st *graph, CUgraphNodeType type)
{
	struct CUgraphNode_st *node = pool__take(nodes);

	if (!node)
		return NULL;
	node->type = type;
	pthread_mutex_lock(&driver.lock);
	node->graph = graph;
	*graph->last = node;
	graph->last = &node->next;
	graph->nr_nodes++;
	pthread_mutex_unlock(&driver.lock);
	return node;
}

int graph__capture(struct CUstream_st *stream, CUgraphNodeType type, struct kernel *kernel)
{
	struct CUgraphNode_st *node = add(stream->capture, type);

	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->kernel.func = (CUfunction)kernel;
	stream->last = node;
	return CUDA_SUCCESS;
}

void graph__join(struct CUstream_st *stream, struct CUevent_st *event)
{
	stream->capture = event->capture;
	stream->origin = event->stream;
}

static int begin(struct CUstream_st *stream)
{
	struct CUgraph_st *graph;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream == stream->context->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (stream->capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	graph = new_graph();
	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	graph->capturing = true;
	stream->origin = NULL;
	__atomic_store_n(&stream->capture, graph, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

static void leave(struct CUstream_st *stream, const struct CUgraph_st *graph)
{
	if (__atomic_load_n(&stream->capture, __ATOMIC_ACQUIRE) != graph)
		return;
	__atomic_store_n(&stream->capture, NULL, __ATOMIC_RELEASE);
	stream->origin = NULL;
	stream->last = NULL;
}

static int end(struct CUstream_st *stream, CUgraph *out)
{
	struct CUstream_st *other = NULL;
	struct CUgraph_st *graph;

	if (!stream || !out)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	graph = stream->capture;
	if (!graph)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (stream->origin)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	graph->capturing = false;
	leave(stream, graph);
	leave(&driver_thread.stream, graph);
	while ((other = pool__next(driver.streams, other)) != NULL)
		leave(other, graph);
	*out = graph;
	return CUDA_SUCCESS;
}

static int is_capturing(const struct CUstream_st *stream, CUstreamCaptureStatus *out)
{
	if (!stream || !out)
		return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
	*out = stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

static int capture_info(struct CUstream_st *stream, CUstreamCaptureStatus *status,
			cuuint64_t *id, CUgraph *graph, const CUgraphNode **dependencies,
			size_t *count)
{
	int result = is_capturing(stream, status);

	if (result)
		return result;
	if (id)
		*id = stream->capture ? stream->capture->id : 0;
	if (graph)
		*graph = stream->capture;
	if (dependencies)
		*dependencies = &stream->last;
	if (count)
		*count = stream->last ? 1 : 0;
	return CUDA_SUCCESS;
}

static int exchange_mode(CUstreamCaptureMode *mode)
{
	CUstreamCaptureMode old = driver_thread.capture_mode;

	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	driver_thread.capture_mode = *mode;
	*mode = old;
	return CUDA_SUCCESS;
}

static int create(CUgraph *out)
{
	if (!driver.initialized)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = new_graph();
	return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int destroy(struct CUgraph_st *graph)
{
	struct CUgraphNode_st *next;

	if (!graph || graph->capturing)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct CUgraphNode_st *node = graph->first; node; node = next) {
		next = node->next;
		pool__give(nodes, node);
	}
	pool__give(graphs, graph);
	return CUDA_SUCCESS;
}

static int add_node(CUgraphNode *out, struct CUgraph_st *graph, CUgraphNodeType type,
		    const void *params)
{
	if (!out || !graph || !params)
		return CUDA_ERROR_INVALID_VALUE;
	*out = add(graph, type);
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

static int instantiate(CUgraphExec *out, struct CUgraph_st *graph, uint64_t flags)
{
	struct CUgraphExec_st *exec;

	if (!out || !graph || graph->capturing)
		return CUDA_ERROR_INVALID_VALUE;
	exec = pool__take(execs);
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->flags = flags;
	exec->nr_nodes = graph->nr_nodes;
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

static int launch(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
	if (!pool__holds(execs, exec))
		return CUDA_ERROR_INVALID_VALUE;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture)
		return graph__capture(stream, CU_GRAPH_NODE_TYPE_EMPTY, NULL);
	stream__issue(stream);
	return CUDA_SUCCESS;
}

static int destroy_exec(struct CUgraphExec_st *exec)
{
	if (!pool__holds(execs, exec))
		return CUDA_ERROR_INVALID_VALUE;
	pool__give(execs, exec);
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
#define DEPENDENCIES const CUgraphNode *dependencies, size_t nr_dependencies
#define IGNORE_DEPENDENCIES (void)dependencies, (void)nr_dependencies

DRIVER_PTSZ(cuStreamBeginCapture_v2, SIM_OTHER, (CUstream stream, CUstreamCaptureMode mode), 0,
	    ((void)mode, begin(STREAM)));
DRIVER_PTSZ(cuStreamEndCapture, SIM_OTHER, (CUstream stream, CUgraph *out), 0,
	    end(STREAM, out));
DRIVER_PTSZ(cuStreamIsCapturing, SIM_OTHER, (CUstream stream, CUstreamCaptureStatus *out), 0,
	    is_capturing(STREAM, out));
DRIVER_PTSZ(cuStreamGetCaptureInfo_v2, SIM_OTHER,
	    (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
	     const CUgraphNode **dependencies, size_t *count), 0,
	    capture_info(STREAM, status, id, graph, dependencies, count));
DRIVER_PTSZ(cuStreamGetCaptureInfo_v3, SIM_OTHER,
	    (CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
	     const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count), 0,
	    ((void)edges, capture_info(STREAM, status, id, graph, dependencies, count)));
DRIVER_PLAIN(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *mode),
	     exchange_mode(mode));

DRIVER_PLAIN(cuGraphCreate, (CUgraph *out, unsigned int flags), ((void)flags, create(out)));
DRIVER_PLAIN(cuGraphDestroy, (CUgraph graph), destroy(checked(graph)));
DRIVER_PLAIN(cuGraphAddKernelNode_v2, (CUgraphNode *out, CUgraph graph, DEPENDENCIES,
				       const CUDA_KERNEL_NODE_PARAMS *params),
	     (IGNORE_DEPENDENCIES, add_kernel_node(out, checked(graph), params)));
DRIVER_PLAIN(cuGraphAddEmptyNode, (CUgraphNode *out, CUgraph graph, DEPENDENCIES),
	     (IGNORE_DEPENDENCIES,
	      add_node(out, checked(graph), CU_GRAPH_NODE_TYPE_EMPTY, out)));
DRIVER_PLAIN(cuGraphAddMemcpyNode, (CUgraphNode *out, CUgraph graph, DEPENDENCIES,
				    const CUDA_MEMCPY3D *params, CUcontext context),
	     (IGNORE_DEPENDENCIES, (void)context,
	      add_node(out, checked(graph), CU_GRAPH_NODE_TYPE_MEMCPY, params)));
DRIVER_PLAIN(cuGraphAddMemsetNode, (CUgraphNode *out, CUgraph graph, DEPENDENCIES,
				    const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context),
	     (IGNORE_DEPENDENCIES, (void)context,
	      add_node(out, checked(graph), CU_GRAPH_NODE_TYPE_MEMSET, params)));
DRIVER_PLAIN(cuGraphAddHostNode, (CUgraphNode *out, CUgraph graph, DEPENDENCIES,
				  const CUDA_HOST_NODE_PARAMS *params),
	     (IGNORE_DEPENDENCIES,
	      add_node(out, checked(graph), CU_GRAPH_NODE_TYPE_HOST, params)));
DRIVER_PLAIN(cuGraphAddDependencies, (CUgraph graph, const CUgraphNode *from,
				      const CUgraphNode *to, size_t count),
	     ((void)from, (void)to, (void)count,
	      checked(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE));
DRIVER_PLAIN(cuGraphKernelNodeGetParams_v2, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out),
	     get_kernel_params(node, out));
DRIVER_PLAIN(cuGraphKernelNodeSetParams_v2, (CUgraphNode node,
					     const CUDA_KERNEL_NODE_PARAMS *params),
	     set_kernel_params(node, params));
DRIVER_PLAIN(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *out), get_type(node, out));
DRIVER_PLAIN(cuGraphGetNodes, (CUgraph graph, CUgraphNode *out, size_t *count),
	     get_nodes(checked(graph), out, count));
DRIVER(cuGraphInstantiateWithFlags, SIM_OTHER, (CUgraphExec *out, CUgraph graph,
						unsigned long long flags), 0,
       instantiate(out, checked(graph), flags));
DRIVER(cuGraphInstantiate_v2, SIM_OTHER, (CUgraphExec *out, CUgraph graph, CUgraphNode *node,
					  char *log, size_t size), 0,
       ((void)node, (void)log, (void)size, instantiate(out, checked(graph), 0)));
DRIVER_PTSZ(cuGraphInstantiateWithParams, SIM_OTHER, (CUgraphExec *out, CUgraph graph,
						      CUDA_GRAPH_INSTANTIATE_PARAMS *params), 0,
	    instantiate_params(out, checked(graph), params));
DRIVER_PTSZ(cuGraphUpload, SIM_OTHER, (CUgraphExec exec, CUstream stream), 0,
	    pool__holds(execs, exec) && STREAM ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
DRIVER_PTSZ(cuGraphLaunch, SIM_LAUNCH, (CUgraphExec exec, CUstream stream), 0,
	    launch(exec, STREAM));
DRIVER_PLAIN(cuGraphExecDestroy, (CUgraphExec exec), destroy_exec(exec));
DRIVER_PLAIN(cuGraphExecGetFlags, (CUgraphExec exec, cuuint64_t *out), get_flags(exec, out));
