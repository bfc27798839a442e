// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions of the runtime API that are not simulated: arrays, textures,
 * graphics, external memory, most of graph editing. They are exported, so that
 * any program links and every function can be found; a call is counted and gets
 * the answer that it is not supported.
 */
#include "cudart/runtime.h"

#define UNSUPPORTED(X)									\
	X(__cudaGetProcAddress) X(__cudaRegisterHostVar) X(__cudaRegisterUnifiedTable)	\
	X(cudaArrayGetInfo) X(cudaArrayGetMemoryRequirements) X(cudaArrayGetPlane)	\
	X(cudaArrayGetSparseProperties) X(cudaCreateSurfaceObject)			\
	X(cudaCreateTextureObject) X(cudaDestroyExternalMemory)				\
	X(cudaDestroyExternalSemaphore) X(cudaDestroySurfaceObject)			\
	X(cudaDestroyTextureObject) X(cudaDeviceFlushGPUDirectRDMAWrites)		\
	X(cudaDeviceGetGraphMemAttribute) X(cudaDeviceGetHostAtomicCapabilities)	\
	X(cudaDeviceGetNvSciSyncAttributes) X(cudaDeviceGetP2PAtomicCapabilities)	\
	X(cudaDeviceGetSharedMemConfig) X(cudaDeviceGetTexture1DLinearMaxWidth)		\
	X(cudaDeviceGraphMemTrim) X(cudaDeviceRegisterAsyncNotification)		\
	X(cudaDeviceSetGraphMemAttribute) X(cudaDeviceSetSharedMemConfig)		\
	X(cudaDeviceUnregisterAsyncNotification) X(cudaEGLStreamConsumerAcquireFrame)	\
	X(cudaEGLStreamConsumerConnect) X(cudaEGLStreamConsumerConnectWithFlags)	\
	X(cudaEGLStreamConsumerDisconnect) X(cudaEGLStreamConsumerReleaseFrame)		\
	X(cudaEGLStreamProducerConnect) X(cudaEGLStreamProducerDisconnect)		\
	X(cudaEGLStreamProducerPresentFrame) X(cudaEGLStreamProducerReturnFrame)	\
	X(cudaEventCreateFromEGLSync) X(cudaExternalMemoryGetMappedBuffer)		\
	X(cudaExternalMemoryGetMappedMipmappedArray) X(cudaFreeArray)			\
	X(cudaFreeMipmappedArray) X(cudaFuncGetParamInfo) X(cudaGLGetDevices)		\
	X(cudaGLMapBufferObject) X(cudaGLMapBufferObjectAsync)				\
	X(cudaGLRegisterBufferObject) X(cudaGLSetBufferObjectMapFlags)			\
	X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) X(cudaGLUnmapBufferObjectAsync)	\
	X(cudaGLUnregisterBufferObject) X(cudaGetChannelDesc) X(cudaGetExportTable)	\
	X(cudaGetMipmappedArrayLevel) X(cudaGetSurfaceObjectResourceDesc)		\
	X(cudaGetTextureObjectResourceDesc) X(cudaGetTextureObjectResourceViewDesc)	\
	X(cudaGetTextureObjectTextureDesc) X(cudaGraphAddChildGraphNode)		\
	X(cudaGraphAddDependencies) X(cudaGraphAddEventRecordNode)			\
	X(cudaGraphAddEventWaitNode) X(cudaGraphAddExternalSemaphoresSignalNode)	\
	X(cudaGraphAddExternalSemaphoresWaitNode) X(cudaGraphAddHostNode)		\
	X(cudaGraphAddMemAllocNode) X(cudaGraphAddMemFreeNode)				\
	X(cudaGraphAddMemcpyNode) X(cudaGraphAddMemcpyNode1D)				\
	X(cudaGraphAddMemcpyNodeFromSymbol) X(cudaGraphAddMemcpyNodeToSymbol)		\
	X(cudaGraphAddMemsetNode) X(cudaGraphAddNode)					\
	X(cudaGraphChildGraphNodeGetGraph) X(cudaGraphClone)				\
	X(cudaGraphConditionalHandleCreate) X(cudaGraphDebugDotPrint)			\
	X(cudaGraphDestroyNode) X(cudaGraphEventRecordNodeGetEvent)			\
	X(cudaGraphEventRecordNodeSetEvent) X(cudaGraphEventWaitNodeGetEvent)		\
	X(cudaGraphEventWaitNodeSetEvent) X(cudaGraphExecChildGraphNodeSetParams)	\
	X(cudaGraphExecEventRecordNodeSetEvent) X(cudaGraphExecEventWaitNodeSetEvent)	\
	X(cudaGraphExecExternalSemaphoresSignalNodeSetParams)				\
	X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) X(cudaGraphExecGetFlags)	\
	X(cudaGraphExecHostNodeSetParams) X(cudaGraphExecKernelNodeSetParams)		\
	X(cudaGraphExecMemcpyNodeSetParams) X(cudaGraphExecMemcpyNodeSetParams1D)	\
	X(cudaGraphExecMemcpyNodeSetParamsFromSymbol)					\
	X(cudaGraphExecMemcpyNodeSetParamsToSymbol) X(cudaGraphExecMemsetNodeSetParams)	\
	X(cudaGraphExecNodeSetParams) X(cudaGraphExecUpdate)				\
	X(cudaGraphExternalSemaphoresSignalNodeGetParams)				\
	X(cudaGraphExternalSemaphoresSignalNodeSetParams)				\
	X(cudaGraphExternalSemaphoresWaitNodeGetParams)					\
	X(cudaGraphExternalSemaphoresWaitNodeSetParams) X(cudaGraphGetEdges)		\
	X(cudaGraphGetRootNodes) X(cudaGraphHostNodeGetParams)				\
	X(cudaGraphHostNodeSetParams) X(cudaGraphInstantiateWithParams)			\
	X(cudaGraphInstantiateWithParams_ptsz) X(cudaGraphKernelNodeCopyAttributes)	\
	X(cudaGraphKernelNodeGetAttribute) X(cudaGraphKernelNodeGetParams)		\
	X(cudaGraphKernelNodeSetAttribute) X(cudaGraphKernelNodeSetParams)		\
	X(cudaGraphMemAllocNodeGetParams) X(cudaGraphMemFreeNodeGetParams)		\
	X(cudaGraphMemcpyNodeGetParams) X(cudaGraphMemcpyNodeSetParams)			\
	X(cudaGraphMemcpyNodeSetParams1D) X(cudaGraphMemcpyNodeSetParamsFromSymbol)	\
	X(cudaGraphMemcpyNodeSetParamsToSymbol) X(cudaGraphMemsetNodeGetParams)		\
	X(cudaGraphMemsetNodeSetParams) X(cudaGraphNodeFindInClone)			\
	X(cudaGraphNodeGetDependencies) X(cudaGraphNodeGetDependentNodes)		\
	X(cudaGraphNodeGetEnabled) X(cudaGraphNodeGetType) X(cudaGraphNodeSetEnabled)	\
	X(cudaGraphNodeSetParams) X(cudaGraphReleaseUserObject)				\
	X(cudaGraphRemoveDependencies) X(cudaGraphRetainUserObject)			\
	X(cudaGraphicsEGLRegisterImage) X(cudaGraphicsGLRegisterBuffer)			\
	X(cudaGraphicsGLRegisterImage) X(cudaGraphicsMapResources)			\
	X(cudaGraphicsResourceGetMappedEglFrame)					\
	X(cudaGraphicsResourceGetMappedMipmappedArray)					\
	X(cudaGraphicsResourceGetMappedPointer) X(cudaGraphicsResourceSetMapFlags)	\
	X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources)		\
	X(cudaGraphicsUnregisterResource) X(cudaGraphicsVDPAURegisterOutputSurface)	\
	X(cudaGraphicsVDPAURegisterVideoSurface) X(cudaImportExternalMemory)		\
	X(cudaImportExternalSemaphore) X(cudaLibraryGetUnifiedFunction)			\
	X(cudaLogsCurrent) X(cudaLogsDumpToFile) X(cudaLogsDumpToMemory)		\
	X(cudaLogsRegisterCallback) X(cudaLogsUnregisterCallback) X(cudaMalloc3DArray)	\
	X(cudaMallocArray) X(cudaMallocMipmappedArray)					\
	X(cudaMemDiscardAndPrefetchBatchAsync)						\
	X(cudaMemDiscardAndPrefetchBatchAsync_ptsz) X(cudaMemDiscardBatchAsync)		\
	X(cudaMemDiscardBatchAsync_ptsz) X(cudaMemGetDefaultMemPool)			\
	X(cudaMemGetMemPool) X(cudaMemPoolExportPointer)				\
	X(cudaMemPoolExportToShareableHandle) X(cudaMemPoolImportFromShareableHandle)	\
	X(cudaMemPoolImportPointer) X(cudaMemPrefetchBatchAsync)			\
	X(cudaMemPrefetchBatchAsync_ptsz) X(cudaMemRangeGetAttribute)			\
	X(cudaMemRangeGetAttributes) X(cudaMemSetMemPool) X(cudaMemcpy2DArrayToArray)	\
	X(cudaMemcpy2DArrayToArray_ptds) X(cudaMemcpy2DFromArray)			\
	X(cudaMemcpy2DFromArrayAsync) X(cudaMemcpy2DFromArrayAsync_ptsz)		\
	X(cudaMemcpy2DFromArray_ptds) X(cudaMemcpy2DToArray)				\
	X(cudaMemcpy2DToArrayAsync) X(cudaMemcpy2DToArrayAsync_ptsz)			\
	X(cudaMemcpy2DToArray_ptds) X(cudaMemcpy3DBatchAsync)				\
	X(cudaMemcpy3DBatchAsync_ptsz) X(cudaMemcpy3DPeer) X(cudaMemcpy3DPeerAsync)	\
	X(cudaMemcpy3DPeerAsync_ptsz) X(cudaMemcpy3DPeer_ptds)				\
	X(cudaMemcpyArrayToArray) X(cudaMemcpyArrayToArray_ptds) X(cudaMemcpyFromArray)	\
	X(cudaMemcpyFromArrayAsync) X(cudaMemcpyFromArrayAsync_ptsz)			\
	X(cudaMemcpyFromArray_ptds) X(cudaMemcpyToArray) X(cudaMemcpyToArrayAsync)	\
	X(cudaMemcpyToArrayAsync_ptsz) X(cudaMemcpyToArray_ptds) X(cudaMemset3D)	\
	X(cudaMemset3DAsync) X(cudaMemset3DAsync_ptsz) X(cudaMemset3D_ptds)		\
	X(cudaMipmappedArrayGetMemoryRequirements)					\
	X(cudaMipmappedArrayGetSparseProperties) X(cudaSignalExternalSemaphoresAsync)	\
	X(cudaSignalExternalSemaphoresAsync_ptsz) X(cudaStreamBeginCaptureToGraph)	\
	X(cudaStreamBeginCaptureToGraph_ptsz) X(cudaStreamCopyAttributes)		\
	X(cudaStreamCopyAttributes_ptsz) X(cudaStreamGetAttribute)			\
	X(cudaStreamGetAttribute_ptsz) X(cudaStreamSetAttribute)			\
	X(cudaStreamSetAttribute_ptsz) X(cudaStreamUpdateCaptureDependencies)		\
	X(cudaStreamUpdateCaptureDependencies_ptsz) X(cudaUserObjectCreate)		\
	X(cudaUserObjectRelease) X(cudaUserObjectRetain) X(cudaVDPAUGetDevice)		\
	X(cudaVDPAUSetVDPAUDevice) X(cudaWaitExternalSemaphoresAsync)			\
	X(cudaWaitExternalSemaphoresAsync_ptsz)

#define DEFINE(name) RUNTIME_PLAIN(name, (void), cudaErrorNotSupported);

UNSUPPORTED(DEFINE)
