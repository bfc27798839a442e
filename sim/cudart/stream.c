// SPDX-License-Identifier: BSD-2-Clause
/*
 * Streams, events, capture and graphs: each its driver function.
 */
#include "cudart/runtime.h"

#include <string.h>

static int graph_kernel(cudaGraphNode_t *out, cudaGraph_t graph,
			const cudaGraphNode_t *dependencies, size_t nr_dependencies,
			const struct cudaKernelNodeParams *params)
{
	CUDA_KERNEL_NODE_PARAMS node = { 0 };
	CUkernel kernel;
	int result;

	if (!params)
		return cudaErrorInvalidValue;
	result = kernel__resolve(params->func, &kernel);
	if (result)
		return result;
	node.kern = kernel;
	node.gridDimX = params->gridDim.x;
	node.gridDimY = params->gridDim.y;
	node.gridDimZ = params->gridDim.z;
	node.blockDimX = params->blockDim.x;
	node.blockDimY = params->blockDim.y;
	node.blockDimZ = params->blockDim.z;
	node.sharedMemBytes = params->sharedMemBytes;
	node.kernelParams = params->kernelParams;
	node.extra = params->extra;
	return (int)D.cuGraphAddKernelNode_v2(out, graph, dependencies, nr_dependencies, &node);
}

static int open_event(cudaEvent_t *out, const cudaIpcEventHandle_t *handle)
{
	CUipcEventHandle driver_handle;

	memcpy(&driver_handle, handle, sizeof(driver_handle));
	return (int)D.cuIpcOpenEventHandle(out, driver_handle);
}

RUNTIME(cudaStreamCreate, SIM_OTHER, (cudaStream_t *out), 0, (int)D.cuStreamCreate(out, 0));
RUNTIME(cudaStreamCreateWithFlags, SIM_OTHER, (cudaStream_t *out, unsigned int flags), 0,
	(int)D.cuStreamCreate(out, flags));
RUNTIME(cudaStreamCreateWithPriority, SIM_OTHER, (cudaStream_t *out, unsigned int flags,
						  int priority), 0,
	(int)D.cuStreamCreateWithPriority(out, flags, priority));
RUNTIME(cudaStreamDestroy, SIM_OTHER, (cudaStream_t stream), 0,
	(int)D.cuStreamDestroy_v2(stream));
RUNTIME_PTSZ(cudaStreamSynchronize, SIM_SYNC, (cudaStream_t stream), 0,
	     (int)D_PTSZ(cuStreamSynchronize)(stream));
RUNTIME_PTSZ(cudaStreamQuery, SIM_OTHER, (cudaStream_t stream), 0,
	     (int)D_PTSZ(cuStreamQuery)(stream));
RUNTIME_PTSZ(cudaStreamGetFlags, SIM_OTHER, (cudaStream_t stream, unsigned int *out), 0,
	     (int)D_PTSZ(cuStreamGetFlags)(stream, out));
RUNTIME_PTSZ(cudaStreamGetPriority, SIM_OTHER, (cudaStream_t stream, int *out), 0,
	     (int)D_PTSZ(cuStreamGetPriority)(stream, out));
RUNTIME_PTSZ(cudaStreamGetId, SIM_OTHER, (cudaStream_t stream, unsigned long long *out), 0,
	     (int)D_PTSZ(cuStreamGetId)(stream, out));
RUNTIME_PTSZ(cudaStreamGetDevice, SIM_OTHER, (cudaStream_t stream, int *out), 0,
	     (int)D_PTSZ(cuStreamGetDevice)(stream, out));
RUNTIME_PTSZ(cudaStreamWaitEvent, SIM_OTHER, (cudaStream_t stream, cudaEvent_t event,
					      unsigned int flags), 0,
	     (int)D_PTSZ(cuStreamWaitEvent)(stream, event, flags));
RUNTIME_PTSZ(cudaStreamAddCallback, SIM_OTHER, (cudaStream_t stream,
						cudaStreamCallback_t callback, void *argument,
						unsigned int flags), 0,
	     (int)D_PTSZ(cuStreamAddCallback)(stream, (CUstreamCallback)(void *)callback,
					      argument, flags));
RUNTIME_PTSZ(cudaLaunchHostFunc, SIM_OTHER, (cudaStream_t stream, cudaHostFn_t function,
					     void *argument), 0,
	     (int)D_PTSZ(cuLaunchHostFunc)(stream, function, argument));
RUNTIME_PTSZ(cudaStreamAttachMemAsync, SIM_OTHER, (cudaStream_t stream, void *address,
						   size_t size, unsigned int flags), 0,
	     (int)D_PTSZ(cuStreamAttachMemAsync)(stream, device_address(address), size, flags));

RUNTIME(cudaEventCreate, SIM_OTHER, (cudaEvent_t *out), 0, (int)D.cuEventCreate(out, 0));
RUNTIME(cudaEventCreateWithFlags, SIM_OTHER, (cudaEvent_t *out, unsigned int flags), 0,
	(int)D.cuEventCreate(out, flags));
RUNTIME(cudaEventDestroy, SIM_OTHER, (cudaEvent_t event), 0, (int)D.cuEventDestroy_v2(event));
RUNTIME_PTSZ(cudaEventRecord, SIM_OTHER, (cudaEvent_t event, cudaStream_t stream), 0,
	     (int)D_PTSZ(cuEventRecord)(event, stream));
RUNTIME_PTSZ(cudaEventRecordWithFlags, SIM_OTHER, (cudaEvent_t event, cudaStream_t stream,
						   unsigned int flags), 0,
	     (int)D_PTSZ(cuEventRecordWithFlags)(event, stream, flags));
RUNTIME(cudaEventQuery, SIM_OTHER, (cudaEvent_t event), 0, (int)D.cuEventQuery(event));
RUNTIME(cudaEventSynchronize, SIM_SYNC, (cudaEvent_t event), 0,
	(int)D.cuEventSynchronize(event));
RUNTIME(cudaEventElapsedTime, SIM_OTHER, (float *out, cudaEvent_t start, cudaEvent_t end), 0,
	(int)D.cuEventElapsedTime_v2(out, start, end));

RUNTIME(cudaIpcGetEventHandle, SIM_OTHER, (cudaIpcEventHandle_t *out, cudaEvent_t event), 0,
	(int)D.cuIpcGetEventHandle((CUipcEventHandle *)out, event));
RUNTIME(cudaIpcOpenEventHandle, SIM_OTHER, (cudaEvent_t *out, cudaIpcEventHandle_t handle), 0,
	open_event(out, &handle));

RUNTIME_PTSZ(cudaStreamBeginCapture, SIM_OTHER, (cudaStream_t stream,
						 enum cudaStreamCaptureMode mode), 0,
	     (int)D_PTSZ(cuStreamBeginCapture_v2)(stream, (CUstreamCaptureMode)mode));
RUNTIME_PTSZ(cudaStreamEndCapture, SIM_OTHER, (cudaStream_t stream, cudaGraph_t *out), 0,
	     (int)D_PTSZ(cuStreamEndCapture)(stream, out));
RUNTIME_PTSZ(cudaStreamIsCapturing, SIM_OTHER, (cudaStream_t stream,
						enum cudaStreamCaptureStatus *out), 0,
	     (int)D_PTSZ(cuStreamIsCapturing)(stream, (CUstreamCaptureStatus *)out));
RUNTIME_PTSZ(cudaStreamGetCaptureInfo, SIM_OTHER,
	     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
	      cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
	      const cudaGraphEdgeData **edges, size_t *count), 0,
	     (int)D_PTSZ(cuStreamGetCaptureInfo_v3)(stream, (CUstreamCaptureStatus *)status,
						    (cuuint64_t *)id, graph, dependencies,
						    (const CUgraphEdgeData **)edges, count));
RUNTIME(cudaThreadExchangeStreamCaptureMode, SIM_OTHER, (enum cudaStreamCaptureMode *mode), 0,
	(int)D.cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));

RUNTIME_PLAIN(cudaGraphCreate, (cudaGraph_t *out, unsigned int flags),
	      (int)D.cuGraphCreate(out, flags));
RUNTIME_PLAIN(cudaGraphDestroy, (cudaGraph_t graph), (int)D.cuGraphDestroy(graph));
RUNTIME(cudaGraphAddKernelNode, SIM_OTHER,
	(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
	 size_t nr_dependencies, const struct cudaKernelNodeParams *params), 0,
	graph_kernel(out, graph, dependencies, nr_dependencies, params));
RUNTIME_PLAIN(cudaGraphAddEmptyNode,
	      (cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
	       size_t nr_dependencies),
	      (int)D.cuGraphAddEmptyNode(out, graph, dependencies, nr_dependencies));
RUNTIME_PLAIN(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *out, size_t *count),
	      (int)D.cuGraphGetNodes(graph, out, count));
RUNTIME(cudaGraphInstantiate, SIM_OTHER, (cudaGraphExec_t *out, cudaGraph_t graph,
					  unsigned long long flags), 0,
	(int)D.cuGraphInstantiateWithFlags(out, graph, flags));
RUNTIME(cudaGraphInstantiateWithFlags, SIM_OTHER, (cudaGraphExec_t *out, cudaGraph_t graph,
						   unsigned long long flags), 0,
	(int)D.cuGraphInstantiateWithFlags(out, graph, flags));
RUNTIME_PLAIN(cudaGraphExecDestroy, (cudaGraphExec_t exec), (int)D.cuGraphExecDestroy(exec));
RUNTIME_PTSZ(cudaGraphUpload, SIM_OTHER, (cudaGraphExec_t exec, cudaStream_t stream), 0,
	     (int)D_PTSZ(cuGraphUpload)(exec, stream));
RUNTIME_PTSZ(cudaGraphLaunch, SIM_LAUNCH, (cudaGraphExec_t exec, cudaStream_t stream), 0,
	     (int)D_PTSZ(cuGraphLaunch)(exec, stream));
