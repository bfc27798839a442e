// SPDX-License-Identifier: BSD-2-Clause
/* Streams, events and capture: each function calls its driver function. */
#include "cudart/runtime.h"

#include <string.h>

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

#define CAPTURE cudaStream_t stream, enum cudaStreamCaptureStatus *status,		\
		unsigned long long *id, cudaGraph_t *graph,				\
		const cudaGraphNode_t **dependencies
#define GET_CAPTURE(edges)								\
	(int)D_PTSZ(cuStreamGetCaptureInfo_v3)(stream, (CUstreamCaptureStatus *)status,	\
					       (cuuint64_t *)id, graph, dependencies,	\
					       edges, count)

#if CUDART_VERSION >= 13000
RUNTIME_PTSZ(cudaStreamGetCaptureInfo, SIM_OTHER,
	     (CAPTURE, const cudaGraphEdgeData **edges, size_t *count), 0,
	     GET_CAPTURE((const CUgraphEdgeData **)edges));
RUNTIME_PTSZ(cudaStreamUpdateCaptureDependencies, SIM_OTHER,
	     (cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
	      size_t count, unsigned int flags), 0,
	     (int)D_PTSZ(cuStreamUpdateCaptureDependencies_v2)(
		     stream, dependencies, (const CUgraphEdgeData *)edges, count, flags));
#else
RUNTIME_PTSZ(cudaStreamGetCaptureInfo, SIM_OTHER,
	     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id),
	     0,
	     (int)D_PTSZ(cuStreamGetCaptureInfo_v3)(stream, (CUstreamCaptureStatus *)status,
						    (cuuint64_t *)id, NULL, NULL, NULL, NULL));
RUNTIME_PTSZ(cudaStreamGetCaptureInfo_v2, SIM_OTHER, (CAPTURE, size_t *count), 0,
	     GET_CAPTURE(NULL));
RUNTIME_PTSZ(cudaStreamGetCaptureInfo_v3, SIM_OTHER,
	     (CAPTURE, const cudaGraphEdgeData **edges, size_t *count), 0,
	     GET_CAPTURE((const CUgraphEdgeData **)edges));
RUNTIME_PTSZ(cudaStreamUpdateCaptureDependencies, SIM_OTHER,
	     (cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count,
	      unsigned int flags), 0,
	     (int)D_PTSZ(cuStreamUpdateCaptureDependencies_v2)(stream, dependencies, NULL, count,
							       flags));
RUNTIME_PTSZ(cudaStreamUpdateCaptureDependencies_v2, SIM_OTHER,
	     (cudaStream_t stream, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges,
	      size_t count, unsigned int flags), 0,
	     (int)D_PTSZ(cuStreamUpdateCaptureDependencies_v2)(
		     stream, dependencies, (const CUgraphEdgeData *)edges, count, flags));
RUNTIME(cudaEventElapsedTime_v2, SIM_OTHER, (float *out, cudaEvent_t start, cudaEvent_t end), 0,
	(int)D.cuEventElapsedTime_v2(out, start, end));
#endif

RUNTIME_PTSZ(cudaStreamBeginCaptureToGraph, SIM_OTHER,
	     (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
	      const cudaGraphEdgeData *edges, size_t count, enum cudaStreamCaptureMode mode), 0,
	     (int)D_PTSZ(cuStreamBeginCaptureToGraph)(stream, graph, dependencies,
						      (const CUgraphEdgeData *)edges, count,
						      (CUstreamCaptureMode)mode));
RUNTIME_PTSZ(cudaStreamGetAttribute, SIM_OTHER, (cudaStream_t stream,
						 cudaLaunchAttributeID attribute,
						 cudaLaunchAttributeValue *out), 0,
	     (int)D_PTSZ(cuStreamGetAttribute)(stream, (CUstreamAttrID)attribute,
					       (CUstreamAttrValue *)out));
RUNTIME_PTSZ(cudaStreamSetAttribute, SIM_OTHER, (cudaStream_t stream,
						 cudaLaunchAttributeID attribute,
						 const cudaLaunchAttributeValue *value), 0,
	     (int)D_PTSZ(cuStreamSetAttribute)(stream, (CUstreamAttrID)attribute,
					       (const CUstreamAttrValue *)value));
RUNTIME_PTSZ(cudaStreamCopyAttributes, SIM_OTHER, (cudaStream_t to, cudaStream_t from), 0,
	     (int)D_PTSZ(cuStreamCopyAttributes)(to, from));
RUNTIME(cudaThreadExchangeStreamCaptureMode, SIM_OTHER, (enum cudaStreamCaptureMode *mode), 0,
	(int)D.cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
