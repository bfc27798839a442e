/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The driver functions that the simulated runtime calls, and the table of them, which it fills from
 * libcuda's exports when it first needs the driver.
 */
#ifndef SIM_CUDART_DRIVER_CALLS_H
#define SIM_CUDART_DRIVER_CALLS_H

/* X: one name; Y: a name with a _ptsz form; Z: one with a _ptds form. */
#define DRIVER_CALLS(X, Y, Z)								\
	X(cuInit) X(cuDriverGetVersion) X(cuDeviceGet) X(cuDeviceGetCount)		\
	X(cuDeviceGetName) X(cuDeviceGetUuid_v2) X(cuDeviceTotalMem_v2)			\
	X(cuDeviceGetAttribute) X(cuDeviceGetPCIBusId) X(cuDeviceGetByPCIBusId)		\
	X(cuDeviceCanAccessPeer) X(cuDeviceGetP2PAttribute)				\
	X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxReset_v2)			\
	X(cuDevicePrimaryCtxSetFlags_v2)						\
	X(cuCtxSetCurrent) X(cuCtxGetDevice) X(cuCtxSynchronize)			\
	X(cuCtxEnablePeerAccess) X(cuCtxDisablePeerAccess) X(cuCtxGetLimit)		\
	X(cuCtxSetLimit) X(cuCtxGetStreamPriorityRange)					\
	X(cuCtxResetPersistingL2Cache)							\
	X(cuMemAlloc_v2) X(cuMemAllocManaged) X(cuMemAllocPitch_v2) X(cuMemHostAlloc)	\
	X(cuMemFree_v2) X(cuMemFreeHost) X(cuMemHostRegister_v2) X(cuMemHostUnregister)	\
	X(cuMemHostGetDevicePointer_v2) X(cuMemHostGetFlags) X(cuMemGetInfo_v2)		\
	X(cuPointerGetAttributes) X(cuIpcGetMemHandle) X(cuIpcOpenMemHandle_v2)		\
	X(cuIpcCloseMemHandle) X(cuMemAdvise_v2) X(cuIpcGetEventHandle)			\
	X(cuIpcOpenEventHandle)								\
	Y(cuMemPrefetchAsync_v2) Y(cuMemAllocAsync) Y(cuMemAllocFromPoolAsync)		\
	Y(cuMemFreeAsync)								\
	X(cuMemPoolCreate) X(cuMemPoolDestroy) X(cuMemPoolTrimTo)			\
	X(cuMemPoolGetAttribute) X(cuMemPoolSetAttribute) X(cuMemPoolSetAccess)		\
	X(cuMemPoolGetAccess) X(cuDeviceGetDefaultMemPool) X(cuDeviceGetMemPool)	\
	X(cuDeviceSetMemPool)								\
	Z(cuMemcpy) Z(cuMemcpyHtoD_v2) Z(cuMemcpyDtoH_v2) Z(cuMemcpyDtoD_v2)		\
	X(cuMemcpyPeer) X(cuMemcpyPeerAsync)						\
	Y(cuMemcpyAsync) Y(cuMemcpyHtoDAsync_v2) Y(cuMemcpyDtoHAsync_v2)		\
	Y(cuMemcpyDtoDAsync_v2) Y(cuMemcpyBatchAsync_v2)				\
	Z(cuMemcpy2DUnaligned_v2) Z(cuMemcpy3D_v2)					\
	Y(cuMemcpy2DAsync_v2) Y(cuMemcpy3DAsync_v2)					\
	Z(cuMemsetD8_v2) Y(cuMemsetD8Async) Z(cuMemsetD2D8_v2) Y(cuMemsetD2D8Async)	\
	Y(cuLaunchKernel) Y(cuLaunchKernelEx) Y(cuLaunchCooperativeKernel)		\
	Y(cuLaunchHostFunc) Y(cuGraphLaunch)						\
	X(cuStreamCreate) X(cuStreamCreateWithPriority) X(cuStreamDestroy_v2)		\
	Y(cuStreamSynchronize) Y(cuStreamQuery) Y(cuStreamWaitEvent)			\
	Y(cuStreamAddCallback) Y(cuStreamGetFlags) Y(cuStreamGetPriority)		\
	Y(cuStreamGetId) Y(cuStreamGetDevice) Y(cuStreamAttachMemAsync)			\
	Y(cuStreamBeginCapture_v2) Y(cuStreamEndCapture) Y(cuStreamIsCapturing)		\
	Y(cuStreamGetCaptureInfo_v3) X(cuThreadExchangeStreamCaptureMode)		\
	X(cuEventCreate) X(cuEventDestroy_v2) X(cuEventQuery) X(cuEventSynchronize)	\
	X(cuEventElapsedTime_v2) Y(cuEventRecord) Y(cuEventRecordWithFlags)		\
	X(cuLibraryLoadData) X(cuLibraryLoadFromFile) X(cuLibraryUnload)		\
	X(cuLibraryGetKernel) X(cuLibraryGetKernelCount) X(cuLibraryEnumerateKernels)	\
	X(cuLibraryGetGlobal) X(cuLibraryGetManaged) X(cuKernelGetFunction)		\
	X(cuKernelGetName) X(cuKernelGetAttribute) X(cuKernelSetAttribute)		\
	X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)				\
	X(cuOccupancyAvailableDynamicSMemPerBlock) X(cuOccupancyMaxActiveClusters)	\
	X(cuOccupancyMaxPotentialClusterSize)						\
	X(cuGetProcAddress_v2) X(cuProfilerStart) X(cuProfilerStop)			\
	DRIVER_ARRAY_CALLS(X, Y, Z) DRIVER_GRAPH_CALLS(X, Y)

#define DRIVER_ARRAY_CALLS(X, Y, Z)							\
	X(cuArrayCreate_v2) X(cuArray3DCreate_v2) X(cuArrayDestroy)			\
	X(cuArray3DGetDescriptor_v2) X(cuArrayGetMemoryRequirements)			\
	X(cuMipmappedArrayCreate) X(cuMipmappedArrayDestroy)				\
	X(cuMipmappedArrayGetLevel) X(cuMipmappedArrayGetMemoryRequirements)		\
	Z(cuMemcpyHtoA_v2) Z(cuMemcpyAtoH_v2) Z(cuMemcpyDtoA_v2) Z(cuMemcpyAtoD_v2)	\
	Z(cuMemcpyAtoA_v2) Y(cuMemcpyHtoAAsync_v2) Y(cuMemcpyAtoHAsync_v2)		\
	Z(cuMemcpy3DPeer) Y(cuMemcpy3DPeerAsync) Y(cuMemcpy3DBatchAsync_v2)		\
	Y(cuMemcpyBatchAsync) Y(cuMemcpy3DBatchAsync) X(cuPointerGetAttribute)		\
	Y(cuMemPrefetchAsync) X(cuMemAdvise) Y(cuMemPrefetchBatchAsync)			\
	Y(cuMemDiscardBatchAsync) Y(cuMemDiscardAndPrefetchBatchAsync)			\
	X(cuMemRangeGetAttribute) X(cuMemRangeGetAttributes)				\
	X(cuMemGetDefaultMemPool) X(cuMemGetMemPool) X(cuMemSetMemPool)			\
	X(cuMemPoolExportToShareableHandle) X(cuMemPoolImportFromShareableHandle)	\
	X(cuMemPoolExportPointer) X(cuMemPoolImportPointer)				\
	X(cuDeviceGetHostAtomicCapabilities) X(cuDeviceGetP2PAtomicCapabilities)	\
	X(cuDeviceGetTexture1DLinearMaxWidth) X(cuFlushGPUDirectRDMAWrites)		\
	X(cuDeviceRegisterAsyncNotification) X(cuDeviceUnregisterAsyncNotification)	\
	X(cuDeviceGetGraphMemAttribute) X(cuDeviceSetGraphMemAttribute)			\
	X(cuDeviceGraphMemTrim) X(cuKernelGetParamInfo)					\
	X(cuLaunchCooperativeKernelMultiDevice)						\
	Y(cuStreamGetAttribute) Y(cuStreamSetAttribute) Y(cuStreamCopyAttributes)

#define DRIVER_GRAPH_CALLS(X, Y)							\
	X(cuGraphCreate) X(cuGraphDestroy) X(cuGraphClone) X(cuGraphDestroyNode)	\
	X(cuGraphAddKernelNode_v2) X(cuGraphAddMemcpyNode) X(cuGraphAddMemsetNode)	\
	X(cuGraphAddHostNode) X(cuGraphAddChildGraphNode) X(cuGraphAddEmptyNode)	\
	X(cuGraphAddEventRecordNode) X(cuGraphAddEventWaitNode)				\
	X(cuGraphAddMemAllocNode) X(cuGraphAddMemFreeNode) X(cuGraphAddNode_v2)		\
	X(cuGraphNodeGetType) X(cuGraphNodeFindInClone) X(cuGraphGetNodes)		\
	X(cuGraphGetRootNodes) X(cuGraphGetEdges_v2) X(cuGraphAddDependencies_v2)	\
	X(cuGraphRemoveDependencies_v2) X(cuGraphNodeGetDependencies_v2)		\
	X(cuGraphNodeGetDependentNodes_v2) X(cuGraphKernelNodeGetParams_v2)		\
	X(cuGraphKernelNodeSetParams_v2) X(cuGraphMemcpyNodeGetParams)			\
	X(cuGraphMemcpyNodeSetParams) X(cuGraphMemsetNodeGetParams)			\
	X(cuGraphMemsetNodeSetParams) X(cuGraphHostNodeGetParams)			\
	X(cuGraphHostNodeSetParams) X(cuGraphChildGraphNodeGetGraph)			\
	X(cuGraphEventRecordNodeGetEvent) X(cuGraphEventRecordNodeSetEvent)		\
	X(cuGraphEventWaitNodeGetEvent) X(cuGraphEventWaitNodeSetEvent)			\
	X(cuGraphMemAllocNodeGetParams) X(cuGraphMemFreeNodeGetParams)			\
	X(cuGraphNodeSetParams) X(cuGraphKernelNodeCopyAttributes)			\
	X(cuGraphKernelNodeGetAttribute) X(cuGraphKernelNodeSetAttribute)		\
	X(cuGraphInstantiateWithFlags) Y(cuGraphInstantiateWithParams)			\
	X(cuGraphExecDestroy) Y(cuGraphUpload) X(cuGraphExecGetFlags)			\
	X(cuGraphExecUpdate_v2) X(cuGraphExecNodeSetParams)				\
	X(cuGraphExecKernelNodeSetParams_v2) X(cuGraphExecMemcpyNodeSetParams)		\
	X(cuGraphExecMemsetNodeSetParams) X(cuGraphExecHostNodeSetParams)		\
	X(cuGraphExecChildGraphNodeSetParams) X(cuGraphExecEventRecordNodeSetEvent)	\
	X(cuGraphExecEventWaitNodeSetEvent) X(cuGraphNodeSetEnabled)			\
	X(cuGraphNodeGetEnabled) X(cuGraphDebugDotPrint) X(cuUserObjectCreate)		\
	X(cuUserObjectRetain) X(cuUserObjectRelease) X(cuGraphRetainUserObject)		\
	X(cuGraphReleaseUserObject) Y(cuStreamBeginCaptureToGraph)			\
	Y(cuStreamUpdateCaptureDependencies_v2)

#define DECLARE(name) __typeof__(name) *name;
#define DECLARE_PTSZ(name) DECLARE(name) DECLARE(name##_ptsz)
#define DECLARE_PTDS(name) DECLARE(name) DECLARE(name##_ptds)

struct driver_calls {
	DRIVER_CALLS(DECLARE, DECLARE_PTSZ, DECLARE_PTDS)
};

#endif
