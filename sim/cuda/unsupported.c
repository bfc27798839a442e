// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions of the driver API that are not simulated: textures, external
 * memory, green contexts, most of graph editing, the forms of CUDA 3 and before.
 * They are exported, so that any program links and every function can be found;
 * a call is counted and gets the answer that it is not supported.
 */
#include "cuda/driver.h"

#define UNSUPPORTED(X)									\
	X(cuArray3DCreate) X(cuArray3DGetDescriptor) X(cuArrayCreate)			\
	X(cuArrayGetDescriptor) X(cuArrayGetMemoryRequirements) X(cuArrayGetPlane)	\
	X(cuArrayGetSparseProperties) X(cuCheckpointProcessCheckpoint)			\
	X(cuCheckpointProcessGetRestoreThreadId) X(cuCheckpointProcessGetState)		\
	X(cuCheckpointProcessLock) X(cuCheckpointProcessRestore)			\
	X(cuCheckpointProcessUnlock) X(cuCoredumpGetAttribute)				\
	X(cuCoredumpGetAttributeGlobal) X(cuCoredumpSetAttribute)			\
	X(cuCoredumpSetAttributeGlobal) X(cuCtxAttach) X(cuCtxCreate_v3) X(cuCtxDetach)	\
	X(cuCtxFromGreenCtx) X(cuCtxGetDevResource) X(cuCtxGetExecAffinity)		\
	X(cuCtxRecordEvent) X(cuCtxWaitEvent) X(cuDestroyExternalMemory)		\
	X(cuDestroyExternalSemaphore) X(cuDevResourceGenerateDesc)			\
	X(cuDevSmResourceSplitByCount) X(cuDeviceGetDevResource)			\
	X(cuDeviceGetExecAffinitySupport) X(cuDeviceGetGraphMemAttribute)		\
	X(cuDeviceGetHostAtomicCapabilities) X(cuDeviceGetLuid)				\
	X(cuDeviceGetNvSciSyncAttributes) X(cuDeviceGetP2PAtomicCapabilities)		\
	X(cuDeviceGetProperties) X(cuDeviceGetTexture1DLinearMaxWidth)			\
	X(cuDeviceGraphMemTrim) X(cuDeviceRegisterAsyncNotification)			\
	X(cuDeviceSetGraphMemAttribute) X(cuDeviceTotalMem)				\
	X(cuDeviceUnregisterAsyncNotification) X(cuExternalMemoryGetMappedBuffer)	\
	X(cuExternalMemoryGetMappedMipmappedArray) X(cuFlushGPUDirectRDMAWrites)	\
	X(cuFuncGetParamInfo) X(cuFuncSetBlockShape) X(cuFuncSetSharedSize)		\
	X(cuGraphAddExternalSemaphoresSignalNode)					\
	X(cuGraphAddExternalSemaphoresWaitNode) X(cuGraphConditionalHandleCreate)	\
	X(cuGraphDebugDotPrint) X(cuGraphExecExternalSemaphoresSignalNodeSetParams)	\
	X(cuGraphExecExternalSemaphoresWaitNodeSetParams)				\
	X(cuGraphExternalSemaphoresSignalNodeGetParams)					\
	X(cuGraphExternalSemaphoresSignalNodeSetParams)					\
	X(cuGraphExternalSemaphoresWaitNodeGetParams)					\
	X(cuGraphExternalSemaphoresWaitNodeSetParams) X(cuGraphReleaseUserObject)	\
	X(cuGraphRetainUserObject) X(cuGraphicsMapResources)				\
	X(cuGraphicsMapResources_ptsz) X(cuGraphicsResourceGetMappedMipmappedArray)	\
	X(cuGraphicsResourceGetMappedPointer) X(cuGraphicsResourceGetMappedPointer_v2)	\
	X(cuGraphicsResourceSetMapFlags) X(cuGraphicsResourceSetMapFlags_v2)		\
	X(cuGraphicsSubResourceGetMappedArray) X(cuGraphicsUnmapResources)		\
	X(cuGraphicsUnmapResources_ptsz) X(cuGraphicsUnregisterResource)		\
	X(cuGreenCtxCreate) X(cuGreenCtxDestroy) X(cuGreenCtxGetDevResource)		\
	X(cuGreenCtxGetId) X(cuGreenCtxRecordEvent) X(cuGreenCtxStreamCreate)		\
	X(cuGreenCtxWaitEvent) X(cuImportExternalMemory) X(cuImportExternalSemaphore)	\
	X(cuKernelGetParamInfo) X(cuLaunch) X(cuLaunchCooperativeKernelMultiDevice)	\
	X(cuLaunchGrid) X(cuLaunchGridAsync) X(cuLibraryGetUnifiedFunction)		\
	X(cuLinkAddData) X(cuLinkAddData_v2) X(cuLinkAddFile) X(cuLinkAddFile_v2)	\
	X(cuLinkComplete) X(cuLinkCreate) X(cuLinkCreate_v2) X(cuLinkDestroy)		\
	X(cuLogsCurrent) X(cuLogsDumpToFile) X(cuLogsDumpToMemory)			\
	X(cuLogsRegisterCallback) X(cuLogsUnregisterCallback) X(cuMemAlloc)		\
	X(cuMemAllocHost) X(cuMemAllocPitch) X(cuMemBatchDecompressAsync)		\
	X(cuMemBatchDecompressAsync_ptsz) X(cuMemDiscardAndPrefetchBatchAsync)		\
	X(cuMemDiscardAndPrefetchBatchAsync_ptsz) X(cuMemDiscardBatchAsync)		\
	X(cuMemDiscardBatchAsync_ptsz) X(cuMemExportToShareableHandle) X(cuMemFree)	\
	X(cuMemGetAddressRange) X(cuMemGetDefaultMemPool)				\
	X(cuMemGetHandleForAddressRange) X(cuMemGetInfo) X(cuMemGetMemPool)		\
	X(cuMemHostGetDevicePointer) X(cuMemImportFromShareableHandle)			\
	X(cuMemMapArrayAsync) X(cuMemMapArrayAsync_ptsz) X(cuMemPoolExportPointer)	\
	X(cuMemPoolExportToShareableHandle) X(cuMemPoolImportFromShareableHandle)	\
	X(cuMemPoolImportPointer) X(cuMemPrefetchBatchAsync)				\
	X(cuMemPrefetchBatchAsync_ptsz) X(cuMemRangeGetAttribute)			\
	X(cuMemRangeGetAttributes) X(cuMemSetMemPool) X(cuMemcpy2D) X(cuMemcpy2DAsync)	\
	X(cuMemcpy2DUnaligned) X(cuMemcpy3D) X(cuMemcpy3DAsync) X(cuMemcpy3DBatchAsync)	\
	X(cuMemcpy3DBatchAsync_ptsz) X(cuMemcpy3DBatchAsync_v2)				\
	X(cuMemcpy3DBatchAsync_v2_ptsz) X(cuMemcpyAtoA) X(cuMemcpyAtoD) X(cuMemcpyAtoH)	\
	X(cuMemcpyAtoHAsync) X(cuMemcpyDtoA) X(cuMemcpyDtoD) X(cuMemcpyDtoDAsync)	\
	X(cuMemcpyDtoH) X(cuMemcpyDtoHAsync) X(cuMemcpyHtoA) X(cuMemcpyHtoAAsync)	\
	X(cuMemcpyHtoD) X(cuMemcpyHtoDAsync) X(cuMemsetD16) X(cuMemsetD2D16)		\
	X(cuMemsetD2D32) X(cuMemsetD2D8) X(cuMemsetD32) X(cuMemsetD8)			\
	X(cuMipmappedArrayCreate) X(cuMipmappedArrayDestroy)				\
	X(cuMipmappedArrayGetLevel) X(cuMipmappedArrayGetMemoryRequirements)		\
	X(cuMipmappedArrayGetSparseProperties) X(cuModuleGetGlobal)			\
	X(cuModuleGetSurfRef) X(cuModuleGetTexRef) X(cuMulticastAddDevice)		\
	X(cuMulticastBindAddr) X(cuMulticastBindMem) X(cuMulticastCreate)		\
	X(cuMulticastGetGranularity) X(cuMulticastUnbind) X(cuParamSetSize)		\
	X(cuParamSetTexRef) X(cuParamSetf) X(cuParamSeti) X(cuParamSetv)		\
	X(cuProfilerInitialize) X(cuSignalExternalSemaphoresAsync)			\
	X(cuSignalExternalSemaphoresAsync_ptsz) X(cuStreamBatchMemOp)			\
	X(cuStreamBatchMemOp_ptsz) X(cuStreamBatchMemOp_v2)				\
	X(cuStreamBatchMemOp_v2_ptsz) X(cuStreamCopyAttributes)				\
	X(cuStreamCopyAttributes_ptsz) X(cuStreamGetAttribute)				\
	X(cuStreamGetAttribute_ptsz) X(cuStreamGetGreenCtx) X(cuStreamSetAttribute)	\
	X(cuStreamSetAttribute_ptsz) X(cuStreamWaitValue32) X(cuStreamWaitValue32_ptsz)	\
	X(cuStreamWaitValue32_v2) X(cuStreamWaitValue32_v2_ptsz) X(cuStreamWaitValue64)	\
	X(cuStreamWaitValue64_ptsz) X(cuStreamWaitValue64_v2)				\
	X(cuStreamWaitValue64_v2_ptsz) X(cuStreamWriteValue32)				\
	X(cuStreamWriteValue32_ptsz) X(cuStreamWriteValue32_v2)				\
	X(cuStreamWriteValue32_v2_ptsz) X(cuStreamWriteValue64)				\
	X(cuStreamWriteValue64_ptsz) X(cuStreamWriteValue64_v2)				\
	X(cuStreamWriteValue64_v2_ptsz) X(cuSurfObjectCreate) X(cuSurfObjectDestroy)	\
	X(cuSurfObjectGetResourceDesc) X(cuSurfRefGetArray) X(cuSurfRefSetArray)	\
	X(cuTensorMapEncodeIm2col) X(cuTensorMapEncodeIm2colWide)			\
	X(cuTensorMapEncodeTiled) X(cuTensorMapReplaceAddress) X(cuTexObjectCreate)	\
	X(cuTexObjectDestroy) X(cuTexObjectGetResourceDesc)				\
	X(cuTexObjectGetResourceViewDesc) X(cuTexObjectGetTextureDesc)			\
	X(cuTexRefCreate) X(cuTexRefDestroy) X(cuTexRefGetAddress)			\
	X(cuTexRefGetAddressMode) X(cuTexRefGetAddress_v2) X(cuTexRefGetArray)		\
	X(cuTexRefGetBorderColor) X(cuTexRefGetFilterMode) X(cuTexRefGetFlags)		\
	X(cuTexRefGetFormat) X(cuTexRefGetMaxAnisotropy) X(cuTexRefGetMipmapFilterMode)	\
	X(cuTexRefGetMipmapLevelBias) X(cuTexRefGetMipmapLevelClamp)			\
	X(cuTexRefGetMipmappedArray) X(cuTexRefSetAddress) X(cuTexRefSetAddress2D)	\
	X(cuTexRefSetAddress2D_v2) X(cuTexRefSetAddress2D_v3) X(cuTexRefSetAddressMode)	\
	X(cuTexRefSetAddress_v2) X(cuTexRefSetArray) X(cuTexRefSetBorderColor)		\
	X(cuTexRefSetFilterMode) X(cuTexRefSetFlags) X(cuTexRefSetFormat)		\
	X(cuTexRefSetMaxAnisotropy) X(cuTexRefSetMipmapFilterMode)			\
	X(cuTexRefSetMipmapLevelBias) X(cuTexRefSetMipmapLevelClamp)			\
	X(cuTexRefSetMipmappedArray) X(cuUserObjectCreate) X(cuUserObjectRelease)	\
	X(cuUserObjectRetain) X(cuWaitExternalSemaphoresAsync)				\
	X(cuWaitExternalSemaphoresAsync_ptsz)

#define DEFINE(name) DRIVER_PLAIN(name, (void), CUDA_ERROR_NOT_SUPPORTED);

UNSUPPORTED(DEFINE)
