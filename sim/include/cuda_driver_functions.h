/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of the CUDA driver API, under the names that the library exports.
 * As with CUDA's own header, a program writes the names without version, which
 * stand for the newest form. Included by cuda_api.h.
 */
#ifndef CUDA_DRIVER_FUNCTIONS_H
#define CUDA_DRIVER_FUNCTIONS_H

/* driver */
CUresult cuInit(unsigned int flags);

/* device */
CUresult cuDriverGetVersion(int *out);
CUresult cuDeviceGet(CUdevice *out, int ordinal);
CUresult cuDeviceGetCount(int *out);
CUresult cuDeviceGetName(char *out, int length, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *out, CUdevice device);
CUresult cuDeviceGetUuid_v2(CUuuid *out, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t *out, CUdevice device);
CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute number, CUdevice device);
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
CUresult cuDeviceGetPCIBusId(char *out, int length, CUdevice device);
CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *text);
CUresult cuDeviceCanAccessPeer(int *out, CUdevice device, CUdevice peer);
CUresult cuDeviceGetP2PAttribute(int *out, CUdevice_P2PAttribute number, CUdevice device,
			CUdevice peer);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

/* context */
CUresult cuCtxCreate(CUcontext *out, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *out, unsigned int flags, CUdevice device);
CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned int flags,
			CUdevice device);
CUresult cuCtxDestroy(CUcontext context);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxPushCurrent(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext context);
CUresult cuCtxPopCurrent(CUcontext *out);
CUresult cuCtxPopCurrent_v2(CUcontext *out);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext *out);
CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device);
CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
CUresult cuDevicePrimaryCtxReset(CUdevice device);
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active);
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags);
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags);
CUresult cuCtxGetDevice(CUdevice *out);
CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext context);
CUresult cuCtxGetId(CUcontext context, unsigned long long *out);
CUresult cuCtxGetFlags(unsigned int *out);
CUresult cuCtxSetFlags(unsigned int flags);
CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *out);
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);
CUresult cuCtxGetLimit(size_t *value, CUlimit limit);
CUresult cuCtxSetLimit(CUlimit limit, size_t value);
CUresult cuCtxGetCacheConfig(CUfunc_cache *out);
CUresult cuCtxSetCacheConfig(CUfunc_cache config);
CUresult cuCtxGetSharedMemConfig(CUsharedconfig *out);
CUresult cuCtxSetSharedMemConfig(CUsharedconfig config);
CUresult cuCtxResetPersistingL2Cache(void);
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags);
CUresult cuCtxDisablePeerAccess(CUcontext peer);

/* alloc */
CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size);
CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned int flags);
CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
			unsigned int element);
CUresult cuMemHostAlloc(void **out, size_t size, unsigned int flags);
CUresult cuMemAllocHost_v2(void **out, size_t size);
CUresult cuMemFree_v2(CUdeviceptr address);
CUresult cuMemFreeHost(void *address);
CUresult cuMemHostRegister(void *address, size_t size, unsigned int flags);
CUresult cuMemHostRegister_v2(void *address, size_t size, unsigned int flags);
CUresult cuMemHostUnregister(void *address);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *address, unsigned int flags);
CUresult cuMemHostGetFlags(unsigned int *out, void *address);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address);
CUresult cuMemGetInfo_v2(size_t *available, size_t *total);
CUresult cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr address);
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **out,
			CUdeviceptr address);
CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
			CUdeviceptr address);
CUresult cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice, CUdevice device);
CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size, CUmem_advise advice,
			CUmemLocation location);

/* mempool */
CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream stream);
CUresult cuMemAllocAsync_ptsz(CUdeviceptr *out, size_t size, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size, CUmemoryPool pool, CUstream stream);
CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *out, size_t size, CUmemoryPool pool,
			CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
CUresult cuMemFreeAsync_ptsz(CUdeviceptr address, CUstream stream);
CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *properties);
CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep);
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *out);
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count);
CUresult cuMemPoolGetAccess(CUmemAccess_flags *out, CUmemoryPool pool, CUmemLocation *location);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice device);
CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice device);
CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool);

/* virtual */
CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr wish,
			unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr address, size_t size);
CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size,
			const CUmemAllocationProp *wanted, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
			CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr address, size_t size);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *out, void *address);
CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *wanted,
			CUmemAllocationGranularity_flags which);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
			CUmemGenericAllocationHandle handle);
CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
			size_t count);
CUresult cuMemGetAccess(unsigned long long *out, const CUmemLocation *location,
			CUdeviceptr address);

/* ipc */
CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address);
CUresult cuIpcOpenMemHandle(CUdeviceptr *out, CUipcMemHandle handle, unsigned int flags);
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned int flags);
CUresult cuIpcCloseMemHandle(CUdeviceptr address);
CUresult cuIpcGetEventHandle(CUipcEventHandle *out, CUevent event);
CUresult cuIpcOpenEventHandle(CUevent *out, CUipcEventHandle handle);

/* array */
CUresult cuArrayCreate_v2(CUarray *out, const CUDA_ARRAY_DESCRIPTOR *descriptor);
CUresult cuArray3DCreate_v2(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
CUresult cuArrayDestroy(CUarray array);
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *out, CUarray array);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray array);
CUresult cuMemcpyHtoA_v2(CUarray array, size_t offset, const void *from, size_t size);
CUresult cuMemcpyHtoA_v2_ptds(CUarray array, size_t offset, const void *from, size_t size);
CUresult cuMemcpyAtoH_v2(void *to, CUarray array, size_t offset, size_t size);
CUresult cuMemcpyAtoH_v2_ptds(void *to, CUarray array, size_t offset, size_t size);
CUresult cuMemcpyDtoA_v2(CUarray array, size_t offset, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoA_v2_ptds(CUarray array, size_t offset, CUdeviceptr from, size_t size);
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray array, size_t offset, size_t size);
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr to, CUarray array, size_t offset, size_t size);
CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
			size_t size);
CUresult cuMemcpyAtoA_v2_ptds(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
			size_t size);
CUresult cuMemcpyHtoAAsync_v2(CUarray array, size_t offset, const void *from, size_t size,
			CUstream stream);
CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray array, size_t offset, const void *from, size_t size,
			CUstream stream);
CUresult cuMemcpyAtoHAsync_v2(void *to, CUarray array, size_t offset, size_t size, CUstream stream);
CUresult cuMemcpyAtoHAsync_v2_ptsz(void *to, CUarray array, size_t offset, size_t size,
			CUstream stream);

/* copy */
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from, size_t size);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from, size_t size);
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream);
CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from, size_t size, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream);
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			CUcontext from_context, size_t size);
CUresult cuMemcpyPeer_ptds(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			CUcontext from_context, size_t size);
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			CUcontext from_context, size_t size, CUstream stream);
CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
			CUcontext from_context, size_t size, CUstream stream);
CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
			CUmemcpyAttributes *attributes, size_t *indices, size_t nr_attributes,
			size_t *failed, CUstream stream);
CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
			CUmemcpyAttributes *attributes, size_t *indices, size_t nr_attributes,
			size_t *failed, CUstream stream);
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
			CUmemcpyAttributes *attributes, size_t *indices, size_t nr_attributes,
			CUstream stream);
CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
			CUmemcpyAttributes *attributes, size_t *indices, size_t nr_attributes,
			CUstream stream);

/* copy3d */
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy2D_v2_ptds(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy2DUnaligned_v2_ptds(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream);
CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy);
CUresult cuMemcpy3D_v2_ptds(const CUDA_MEMCPY3D *copy);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream);
CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *copy, CUstream stream);
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *copy);
CUresult cuMemcpy3DPeer_ptds(const CUDA_MEMCPY3D_PEER *copy);
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *copy, CUstream stream);
CUresult cuMemcpy3DPeerAsync_ptsz(const CUDA_MEMCPY3D_PEER *copy, CUstream stream);

/* memset */
CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t count);
CUresult cuMemsetD8_v2_ptds(CUdeviceptr address, unsigned char value, size_t count);
CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream);
CUresult cuMemsetD8Async_ptsz(CUdeviceptr address, unsigned char value, size_t count,
			CUstream stream);
CUresult cuMemsetD2D8_v2(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
			size_t height);
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
			size_t height);
CUresult cuMemsetD2D8Async(CUdeviceptr address, size_t pitch, unsigned char value, size_t width,
			size_t height, CUstream stream);
CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr address, size_t pitch, unsigned char value,
			size_t width, size_t height, CUstream stream);
CUresult cuMemsetD16_v2(CUdeviceptr address, unsigned short value, size_t count);
CUresult cuMemsetD16_v2_ptds(CUdeviceptr address, unsigned short value, size_t count);
CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short value, size_t count, CUstream stream);
CUresult cuMemsetD16Async_ptsz(CUdeviceptr address, unsigned short value, size_t count,
			CUstream stream);
CUresult cuMemsetD2D16_v2(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
			size_t height);
CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr address, size_t pitch, unsigned short value,
			size_t width, size_t height);
CUresult cuMemsetD2D16Async(CUdeviceptr address, size_t pitch, unsigned short value, size_t width,
			size_t height, CUstream stream);
CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr address, size_t pitch, unsigned short value,
			size_t width, size_t height, CUstream stream);
CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned int value, size_t count);
CUresult cuMemsetD32_v2_ptds(CUdeviceptr address, unsigned int value, size_t count);
CUresult cuMemsetD32Async(CUdeviceptr address, unsigned int value, size_t count, CUstream stream);
CUresult cuMemsetD32Async_ptsz(CUdeviceptr address, unsigned int value, size_t count,
			CUstream stream);
CUresult cuMemsetD2D32_v2(CUdeviceptr address, size_t pitch, unsigned int value, size_t width,
			size_t height);
CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr address, size_t pitch, unsigned int value, size_t width,
			size_t height);
CUresult cuMemsetD2D32Async(CUdeviceptr address, size_t pitch, unsigned int value, size_t width,
			size_t height, CUstream stream);
CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr address, size_t pitch, unsigned int value,
			size_t width, size_t height, CUstream stream);

/* launch */
CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
			unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			unsigned int block_z, unsigned int shared, CUstream stream, void **params,
			void **extra);
CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int grid_x, unsigned int grid_y,
			unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			unsigned int block_z, unsigned int shared, CUstream stream, void **params,
			void **extra);
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
			unsigned int grid_z, unsigned int block_x, unsigned int block_y,
			unsigned int block_z, unsigned int shared, CUstream stream, void **params);
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int grid_x,
			unsigned int grid_y, unsigned int grid_z, unsigned int block_x,
			unsigned int block_y, unsigned int block_z, unsigned int shared,
			CUstream stream, void **params);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
			void **extra);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **params,
			void **extra);

/* stream */
CUresult cuStreamCreate(CUstream *out, unsigned int flags);
CUresult cuStreamCreateWithPriority(CUstream *out, unsigned int flags, int priority);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamSynchronize_ptsz(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamQuery_ptsz(CUstream stream);
CUresult cuStreamGetPriority(CUstream stream, int *out);
CUresult cuStreamGetPriority_ptsz(CUstream stream, int *out);
CUresult cuStreamGetFlags(CUstream stream, unsigned int *out);
CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned int *out);
CUresult cuStreamGetDevice(CUstream stream, CUdevice *out);
CUresult cuStreamGetDevice_ptsz(CUstream stream, CUdevice *out);
CUresult cuStreamGetId(CUstream stream, unsigned long long *out);
CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long *out);
CUresult cuStreamGetCtx(CUstream stream, CUcontext *out);
CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *out);
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *out, CUgreenCtx *green);
CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext *out, CUgreenCtx *green);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *argument,
			unsigned int flags);
CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void *argument,
			unsigned int flags);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *argument);
CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *argument);
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t size,
			unsigned int flags);
CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr address, size_t size,
			unsigned int flags);
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUdevice device, CUstream stream);
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr address, size_t size, CUdevice device,
			CUstream stream);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, CUmemLocation location,
			unsigned int flags, CUstream stream);
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr address, size_t size, CUmemLocation location,
			unsigned int flags, CUstream stream);
CUresult cuCtxSynchronize(void);
CUresult cuCtxSynchronize_v2(CUcontext context);
CUresult cuEventCreate(CUevent *out, unsigned int flags);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventRecord_ptsz(CUevent event, CUstream stream);
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags);
CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags);
CUresult cuEventQuery(CUevent event);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventElapsedTime(float *out, CUevent start, CUevent end);
CUresult cuEventElapsedTime_v2(float *out, CUevent start, CUevent end);

/* module */
CUresult cuModuleLoadData(CUmodule *out, const void *code);
CUresult cuModuleLoadDataEx(CUmodule *out, const void *code, unsigned int nr_options,
			CUjit_option *options, void **values);
CUresult cuModuleLoadFatBinary(CUmodule *out, const void *code);
CUresult cuModuleLoad(CUmodule *out, const char *path);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name);
CUresult cuModuleGetFunctionCount(unsigned int *out, CUmodule module);
CUresult cuModuleEnumerateFunctions(CUfunction *out, unsigned int room, CUmodule module);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *size, CUmodule module, const char *name);
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *out);
CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *jit_options,
			void **jit_values, unsigned int nr_jit_options, CUlibraryOption *options,
			void **values, unsigned int nr_options);
CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *jit_options,
			void **jit_values, unsigned int nr_jit_options, CUlibraryOption *options,
			void **values, unsigned int nr_options);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name);
CUresult cuLibraryGetKernelCount(unsigned int *out, CUlibrary library);
CUresult cuLibraryEnumerateKernels(CUkernel *out, unsigned int room, CUlibrary library);
CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library);
CUresult cuLibraryGetGlobal(CUdeviceptr *out, size_t *size, CUlibrary library, const char *name);
CUresult cuLibraryGetManaged(CUdeviceptr *out, size_t *size, CUlibrary library, const char *name);
CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel);

/* function */
CUresult cuKernelGetName(const char **out, CUkernel kernel);
CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel kernel);
CUresult cuKernelGetAttribute(int *out, CUfunction_attribute attribute, CUkernel kernel,
			CUdevice device);
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
			CUdevice device);
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device);
CUresult cuFuncGetName(const char **out, CUfunction function);
CUresult cuFuncGetModule(CUmodule *out, CUfunction function);
CUresult cuFuncIsLoaded(CUfunctionLoadingState *out, CUfunction function);
CUresult cuFuncLoad(CUfunction function);
CUresult cuFuncGetAttribute(int *out, CUfunction_attribute attribute, CUfunction function);
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value);
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config);
CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config);

/* occupancy */
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction function, int block_size,
			size_t shared);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *out, CUfunction function,
			int block_size, size_t shared, unsigned int flags);
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
			CUoccupancyB2DSize shared_of, size_t shared, int limit);
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
			CUoccupancyB2DSize shared_of, size_t shared, int limit, unsigned int flags);
CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *out, CUfunction function, int blocks,
			int block_size);
CUresult cuOccupancyMaxActiveClusters(int *out, CUfunction function, const CUlaunchConfig *config);
CUresult cuOccupancyMaxPotentialClusterSize(int *out, CUfunction function,
			const CUlaunchConfig *config);

/* graph */
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *out);
CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *out);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out);
CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus *out);
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
			CUgraph *graph, const CUgraphNode **dependencies, size_t *count);
CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus *status,
			cuuint64_t *id, CUgraph *graph, const CUgraphNode **dependencies,
			size_t *count);
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
			CUgraph *graph, const CUgraphNode **dependencies,
			const CUgraphEdgeData **edges, size_t *count);
CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus *status,
			cuuint64_t *id, CUgraph *graph, const CUgraphNode **dependencies,
			const CUgraphEdgeData **edges, size_t *count);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);
CUresult cuGraphCreate(CUgraph *out, unsigned int flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
			size_t nr_dependencies, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
			size_t nr_dependencies);
CUresult cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
			size_t nr_dependencies, const CUDA_MEMCPY3D *params, CUcontext context);
CUresult cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
			size_t nr_dependencies, const CUDA_MEMSET_NODE_PARAMS *params,
			CUcontext context);
CUresult cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *dependencies,
			size_t nr_dependencies, const CUDA_HOST_NODE_PARAMS *params);
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
			size_t count);
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *out);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *out, size_t *count);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags);
CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *node, char *log,
			size_t size);
CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph,
			CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *out, CUgraph graph,
			CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream);
CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
CUresult cuGraphExecDestroy(CUgraphExec exec);
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *out);

/* error */
CUresult cuGetErrorName(CUresult error, const char **out);
CUresult cuGetErrorString(CUresult error, const char **out);

/* entry */
CUresult cuGetProcAddress(const char *symbol, void **out, int version, cuuint64_t flags);
CUresult cuGetProcAddress_v2(const char *symbol, void **out, int version, cuuint64_t flags,
			CUdriverProcAddressQueryResult *status);
CUresult cuGetExportTable(const void **out, const CUuuid *id);

#ifndef __CUDA_API_VERSION_INTERNAL
#define cuDeviceGetUuid cuDeviceGetUuid_v2
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuCtxCreate cuCtxCreate_v4
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemFree cuMemFree_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemAdvise cuMemAdvise_v2
#define cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
#define cuArrayCreate cuArrayCreate_v2
#define cuArray3DCreate cuArray3DCreate_v2
#define cuArrayGetDescriptor cuArrayGetDescriptor_v2
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#define cuMemcpyHtoA cuMemcpyHtoA_v2
#define cuMemcpyAtoH cuMemcpyAtoH_v2
#define cuMemcpyDtoA cuMemcpyDtoA_v2
#define cuMemcpyAtoD cuMemcpyAtoD_v2
#define cuMemcpyAtoA cuMemcpyAtoA_v2
#define cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2
#define cuMemcpyAtoHAsync cuMemcpyAtoHAsync_v2
#define cuMemcpyHtoD cuMemcpyHtoD_v2
#define cuMemcpyDtoH cuMemcpyDtoH_v2
#define cuMemcpyDtoD cuMemcpyDtoD_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuMemcpyDtoDAsync cuMemcpyDtoDAsync_v2
#define cuMemcpyBatchAsync cuMemcpyBatchAsync_v2
#define cuMemcpy2D cuMemcpy2D_v2
#define cuMemcpy2DUnaligned cuMemcpy2DUnaligned_v2
#define cuMemcpy2DAsync cuMemcpy2DAsync_v2
#define cuMemcpy3D cuMemcpy3D_v2
#define cuMemcpy3DAsync cuMemcpy3DAsync_v2
#define cuMemsetD8 cuMemsetD8_v2
#define cuMemsetD2D8 cuMemsetD2D8_v2
#define cuMemsetD16 cuMemsetD16_v2
#define cuMemsetD2D16 cuMemsetD2D16_v2
#define cuMemsetD32 cuMemsetD32_v2
#define cuMemsetD2D32 cuMemsetD2D32_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuMemPrefetchAsync cuMemPrefetchAsync_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuEventElapsedTime cuEventElapsedTime_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#define cuStreamBeginCapture cuStreamBeginCapture_v2
#define cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v3
#define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#define cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#define cuGetProcAddress cuGetProcAddress_v2
#endif

#endif
