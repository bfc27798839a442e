// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions of the driver API that are not simulated: textures, surfaces, graphics, external
 * memory and semaphores, linking, multicast, tensor maps, sparse arrays, checkpoints. They are
 * exported, so that any program links and every function can be found; a call is counted and
 * returns not supported.
 */
#include "cuda/driver.h"

#define UNSUPPORTED(X)									\
	X(cuArrayGetPlane) X(cuArrayGetSparseProperties)				\
	X(cuCheckpointProcessCheckpoint) X(cuCheckpointProcessGetRestoreThreadId)	\
	X(cuCheckpointProcessGetState) X(cuCheckpointProcessLock)			\
	X(cuCheckpointProcessRestore) X(cuCheckpointProcessUnlock)			\
	X(cuCoredumpGetAttribute) X(cuCoredumpGetAttributeGlobal)			\
	X(cuCoredumpSetAttribute) X(cuCoredumpSetAttributeGlobal)			\
	X(cuDestroyExternalMemory) X(cuDestroyExternalSemaphore) X(cuDeviceGetLuid)	\
	X(cuDeviceGetNvSciSyncAttributes) X(cuExternalMemoryGetMappedBuffer)		\
	X(cuExternalMemoryGetMappedMipmappedArray)					\
	X(cuGraphAddExternalSemaphoresSignalNode)					\
	X(cuGraphAddExternalSemaphoresWaitNode) X(cuGraphConditionalHandleCreate)	\
	X(cuGraphExecExternalSemaphoresSignalNodeSetParams)				\
	X(cuGraphExecExternalSemaphoresWaitNodeSetParams)				\
	X(cuGraphExternalSemaphoresSignalNodeGetParams)					\
	X(cuGraphExternalSemaphoresSignalNodeSetParams)					\
	X(cuGraphExternalSemaphoresWaitNodeGetParams)					\
	X(cuGraphExternalSemaphoresWaitNodeSetParams) X(cuGraphicsMapResources)		\
	X(cuGraphicsMapResources_ptsz) X(cuGraphicsResourceGetMappedMipmappedArray)	\
	X(cuGraphicsResourceGetMappedPointer) X(cuGraphicsResourceGetMappedPointer_v2)	\
	X(cuGraphicsResourceSetMapFlags) X(cuGraphicsResourceSetMapFlags_v2)		\
	X(cuGraphicsSubResourceGetMappedArray) X(cuGraphicsUnmapResources)		\
	X(cuGraphicsUnmapResources_ptsz) X(cuGraphicsUnregisterResource)		\
	X(cuImportExternalMemory) X(cuImportExternalSemaphore)				\
	X(cuLibraryGetUnifiedFunction) X(cuLinkAddData) X(cuLinkAddData_v2)		\
	X(cuLinkAddFile) X(cuLinkAddFile_v2) X(cuLinkComplete) X(cuLinkCreate)		\
	X(cuLinkCreate_v2) X(cuLinkDestroy) X(cuLogsCurrent) X(cuLogsDumpToFile)	\
	X(cuLogsDumpToMemory) X(cuLogsRegisterCallback) X(cuLogsUnregisterCallback)	\
	X(cuMemBatchDecompressAsync) X(cuMemBatchDecompressAsync_ptsz)			\
	X(cuMemMapArrayAsync) X(cuMemMapArrayAsync_ptsz)				\
	X(cuMipmappedArrayGetSparseProperties) X(cuModuleGetSurfRef)			\
	X(cuModuleGetTexRef) X(cuMulticastAddDevice) X(cuMulticastBindAddr)		\
	X(cuMulticastBindMem) X(cuMulticastCreate) X(cuMulticastGetGranularity)		\
	X(cuMulticastUnbind) X(cuParamSetTexRef) X(cuProfilerInitialize)		\
	X(cuSignalExternalSemaphoresAsync) X(cuSignalExternalSemaphoresAsync_ptsz)	\
	X(cuSurfObjectCreate) X(cuSurfObjectDestroy) X(cuSurfObjectGetResourceDesc)	\
	X(cuSurfRefGetArray) X(cuSurfRefSetArray) X(cuTensorMapEncodeIm2col)		\
	X(cuTensorMapEncodeIm2colWide) X(cuTensorMapEncodeTiled)			\
	X(cuTensorMapReplaceAddress) X(cuTexObjectCreate) X(cuTexObjectDestroy)		\
	X(cuTexObjectGetResourceDesc) X(cuTexObjectGetResourceViewDesc)			\
	X(cuTexObjectGetTextureDesc) X(cuTexRefCreate) X(cuTexRefDestroy)		\
	X(cuTexRefGetAddress) X(cuTexRefGetAddressMode) X(cuTexRefGetAddress_v2)	\
	X(cuTexRefGetArray) X(cuTexRefGetBorderColor) X(cuTexRefGetFilterMode)		\
	X(cuTexRefGetFlags) X(cuTexRefGetFormat) X(cuTexRefGetMaxAnisotropy)		\
	X(cuTexRefGetMipmapFilterMode) X(cuTexRefGetMipmapLevelBias)			\
	X(cuTexRefGetMipmapLevelClamp) X(cuTexRefGetMipmappedArray)			\
	X(cuTexRefSetAddress) X(cuTexRefSetAddress2D) X(cuTexRefSetAddress2D_v2)	\
	X(cuTexRefSetAddress2D_v3) X(cuTexRefSetAddressMode) X(cuTexRefSetAddress_v2)	\
	X(cuTexRefSetArray) X(cuTexRefSetBorderColor) X(cuTexRefSetFilterMode)		\
	X(cuTexRefSetFlags) X(cuTexRefSetFormat) X(cuTexRefSetMaxAnisotropy)		\
	X(cuTexRefSetMipmapFilterMode) X(cuTexRefSetMipmapLevelBias)			\
	X(cuTexRefSetMipmapLevelClamp) X(cuTexRefSetMipmappedArray)			\
	X(cuWaitExternalSemaphoresAsync) X(cuWaitExternalSemaphoresAsync_ptsz)

#define DEFINE(name) DRIVER_PLAIN(name, (void), CUDA_ERROR_NOT_SUPPORTED);

UNSUPPORTED(DEFINE)
