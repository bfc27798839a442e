// SPDX-License-Identifier: BSD-2-Clause
/* Graphs: converts the runtime's descriptions of nodes to the driver's, and back. */
#include "cudart/array.h"

#include <string.h>

/* --- the runtime's structures as the driver's --- */

static int to_kernel(const struct cudaKernelNodeParams *params, CUDA_KERNEL_NODE_PARAMS *out)
{
	CUkernel kernel;
	int result = params ? kernel__resolve(params->func, &kernel) : (int)cudaErrorInvalidValue;

	if (result)
		return result;
	*out = (CUDA_KERNEL_NODE_PARAMS){
		.kern = kernel, .gridDimX = params->gridDim.x, .gridDimY = params->gridDim.y,
		.gridDimZ = params->gridDim.z, .blockDimX = params->blockDim.x,
		.blockDimY = params->blockDim.y, .blockDimZ = params->blockDim.z,
		.sharedMemBytes = params->sharedMemBytes, .kernelParams = params->kernelParams,
		.extra = params->extra,
	};
	return cudaSuccess;
}

static int to_symbol(const void *symbol, const void *from, size_t size, size_t offset,
		     enum cudaMemcpyKind kind, CUDA_MEMCPY3D *out)
{
	void *to;
	int result = copy__symbol_part(symbol, size, offset, &to);

	if (!result)
		*out = copy__row(to, from, size, kind);
	return result;
}

static int from_symbol(void *to, const void *symbol, size_t size, size_t offset,
		       enum cudaMemcpyKind kind, CUDA_MEMCPY3D *out)
{
	void *from;
	int result = copy__symbol_part(symbol, size, offset, &from);

	if (!result)
		*out = copy__row(to, from, size, kind);
	return result;
}

static int row(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
	       CUDA_MEMCPY3D *out)
{
	*out = copy__row(to, from, size, kind);
	return cudaSuccess;
}

/* Copies again the union members that the two APIs lay out differently. */
static int to_node(const struct cudaGraphNodeParams *params, CUgraphNodeParams *out)
{
	if (!params)
		return cudaErrorInvalidValue;
	memset(out, 0, sizeof(*out));
	memcpy(out, params, sizeof(*out));
	switch (params->type) {
	case cudaGraphNodeTypeKernel:
		return to_kernel(&params->kernel, &out->kernel);
	case cudaGraphNodeTypeMemcpy:
		memset(&out->memcpy, 0, sizeof(out->memcpy));
		out->memcpy.copyCtx = runtime.recorder->context();
		return copy__volume(&params->memcpy.copyParams, &out->memcpy.copyParams);
	case cudaGraphNodeTypeMemset:
		out->memset.ctx = runtime.recorder->context();
		return cudaSuccess;
	default:
		return cudaSuccess;
	}
}

/* --- and back --- */

static int from_kernel(CUgraphNode node, struct cudaKernelNodeParams *out)
{
	CUDA_KERNEL_NODE_PARAMS params;
	int result = out ? (int)D.cuGraphKernelNodeGetParams_v2(node, &params) :
			   (int)cudaErrorInvalidValue;

	if (result)
		return result;
	*out = (struct cudaKernelNodeParams){
		.func = params.kern ? (void *)params.kern : (void *)params.func,
		.gridDim = { params.gridDimX, params.gridDimY, params.gridDimZ },
		.blockDim = { params.blockDimX, params.blockDimY, params.blockDimZ },
		.sharedMemBytes = params.sharedMemBytes, .kernelParams = params.kernelParams,
		.extra = params.extra,
	};
	return cudaSuccess;
}

static enum cudaMemcpyKind kind_of(const CUDA_MEMCPY3D *copy)
{
	bool to_host = copy->dstMemoryType == CU_MEMORYTYPE_HOST;
	bool from_host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;

	if (copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	if (to_host)
		return from_host ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
	return from_host ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

static void *address_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
	return type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)host : (void *)(uintptr_t)device;
}

static int from_copy(CUgraphNode node, struct cudaMemcpy3DParms *out)
{
	CUDA_MEMCPY3D copy;
	int result = out ? (int)D.cuGraphMemcpyNodeGetParams(node, &copy) :
			   (int)cudaErrorInvalidValue;
	size_t unit = 1;

	if (result)
		return result;
	if (copy.dstArray || copy.srcArray)
		unit = array__element((cudaArray_t)(copy.dstArray ? copy.dstArray :
								    copy.srcArray));
	unit = unit ? unit : 1;
	*out = (struct cudaMemcpy3DParms){
		.srcArray = (cudaArray_t)copy.srcArray,
		.srcPos = { copy.srcXInBytes / unit, copy.srcY, copy.srcZ },
		.srcPtr = { address_of(copy.srcMemoryType, copy.srcHost, copy.srcDevice),
			    copy.srcPitch, copy.WidthInBytes, copy.srcHeight },
		.dstArray = (cudaArray_t)copy.dstArray,
		.dstPos = { copy.dstXInBytes / unit, copy.dstY, copy.dstZ },
		.dstPtr = { address_of(copy.dstMemoryType, copy.dstHost, copy.dstDevice),
			    copy.dstPitch, copy.WidthInBytes, copy.dstHeight },
		.extent = { copy.WidthInBytes / unit, copy.Height, copy.Depth },
		.kind = kind_of(&copy),
	};
	return cudaSuccess;
}

/* --- nodes --- */

#define PLACE cudaGraphNode_t *out, cudaGraph_t graph,					\
	      const cudaGraphNode_t *dependencies, size_t nr_dependencies
#define AT out, graph, dependencies, nr_dependencies
#define CONTEXT runtime.recorder->context()
/* Runs the work with the driver's structure, if it could be made. */
#define WITH_KERNEL(params, work)							\
	({										\
		CUDA_KERNEL_NODE_PARAMS kernel_ = { 0 };				\
		int made_ = to_kernel(params, &kernel_);				\
											\
		made_ ? made_ : (int)(work);						\
	})
#define WITH_COPY(make, work)								\
	({										\
		CUDA_MEMCPY3D copy_;							\
		int made_ = (make);							\
											\
		made_ ? made_ : (int)(work);						\
	})
#define WITH_NODE(params, work)								\
	({										\
		CUgraphNodeParams node_;						\
		int made_ = to_node(params, &node_);					\
											\
		made_ ? made_ : (int)(work);						\
	})

static int add_node(PLACE, const cudaGraphEdgeData *edges, struct cudaGraphNodeParams *params)
{
	return WITH_NODE(params, ({
		CUresult added = D.cuGraphAddNode_v2(out, graph, dependencies,
						     (const CUgraphEdgeData *)edges,
						     nr_dependencies, &node_);

		if (!added && params->type == cudaGraphNodeTypeMemAlloc)
			params->alloc.dptr = (void *)(uintptr_t)node_.alloc.dptr;
		added;
	}));
}

RUNTIME(cudaGraphAddKernelNode, SIM_OTHER, (PLACE, const struct cudaKernelNodeParams *params), 0,
	WITH_KERNEL(params, D.cuGraphAddKernelNode_v2(AT, &kernel_)));
RUNTIME(cudaGraphAddMemcpyNode, SIM_OTHER, (PLACE, const struct cudaMemcpy3DParms *params), 0,
	WITH_COPY(copy__volume(params, &copy_), D.cuGraphAddMemcpyNode(AT, &copy_, CONTEXT)));
RUNTIME(cudaGraphAddMemcpyNode1D, SIM_OTHER,
	(PLACE, void *to, const void *from, size_t size, enum cudaMemcpyKind kind), 0,
	WITH_COPY(row(to, from, size, kind, &copy_),
		  D.cuGraphAddMemcpyNode(AT, &copy_, CONTEXT)));
RUNTIME(cudaGraphAddMemcpyNodeToSymbol, SIM_OTHER,
	(PLACE, const void *symbol, const void *from, size_t size, size_t offset,
	 enum cudaMemcpyKind kind), 0,
	WITH_COPY(to_symbol(symbol, from, size, offset, kind, &copy_),
		  D.cuGraphAddMemcpyNode(AT, &copy_, CONTEXT)));
RUNTIME(cudaGraphAddMemcpyNodeFromSymbol, SIM_OTHER,
	(PLACE, void *to, const void *symbol, size_t size, size_t offset,
	 enum cudaMemcpyKind kind), 0,
	WITH_COPY(from_symbol(to, symbol, size, offset, kind, &copy_),
		  D.cuGraphAddMemcpyNode(AT, &copy_, CONTEXT)));
RUNTIME(cudaGraphAddMemsetNode, SIM_OTHER, (PLACE, const struct cudaMemsetParams *params), 0,
	(int)D.cuGraphAddMemsetNode(AT, (const CUDA_MEMSET_NODE_PARAMS *)params, CONTEXT));
RUNTIME(cudaGraphAddHostNode, SIM_OTHER, (PLACE, const struct cudaHostNodeParams *params), 0,
	(int)D.cuGraphAddHostNode(AT, (const CUDA_HOST_NODE_PARAMS *)params));
RUNTIME(cudaGraphAddChildGraphNode, SIM_OTHER, (PLACE, cudaGraph_t child), 0,
	(int)D.cuGraphAddChildGraphNode(AT, child));
RUNTIME_PLAIN(cudaGraphAddEmptyNode, (PLACE), (int)D.cuGraphAddEmptyNode(AT));
RUNTIME(cudaGraphAddEventRecordNode, SIM_OTHER, (PLACE, cudaEvent_t event), 0,
	(int)D.cuGraphAddEventRecordNode(AT, event));
RUNTIME(cudaGraphAddEventWaitNode, SIM_OTHER, (PLACE, cudaEvent_t event), 0,
	(int)D.cuGraphAddEventWaitNode(AT, event));
RUNTIME(cudaGraphAddMemAllocNode, SIM_OTHER, (PLACE, struct cudaMemAllocNodeParams *params), 0,
	(int)D.cuGraphAddMemAllocNode(AT, (CUDA_MEM_ALLOC_NODE_PARAMS *)params));
RUNTIME(cudaGraphAddMemFreeNode, SIM_OTHER, (PLACE, void *address), 0,
	(int)D.cuGraphAddMemFreeNode(AT, device_address(address)));

#define NODE cudaGraphNode_t node
#define EXEC cudaGraphExec_t exec, cudaGraphNode_t node

RUNTIME_PLAIN(cudaGraphNodeGetType, (NODE, enum cudaGraphNodeType *out),
	      (int)D.cuGraphNodeGetType(node, (CUgraphNodeType *)out));
RUNTIME(cudaGraphKernelNodeGetParams, SIM_OTHER, (NODE, struct cudaKernelNodeParams *out), 0,
	from_kernel(node, out));
RUNTIME(cudaGraphKernelNodeSetParams, SIM_OTHER,
	(NODE, const struct cudaKernelNodeParams *params), 0,
	WITH_KERNEL(params, D.cuGraphKernelNodeSetParams_v2(node, &kernel_)));
RUNTIME(cudaGraphKernelNodeGetAttribute, SIM_OTHER, (NODE, cudaLaunchAttributeID attribute,
						     cudaLaunchAttributeValue *out), 0,
	(int)D.cuGraphKernelNodeGetAttribute(node, (CUkernelNodeAttrID)attribute,
					     (CUkernelNodeAttrValue *)out));
RUNTIME(cudaGraphKernelNodeSetAttribute, SIM_OTHER,
	(NODE, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue *value), 0,
	(int)D.cuGraphKernelNodeSetAttribute(node, (CUkernelNodeAttrID)attribute,
					     (const CUkernelNodeAttrValue *)value));
RUNTIME(cudaGraphMemcpyNodeGetParams, SIM_OTHER, (NODE, struct cudaMemcpy3DParms *out), 0,
	from_copy(node, out));
RUNTIME(cudaGraphMemcpyNodeSetParams, SIM_OTHER, (NODE, const struct cudaMemcpy3DParms *params),
	0, WITH_COPY(copy__volume(params, &copy_),
		     D.cuGraphMemcpyNodeSetParams(node, &copy_)));
RUNTIME(cudaGraphMemcpyNodeSetParams1D, SIM_OTHER,
	(NODE, void *to, const void *from, size_t size, enum cudaMemcpyKind kind), 0,
	WITH_COPY(row(to, from, size, kind, &copy_),
		  D.cuGraphMemcpyNodeSetParams(node, &copy_)));
RUNTIME(cudaGraphMemcpyNodeSetParamsToSymbol, SIM_OTHER,
	(NODE, const void *symbol, const void *from, size_t size, size_t offset,
	 enum cudaMemcpyKind kind), 0,
	WITH_COPY(to_symbol(symbol, from, size, offset, kind, &copy_),
		  D.cuGraphMemcpyNodeSetParams(node, &copy_)));
RUNTIME(cudaGraphMemcpyNodeSetParamsFromSymbol, SIM_OTHER,
	(NODE, void *to, const void *symbol, size_t size, size_t offset,
	 enum cudaMemcpyKind kind), 0,
	WITH_COPY(from_symbol(to, symbol, size, offset, kind, &copy_),
		  D.cuGraphMemcpyNodeSetParams(node, &copy_)));
RUNTIME(cudaGraphMemsetNodeGetParams, SIM_OTHER, (NODE, struct cudaMemsetParams *out), 0,
	(int)D.cuGraphMemsetNodeGetParams(node, (CUDA_MEMSET_NODE_PARAMS *)out));
RUNTIME(cudaGraphMemsetNodeSetParams, SIM_OTHER, (NODE, const struct cudaMemsetParams *params),
	0, (int)D.cuGraphMemsetNodeSetParams(node, (const CUDA_MEMSET_NODE_PARAMS *)params));
RUNTIME(cudaGraphHostNodeGetParams, SIM_OTHER, (NODE, struct cudaHostNodeParams *out), 0,
	(int)D.cuGraphHostNodeGetParams(node, (CUDA_HOST_NODE_PARAMS *)out));
RUNTIME(cudaGraphHostNodeSetParams, SIM_OTHER, (NODE, const struct cudaHostNodeParams *params),
	0, (int)D.cuGraphHostNodeSetParams(node, (const CUDA_HOST_NODE_PARAMS *)params));
RUNTIME(cudaGraphChildGraphNodeGetGraph, SIM_OTHER, (NODE, cudaGraph_t *out), 0,
	(int)D.cuGraphChildGraphNodeGetGraph(node, out));
RUNTIME(cudaGraphEventRecordNodeGetEvent, SIM_OTHER, (NODE, cudaEvent_t *out), 0,
	(int)D.cuGraphEventRecordNodeGetEvent(node, out));
RUNTIME(cudaGraphEventRecordNodeSetEvent, SIM_OTHER, (NODE, cudaEvent_t event), 0,
	(int)D.cuGraphEventRecordNodeSetEvent(node, event));
RUNTIME(cudaGraphEventWaitNodeGetEvent, SIM_OTHER, (NODE, cudaEvent_t *out), 0,
	(int)D.cuGraphEventWaitNodeGetEvent(node, out));
RUNTIME(cudaGraphEventWaitNodeSetEvent, SIM_OTHER, (NODE, cudaEvent_t event), 0,
	(int)D.cuGraphEventWaitNodeSetEvent(node, event));
RUNTIME(cudaGraphMemAllocNodeGetParams, SIM_OTHER, (NODE, struct cudaMemAllocNodeParams *out), 0,
	(int)D.cuGraphMemAllocNodeGetParams(node, (CUDA_MEM_ALLOC_NODE_PARAMS *)out));
RUNTIME(cudaGraphMemFreeNodeGetParams, SIM_OTHER, (NODE, void *out), 0,
	(int)D.cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)out));
RUNTIME(cudaGraphNodeSetParams, SIM_OTHER, (NODE, struct cudaGraphNodeParams *params), 0,
	WITH_NODE(params, D.cuGraphNodeSetParams(node, &node_)));

/* --- instantiated graphs --- */

RUNTIME(cudaGraphExecKernelNodeSetParams, SIM_OTHER,
	(EXEC, const struct cudaKernelNodeParams *params), 0,
	WITH_KERNEL(params, D.cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel_)));
RUNTIME(cudaGraphExecMemcpyNodeSetParams, SIM_OTHER,
	(EXEC, const struct cudaMemcpy3DParms *params), 0,
	WITH_COPY(copy__volume(params, &copy_),
		  D.cuGraphExecMemcpyNodeSetParams(exec, node, &copy_, CONTEXT)));
RUNTIME(cudaGraphExecMemcpyNodeSetParams1D, SIM_OTHER,
	(EXEC, void *to, const void *from, size_t size, enum cudaMemcpyKind kind), 0,
	WITH_COPY(row(to, from, size, kind, &copy_),
		  D.cuGraphExecMemcpyNodeSetParams(exec, node, &copy_, CONTEXT)));
RUNTIME(cudaGraphExecMemcpyNodeSetParamsToSymbol, SIM_OTHER,
	(EXEC, const void *symbol, const void *from, size_t size, size_t offset,
	 enum cudaMemcpyKind kind), 0,
	WITH_COPY(to_symbol(symbol, from, size, offset, kind, &copy_),
		  D.cuGraphExecMemcpyNodeSetParams(exec, node, &copy_, CONTEXT)));
RUNTIME(cudaGraphExecMemcpyNodeSetParamsFromSymbol, SIM_OTHER,
	(EXEC, void *to, const void *symbol, size_t size, size_t offset,
	 enum cudaMemcpyKind kind), 0,
	WITH_COPY(from_symbol(to, symbol, size, offset, kind, &copy_),
		  D.cuGraphExecMemcpyNodeSetParams(exec, node, &copy_, CONTEXT)));
RUNTIME(cudaGraphExecMemsetNodeSetParams, SIM_OTHER,
	(EXEC, const struct cudaMemsetParams *params), 0,
	(int)D.cuGraphExecMemsetNodeSetParams(exec, node,
					      (const CUDA_MEMSET_NODE_PARAMS *)params, CONTEXT));
RUNTIME(cudaGraphExecHostNodeSetParams, SIM_OTHER,
	(EXEC, const struct cudaHostNodeParams *params), 0,
	(int)D.cuGraphExecHostNodeSetParams(exec, node, (const CUDA_HOST_NODE_PARAMS *)params));
RUNTIME(cudaGraphExecChildGraphNodeSetParams, SIM_OTHER, (EXEC, cudaGraph_t child), 0,
	(int)D.cuGraphExecChildGraphNodeSetParams(exec, node, child));
RUNTIME(cudaGraphExecEventRecordNodeSetEvent, SIM_OTHER, (EXEC, cudaEvent_t event), 0,
	(int)D.cuGraphExecEventRecordNodeSetEvent(exec, node, event));
RUNTIME(cudaGraphExecEventWaitNodeSetEvent, SIM_OTHER, (EXEC, cudaEvent_t event), 0,
	(int)D.cuGraphExecEventWaitNodeSetEvent(exec, node, event));
RUNTIME(cudaGraphExecNodeSetParams, SIM_OTHER, (EXEC, struct cudaGraphNodeParams *params), 0,
	WITH_NODE(params, D.cuGraphExecNodeSetParams(exec, node, &node_)));
RUNTIME(cudaGraphNodeSetEnabled, SIM_OTHER, (EXEC, unsigned int on), 0,
	(int)D.cuGraphNodeSetEnabled(exec, node, on));
RUNTIME(cudaGraphNodeGetEnabled, SIM_OTHER, (EXEC, unsigned int *out), 0,
	(int)D.cuGraphNodeGetEnabled(exec, node, out));

/* --- forms that differ between the runtimes --- */

#define EDGES const cudaGraphEdgeData *edges
#define EDGES_OUT cudaGraphEdgeData *edges
#define PAIRS cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to
#define PAIRS_OUT cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to

#define ADD_EDGES(data) (int)D.cuGraphAddDependencies_v2(graph, from, to, data, count)
#define REMOVE_EDGES(data) (int)D.cuGraphRemoveDependencies_v2(graph, from, to, data, count)
#define GET_EDGES(data) (int)D.cuGraphGetEdges_v2(graph, from, to, data, count)
#define GET_BEFORE(data) (int)D.cuGraphNodeGetDependencies_v2(node, out, data, count)
#define GET_AFTER(data) (int)D.cuGraphNodeGetDependentNodes_v2(node, out, data, count)
#define DATA ((const CUgraphEdgeData *)edges)
#define DATA_OUT ((CUgraphEdgeData *)edges)

#if CUDART_VERSION >= 13000
#define WITH_EDGES(name) name
RUNTIME(cudaGraphKernelNodeCopyAttributes, SIM_OTHER, (cudaGraphNode_t to, cudaGraphNode_t from),
	0, (int)D.cuGraphKernelNodeCopyAttributes(to, from));
#else
#define WITH_EDGES(name) name##_v2
RUNTIME(cudaGraphKernelNodeCopyAttributes, SIM_OTHER, (cudaGraphNode_t from, cudaGraphNode_t to),
	0, (int)D.cuGraphKernelNodeCopyAttributes(to, from));
RUNTIME(cudaGraphAddNode, SIM_OTHER, (PLACE, struct cudaGraphNodeParams *params), 0,
	add_node(AT, NULL, params));
RUNTIME_PLAIN(cudaGraphAddDependencies, (PAIRS, size_t count), ADD_EDGES(NULL));
RUNTIME_PLAIN(cudaGraphRemoveDependencies, (PAIRS, size_t count), REMOVE_EDGES(NULL));
RUNTIME_PLAIN(cudaGraphGetEdges, (PAIRS_OUT, size_t *count), GET_EDGES(NULL));
RUNTIME_PLAIN(cudaGraphNodeGetDependencies, (NODE, cudaGraphNode_t *out, size_t *count),
	      GET_BEFORE(NULL));
RUNTIME_PLAIN(cudaGraphNodeGetDependentNodes, (NODE, cudaGraphNode_t *out, size_t *count),
	      GET_AFTER(NULL));
#endif

/* RUNTIME does not expand its name; these expand it to the version's name first. */
#define RUNTIME_(name, params, work) RUNTIME(name, SIM_OTHER, params, 0, work)
#define RUNTIME_PLAIN_(name, params, work) RUNTIME_PLAIN(name, params, work)

RUNTIME_(WITH_EDGES(cudaGraphAddNode),
	 (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *dependencies, EDGES,
	  size_t nr_dependencies, struct cudaGraphNodeParams *params),
	 add_node(AT, edges, params));
RUNTIME_PLAIN_(WITH_EDGES(cudaGraphAddDependencies), (PAIRS, EDGES, size_t count),
	       ADD_EDGES(DATA));
RUNTIME_PLAIN_(WITH_EDGES(cudaGraphRemoveDependencies), (PAIRS, EDGES, size_t count),
	       REMOVE_EDGES(DATA));
RUNTIME_PLAIN_(WITH_EDGES(cudaGraphGetEdges), (PAIRS_OUT, EDGES_OUT, size_t *count),
	       GET_EDGES(DATA_OUT));
RUNTIME_PLAIN_(WITH_EDGES(cudaGraphNodeGetDependencies),
	       (NODE, cudaGraphNode_t *out, EDGES_OUT, size_t *count), GET_BEFORE(DATA_OUT));
RUNTIME_PLAIN_(WITH_EDGES(cudaGraphNodeGetDependentNodes),
	       (NODE, cudaGraphNode_t *out, EDGES_OUT, size_t *count), GET_AFTER(DATA_OUT));
