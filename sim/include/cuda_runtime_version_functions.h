/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of the runtime API that have another form in each major version, or exist in only one.
 * CUDART_VERSION chooses. Included by cuda_api.h.
 */
#ifndef CUDA_RUNTIME_VERSION_FUNCTIONS_H
#define CUDA_RUNTIME_VERSION_FUNCTIONS_H

#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void *address, size_t size, enum cudaMemoryAdvise advice,
			struct cudaMemLocation location);
cudaError_t cudaMemPrefetchAsync(const void *address, size_t size, struct cudaMemLocation location,
			unsigned int flags, cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_ptsz(const void *address, size_t size,
			struct cudaMemLocation location, unsigned int flags, cudaStream_t stream);
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes,
			size_t count, struct cudaMemcpyAttributes *attributes, size_t *indices,
			size_t nr_attributes, cudaStream_t stream);
cudaError_t cudaMemcpyBatchAsync_ptsz(void *const *to, const void *const *from, const size_t *sizes,
			size_t count, struct cudaMemcpyAttributes *attributes, size_t *indices,
			size_t nr_attributes, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
			unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
			unsigned long long flags, cudaStream_t stream);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
			const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
			size_t numDependencies);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
			const cudaGraphNode_t *pDependencies,
			const cudaGraphEdgeData *dependencyData, size_t numDependencies,
			struct cudaGraphNodeParams *nodeParams);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
			cudaGraphEdgeData *edgeData, size_t *numEdges);
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
			cudaGraphEdgeData *edgeData, size_t *pNumDependencies);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
			cudaGraphEdgeData *edgeData, size_t *pNumDependentNodes);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
			const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
			size_t numDependencies);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
			unsigned long long *id, cudaGraph_t *graph,
			const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
			size_t *count);
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
			unsigned long long *id, cudaGraph_t *graph,
			const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges,
			size_t *count);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
			const cudaGraphEdgeData *dependencyData, size_t numDependencies,
			unsigned int flags);
cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
			cudaGraphNode_t *dependencies, const cudaGraphEdgeData *dependencyData,
			size_t numDependencies, unsigned int flags);
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned int *capabilities,
			const enum cudaAtomicOperation *operations, unsigned int count, int device);
cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned int *capabilities,
			const enum cudaAtomicOperation *operations, unsigned int count,
			int srcDevice, int dstDevice);
cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
			struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
			size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void **dptrs, size_t *sizes, size_t count,
			struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
			size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardBatchAsync(void **dptrs, size_t *sizes, size_t count,
			unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardBatchAsync_ptsz(void **dptrs, size_t *sizes, size_t count,
			unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
			enum cudaMemAllocationType type);
cudaError_t cudaMemGetMemPool(cudaMemPool_t *memPool, struct cudaMemLocation *location,
			enum cudaMemAllocationType type);
cudaError_t cudaMemPrefetchBatchAsync(void **dptrs, size_t *sizes, size_t count,
			struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
			size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemPrefetchBatchAsync_ptsz(void **dptrs, size_t *sizes, size_t count,
			struct cudaMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
			size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
			cudaMemPool_t memPool);
#else
cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
			int device);
cudaError_t cudaMemAdvise_v2(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
			struct cudaMemLocation location);
cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice,
			cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_ptsz(const void *devPtr, size_t count, int dstDevice,
			cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_v2(const void *devPtr, size_t count,
			struct cudaMemLocation location, unsigned int flags, cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_v2_ptsz(const void *devPtr, size_t count,
			struct cudaMemLocation location, unsigned int flags, cudaStream_t stream);
cudaError_t cudaMemcpyBatchAsync(void **dsts, void **srcs, size_t *sizes, size_t count,
			struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
			size_t *failIdx, cudaStream_t stream);
cudaError_t cudaMemcpyBatchAsync_ptsz(void **dsts, void **srcs, size_t *sizes, size_t count,
			struct cudaMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
			size_t *failIdx, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
			size_t *failIdx, unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t numOps, struct cudaMemcpy3DBatchOp *opList,
			size_t *failIdx, unsigned long long flags, cudaStream_t stream);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
			const cudaGraphNode_t *to, size_t numDependencies);
cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
			const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
			size_t numDependencies);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
			const cudaGraphNode_t *pDependencies, size_t numDependencies,
			struct cudaGraphNodeParams *nodeParams);
cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *pGraphNode, cudaGraph_t graph,
			const cudaGraphNode_t *pDependencies,
			const cudaGraphEdgeData *dependencyData, size_t numDependencies,
			struct cudaGraphNodeParams *nodeParams);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
			size_t *numEdges);
cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
			cudaGraphEdgeData *edgeData, size_t *numEdges);
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hSrc, cudaGraphNode_t hDst);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
			size_t *pNumDependencies);
cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *pDependencies,
			cudaGraphEdgeData *edgeData, size_t *pNumDependencies);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *pDependentNodes,
			size_t *pNumDependentNodes);
cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node,
			cudaGraphNode_t *pDependentNodes, cudaGraphEdgeData *edgeData,
			size_t *pNumDependentNodes);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
			const cudaGraphNode_t *to, size_t numDependencies);
cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
			const cudaGraphNode_t *to, const cudaGraphEdgeData *edgeData,
			size_t numDependencies);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
			enum cudaStreamCaptureStatus *pCaptureStatus, unsigned long long *pId);
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream,
			enum cudaStreamCaptureStatus *pCaptureStatus, unsigned long long *pId);
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
			enum cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
			cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
			size_t *numDependencies_out);
cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream,
			enum cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
			cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
			size_t *numDependencies_out);
cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream,
			enum cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
			cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
			const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out);
cudaError_t cudaStreamGetCaptureInfo_v3_ptsz(cudaStream_t stream,
			enum cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
			cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out,
			const cudaGraphEdgeData **edgeData_out, size_t *numDependencies_out);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
			size_t numDependencies, unsigned int flags);
cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
			cudaGraphNode_t *dependencies, size_t numDependencies, unsigned int flags);
cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream,
			cudaGraphNode_t *dependencies, const cudaGraphEdgeData *dependencyData,
			size_t numDependencies, unsigned int flags);
cudaError_t cudaStreamUpdateCaptureDependencies_v2_ptsz(cudaStream_t stream,
			cudaGraphNode_t *dependencies, const cudaGraphEdgeData *dependencyData,
			size_t numDependencies, unsigned int flags);
cudaError_t cudaEventElapsedTime_v2(float *ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device);
cudaError_t cudaLaunchCooperativeKernelMultiDevice(struct cudaLaunchParams *launchParamsList,
			unsigned int numDevices, unsigned int flags);
cudaError_t cudaSetDoubleForDevice(double *d);
cudaError_t cudaSetDoubleForHost(double *d);
cudaError_t cudaThreadExit(void);
cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *pCacheConfig);
cudaError_t cudaThreadGetLimit(size_t *pValue, enum cudaLimit limit);
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache cacheConfig);
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaThreadSynchronize(void);
#endif

#endif
