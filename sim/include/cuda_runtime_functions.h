/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of the CUDA runtime API, including those that nvcc-built programs call when they start.
 * Included by cuda_api.h.
 */
#ifndef CUDA_RUNTIME_FUNCTIONS_H
#define CUDA_RUNTIME_FUNCTIONS_H

/* device */
cudaError_t cudaGetDeviceCount(int *out);
cudaError_t cudaGetDevice(int *out);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags);
cudaError_t cudaSetDeviceFlags(unsigned int flags);
cudaError_t cudaGetDeviceFlags(unsigned int *out);
cudaError_t cudaSetValidDevices(int *devices, int count);
cudaError_t cudaChooseDevice(int *out, const struct cudaDeviceProp *wanted);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device);
cudaError_t cudaDeviceGetAttribute(int *out, enum cudaDeviceAttr number, int device);
cudaError_t cudaDeviceGetPCIBusId(char *out, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int *out, const char *text);
cudaError_t cudaDeviceCanAccessPeer(int *out, int device, int peer);
cudaError_t cudaDeviceGetP2PAttribute(int *out, enum cudaDeviceP2PAttr number, int device,
			int peer);
cudaError_t cudaDriverGetVersion(int *out);
cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned int flags);
cudaError_t cudaDeviceDisablePeerAccess(int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceGetLimit(size_t *out, enum cudaLimit limit);
cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *out);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaCtxResetPersistingL2Cache(void);
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
cudaError_t cudaRuntimeGetVersion(int *out);

/* memory */
cudaError_t cudaMalloc(void **out, size_t size);
cudaError_t cudaMallocManaged(void **out, size_t size, unsigned int flags);
cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent);
cudaError_t cudaHostAlloc(void **out, size_t size, unsigned int flags);
cudaError_t cudaMallocHost(void **out, size_t size);
cudaError_t cudaMallocAsync(void **out, size_t size, cudaStream_t stream);
cudaError_t cudaMallocAsync_ptsz(void **out, size_t size, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void **out, size_t size, cudaMemPool_t pool,
			cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync_ptsz(void **out, size_t size, cudaMemPool_t pool,
			cudaStream_t stream);
cudaError_t cudaFree(void *address);
cudaError_t cudaFreeHost(void *address);
cudaError_t cudaFreeAsync(void *address, cudaStream_t stream);
cudaError_t cudaFreeAsync_ptsz(void *address, cudaStream_t stream);
cudaError_t cudaHostRegister(void *address, size_t size, unsigned int flags);
cudaError_t cudaHostUnregister(void *address);
cudaError_t cudaHostGetDevicePointer(void **out, void *host, unsigned int flags);
cudaError_t cudaHostGetFlags(unsigned int *out, void *host);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *pointer);
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *out, void *address);
cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void *address);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *out, const struct cudaMemPoolProps *properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *out);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
			void *value);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
			size_t count);
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *out, cudaMemPool_t pool,
			struct cudaMemLocation *location);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *out, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *out, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);

/* copy */
cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t size, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
			cudaStream_t stream);
cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
			cudaStream_t stream);
cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size);
cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
			size_t size, cudaStream_t stream);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *params);
cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *params);
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *params, cudaStream_t stream);
cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *params, cudaStream_t stream);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t size, size_t offset,
			enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *from, size_t size,
			size_t offset, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t size, size_t offset,
			enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol_ptds(void *to, const void *symbol, size_t size, size_t offset,
			enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t size,
			size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *from, size_t size,
			size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t size, size_t offset,
			enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *to, const void *symbol, size_t size, size_t offset,
			enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset(void *address, int value, size_t size);
cudaError_t cudaMemset_ptds(void *address, int value, size_t size);
cudaError_t cudaMemsetAsync(void *address, int value, size_t size, cudaStream_t stream);
cudaError_t cudaMemsetAsync_ptsz(void *address, int value, size_t size, cudaStream_t stream);
cudaError_t cudaMemset2D(void *address, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2D_ptds(void *address, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void *address, size_t pitch, int value, size_t width, size_t height,
			cudaStream_t stream);
cudaError_t cudaMemset2DAsync_ptsz(void *address, size_t pitch, int value, size_t width,
			size_t height, cudaStream_t stream);

/* launch */
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **params,
			size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **params,
			size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **params,
			size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *function, dim3 grid, dim3 block,
			void **params, size_t shared, cudaStream_t stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
			void **params);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
			void **params);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

/* stream */
cudaError_t cudaStreamCreate(cudaStream_t *out);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned int flags, int priority);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *out);
cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned int *out);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *out);
cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int *out);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *out);
cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long *out);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *out);
cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int *out);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);
cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
			void *argument, unsigned int flags);
cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, cudaStreamCallback_t callback,
			void *argument, unsigned int flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument);
cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, cudaHostFn_t function, void *argument);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *address, size_t size,
			unsigned int flags);
cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void *address, size_t size,
			unsigned int flags);
cudaError_t cudaEventCreate(cudaEvent_t *out);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags);
cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream,
			unsigned int flags);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *out, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *out, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *out, cudaIpcEventHandle_t handle);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out);
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *out);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *out);
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, enum cudaStreamCaptureStatus *out);
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);
cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned int flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
			const cudaGraphNode_t *dependencies, size_t nr_dependencies,
			const struct cudaKernelNodeParams *params);
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph,
			const cudaGraphNode_t *dependencies, size_t nr_dependencies);
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *out, size_t *count);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph,
			unsigned long long flags);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream);

/* library */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code,
			enum cudaJitOption *jit_options, void **jit_values,
			unsigned int nr_jit_options, enum cudaLibraryOption *options, void **values,
			unsigned int nr_options);
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *out, const char *path,
			enum cudaJitOption *jit_options, void **jit_values,
			unsigned int nr_jit_options, enum cudaLibraryOption *options, void **values,
			unsigned int nr_options);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name);
cudaError_t cudaLibraryGetKernelCount(unsigned int *out, cudaLibrary_t library);
cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *out, unsigned int room,
			cudaLibrary_t library);
cudaError_t cudaLibraryGetGlobal(void **out, size_t *size, cudaLibrary_t library, const char *name);
cudaError_t cudaLibraryGetManaged(void **out, size_t *size, cudaLibrary_t library,
			const char *name);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *out, const void *function,
			int block_size, size_t shared);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, const void *function,
			int block_size, size_t shared, unsigned int flags);
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *function, int blocks,
			int block_size);
cudaError_t cudaOccupancyMaxActiveClusters(int *out, const void *function,
			const cudaLaunchConfig_t *config);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *out, const void *function,
			const cudaLaunchConfig_t *config);
cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **out, unsigned long long flags,
			enum cudaDriverEntryPointQueryResult *status);
cudaError_t cudaGetDriverEntryPoint_ptsz(const char *symbol, void **out, unsigned long long flags,
			enum cudaDriverEntryPointQueryResult *status);
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **out, unsigned int version,
			unsigned long long flags, enum cudaDriverEntryPointQueryResult *status);
cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **out,
			unsigned int version, unsigned long long flags,
			enum cudaDriverEntryPointQueryResult *status);

/* register */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
			int thread_limit, uint3 *thread, uint3 *block_index, dim3 *block,
			dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
			size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
			int external, size_t size, int constant, int global);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);
cudaError_t cudaGetKernel(cudaKernel_t *out, const void *host);
cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *host);
cudaError_t cudaGetSymbolAddress(void **out, const void *symbol);
cudaError_t cudaGetSymbolSize(size_t *out, const void *symbol);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function);
cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value);
cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute,
			int value, int device);
cudaError_t cudaFuncGetName(const char **out, const void *function);
cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config);
cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config);

/* error */
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
			enum cudaChannelFormatKind kind);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **params,
			size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **params,
			size_t shared, cudaStream_t stream);

#endif
