// SPDX-License-Identifier: BSD-2-Clause
/*
 * The functions of the runtime API that are not simulated: textures, surfaces, graphics, external
 * memory and semaphores, logs. They are exported, so that any program links and every function can
 * be found; a call is counted and returns not supported.
 */
#include "cudart/runtime.h"

#define UNSUPPORTED(X)									\
	X(__cudaGetProcAddress) X(__cudaRegisterHostVar) X(__cudaRegisterUnifiedTable)	\
	X(cudaArrayGetPlane) X(cudaArrayGetSparseProperties) X(cudaCreateSurfaceObject)	\
	X(cudaCreateTextureObject) X(cudaDestroyExternalMemory)				\
	X(cudaDestroyExternalSemaphore) X(cudaDestroySurfaceObject)			\
	X(cudaDestroyTextureObject) X(cudaDeviceGetNvSciSyncAttributes)			\
	X(cudaEGLStreamConsumerAcquireFrame) X(cudaEGLStreamConsumerConnect)		\
	X(cudaEGLStreamConsumerConnectWithFlags) X(cudaEGLStreamConsumerDisconnect)	\
	X(cudaEGLStreamConsumerReleaseFrame) X(cudaEGLStreamProducerConnect)		\
	X(cudaEGLStreamProducerDisconnect) X(cudaEGLStreamProducerPresentFrame)		\
	X(cudaEGLStreamProducerReturnFrame) X(cudaEventCreateFromEGLSync)		\
	X(cudaExternalMemoryGetMappedBuffer)						\
	X(cudaExternalMemoryGetMappedMipmappedArray) X(cudaGLGetDevices)		\
	X(cudaGLMapBufferObject) X(cudaGLMapBufferObjectAsync)				\
	X(cudaGLRegisterBufferObject) X(cudaGLSetBufferObjectMapFlags)			\
	X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) X(cudaGLUnmapBufferObjectAsync)	\
	X(cudaGLUnregisterBufferObject) X(cudaGetExportTable)				\
	X(cudaGetSurfaceObjectResourceDesc) X(cudaGetTextureObjectResourceDesc)		\
	X(cudaGetTextureObjectResourceViewDesc) X(cudaGetTextureObjectTextureDesc)	\
	X(cudaGraphAddExternalSemaphoresSignalNode)					\
	X(cudaGraphAddExternalSemaphoresWaitNode) X(cudaGraphConditionalHandleCreate)	\
	X(cudaGraphExecExternalSemaphoresSignalNodeSetParams)				\
	X(cudaGraphExecExternalSemaphoresWaitNodeSetParams)				\
	X(cudaGraphExternalSemaphoresSignalNodeGetParams)				\
	X(cudaGraphExternalSemaphoresSignalNodeSetParams)				\
	X(cudaGraphExternalSemaphoresWaitNodeGetParams)					\
	X(cudaGraphExternalSemaphoresWaitNodeSetParams) X(cudaGraphicsEGLRegisterImage)	\
	X(cudaGraphicsGLRegisterBuffer) X(cudaGraphicsGLRegisterImage)			\
	X(cudaGraphicsMapResources) X(cudaGraphicsResourceGetMappedEglFrame)		\
	X(cudaGraphicsResourceGetMappedMipmappedArray)					\
	X(cudaGraphicsResourceGetMappedPointer) X(cudaGraphicsResourceSetMapFlags)	\
	X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources)		\
	X(cudaGraphicsUnregisterResource) X(cudaGraphicsVDPAURegisterOutputSurface)	\
	X(cudaGraphicsVDPAURegisterVideoSurface) X(cudaImportExternalMemory)		\
	X(cudaImportExternalSemaphore) X(cudaLibraryGetUnifiedFunction)			\
	X(cudaMipmappedArrayGetSparseProperties) X(cudaSignalExternalSemaphoresAsync)	\
	X(cudaSignalExternalSemaphoresAsync_ptsz) X(cudaVDPAUGetDevice)			\
	X(cudaVDPAUSetVDPAUDevice) X(cudaWaitExternalSemaphoresAsync)			\
	X(cudaWaitExternalSemaphoresAsync_ptsz)

/* Functions that only one of the runtimes has. */
#if CUDART_VERSION >= 13000
#define UNSUPPORTED_HERE(X)								\
	X(cudaLogsCurrent) X(cudaLogsDumpToFile) X(cudaLogsDumpToMemory)		\
	X(cudaLogsRegisterCallback) X(cudaLogsUnregisterCallback)
#else
#define UNSUPPORTED_HERE(X)								\
	X(cudaSignalExternalSemaphoresAsync_v2)						\
	X(cudaSignalExternalSemaphoresAsync_v2_ptsz)					\
	X(cudaWaitExternalSemaphoresAsync_v2) X(cudaWaitExternalSemaphoresAsync_v2_ptsz)
#endif

#define DEFINE(name) RUNTIME_PLAIN(name, (void), cudaErrorNotSupported);

UNSUPPORTED(DEFINE)
UNSUPPORTED_HERE(DEFINE)
