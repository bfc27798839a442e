// SPDX-License-Identifier: BSD-2-Clause
/* Devices: selects one, returns its properties, and waits for it. */
#include "cudart/runtime.h"

#include <string.h>

static int get_device(int *out)
{
	if (!out)
		return cudaErrorInvalidValue;
	if (runtime.recorder->context())
		return (int)D.cuCtxGetDevice(out);
	*out = runtime_thread.device;
	return cudaSuccess;
}

static int set_int(unsigned int *out, unsigned int value)
{
	if (!out)
		return cudaErrorInvalidValue;
	*out = value;
	return cudaSuccess;
}

static int runtime_version(int *out)
{
	return set_int((unsigned int *)out, CUDART_VERSION);
}

static int attribute(int number, int device)
{
	int value = 0;

	(void)D.cuDeviceGetAttribute(&value, (CUdevice_attribute)number, device);
	return value;
}

static int properties(struct cudaDeviceProp *out, int device)
{
	int result;

	if (!out)
		return cudaErrorInvalidValue;
	memset(out, 0, sizeof(*out));
	result = (int)D.cuDeviceGetName(out->name, sizeof(out->name), device);
	if (result)
		return result;
	(void)D.cuDeviceGetUuid_v2((CUuuid *)&out->uuid, device);
	(void)D.cuDeviceTotalMem_v2(&out->totalGlobalMem, device);
	out->maxThreadsPerBlock = attribute(1, device);
	for (int i = 0; i < 3; i++) {
		out->maxThreadsDim[i] = attribute(2 + i, device);
		out->maxGridSize[i] = attribute(5 + i, device);
	}
	out->sharedMemPerBlock = (size_t)attribute(8, device);
	out->totalConstMem = (size_t)attribute(9, device);
	out->warpSize = attribute(10, device);
	out->memPitch = (size_t)attribute(11, device);
	out->regsPerBlock = attribute(12, device);
	out->multiProcessorCount = attribute(16, device);
	out->canMapHostMemory = 1;
	out->concurrentKernels = 1;
	out->pciBusID = attribute(33, device);
	out->memoryBusWidth = attribute(37, device);
	out->l2CacheSize = attribute(38, device);
	out->maxThreadsPerMultiProcessor = attribute(39, device);
	out->asyncEngineCount = attribute(40, device);
	out->unifiedAddressing = 1;
	out->major = attribute(75, device);
	out->minor = attribute(76, device);
	out->sharedMemPerMultiprocessor = (size_t)attribute(81, device);
	out->regsPerMultiprocessor = attribute(82, device);
	out->managedMemory = 1;
	return cudaSuccess;
}

static int enable_peer(int device, unsigned int flags)
{
	CUcontext peer;
	int result = runtime__retain(device, &peer);

	return result ? result : (int)D.cuCtxEnablePeerAccess(peer, flags);
}

static int disable_peer(int device)
{
	CUcontext peer;
	int result = runtime__retain(device, &peer);

	return result ? result : (int)D.cuCtxDisablePeerAccess(peer);
}

static int choose(int *out, const struct cudaDeviceProp *wanted)
{
	return wanted ? set_int((unsigned int *)out, 0) : (int)cudaErrorInvalidValue;
}

RUNTIME_PLAIN(cudaGetDeviceCount, (int *out), (int)D.cuDeviceGetCount(out));
RUNTIME_PLAIN(cudaGetDevice, (int *out), get_device(out));
RUNTIME_PLAIN(cudaSetDevice, (int device), runtime__use_device(device));
RUNTIME_PLAIN(cudaInitDevice, (int device, unsigned int device_flags, unsigned int flags),
	      ((void)device_flags, (void)flags, runtime__use_device(device)));
RUNTIME_PLAIN(cudaSetDeviceFlags, (unsigned int flags),
	      (int)D.cuDevicePrimaryCtxSetFlags_v2(runtime_thread.device, flags));
RUNTIME_PLAIN(cudaGetDeviceFlags, (unsigned int *out), set_int(out, 0));
RUNTIME_PLAIN(cudaSetValidDevices, (int *devices, int count),
	      devices && count > 0 ? cudaSuccess : cudaErrorInvalidValue);
RUNTIME_PLAIN(cudaChooseDevice, (int *out, const struct cudaDeviceProp *wanted),
	      choose(out, wanted));
#if CUDART_VERSION >= 13000
RUNTIME_PLAIN(cudaGetDeviceProperties, (struct cudaDeviceProp *out, int device),
	      properties(out, device));
RUNTIME_PLAIN(cudaDeviceGetHostAtomicCapabilities,
	      (unsigned int *out, const enum cudaAtomicOperation *operations,
	       unsigned int count, int device),
	      (int)D.cuDeviceGetHostAtomicCapabilities(
		      out, (const CUatomicOperation *)operations, count, device));
RUNTIME_PLAIN(cudaDeviceGetP2PAtomicCapabilities,
	      (unsigned int *out, const enum cudaAtomicOperation *operations,
	       unsigned int count, int from, int to),
	      (int)D.cuDeviceGetP2PAtomicCapabilities(
		      out, (const CUatomicOperation *)operations, count, from, to));
#else
/* The unversioned name is CUDA 11's form, whose structure is shorter. */
#define SIZE_IN_11 712

static int short_properties(void *out, int device)
{
	struct cudaDeviceProp all;
	int result = properties(&all, device);

	if (!result && out)
		memcpy(out, &all, SIZE_IN_11);
	return result || out ? result : (int)cudaErrorInvalidValue;
}

static int set_cache(enum cudaFuncCache *out)
{
	return set_int((unsigned int *)out, 0);
}

RUNTIME_PLAIN(cudaGetDeviceProperties, (struct cudaDeviceProp *out, int device),
	      short_properties(out, device));
RUNTIME_PLAIN(cudaGetDeviceProperties_v2, (struct cudaDeviceProp *out, int device),
	      properties(out, device));
RUNTIME(cudaThreadSynchronize, SIM_SYNC, (void), 0, (int)D.cuCtxSynchronize());
RUNTIME(cudaThreadExit, SIM_OTHER, (void), 0,
	(int)D.cuDevicePrimaryCtxReset_v2(runtime_thread.device));
RUNTIME(cudaThreadGetLimit, SIM_OTHER, (size_t *out, enum cudaLimit limit), 0,
	(int)D.cuCtxGetLimit(out, (CUlimit)limit));
RUNTIME(cudaThreadSetLimit, SIM_OTHER, (enum cudaLimit limit, size_t value), 0,
	(int)D.cuCtxSetLimit((CUlimit)limit, value));
RUNTIME(cudaThreadGetCacheConfig, SIM_OTHER, (enum cudaFuncCache *out), 0, set_cache(out));
RUNTIME(cudaThreadSetCacheConfig, SIM_OTHER, (enum cudaFuncCache config), 0,
	((void)config, cudaSuccess));
RUNTIME_PLAIN(cudaSetDoubleForDevice, (double *value),
	      value ? cudaSuccess : cudaErrorInvalidValue);
RUNTIME_PLAIN(cudaSetDoubleForHost, (double *value),
	      value ? cudaSuccess : cudaErrorInvalidValue);
#endif
RUNTIME_PLAIN(cudaDeviceGetAttribute, (int *out, enum cudaDeviceAttr number, int device),
	      (int)D.cuDeviceGetAttribute(out, (CUdevice_attribute)number, device));
RUNTIME_PLAIN(cudaDeviceGetPCIBusId, (char *out, int length, int device),
	      (int)D.cuDeviceGetPCIBusId(out, length, device));
RUNTIME_PLAIN(cudaDeviceGetByPCIBusId, (int *out, const char *text),
	      (int)D.cuDeviceGetByPCIBusId(out, text));
RUNTIME_PLAIN(cudaDeviceCanAccessPeer, (int *out, int device, int peer),
	      (int)D.cuDeviceCanAccessPeer(out, device, peer));
RUNTIME_PLAIN(cudaDeviceGetP2PAttribute, (int *out, enum cudaDeviceP2PAttr number, int device,
					  int peer),
	      (int)D.cuDeviceGetP2PAttribute(out, (CUdevice_P2PAttribute)number, device, peer));
RUNTIME_PLAIN(cudaDriverGetVersion, (int *out), (int)D.cuDriverGetVersion(out));
RUNTIME(cudaDeviceEnablePeerAccess, SIM_OTHER, (int device, unsigned int flags), 0,
	enable_peer(device, flags));
RUNTIME(cudaDeviceDisablePeerAccess, SIM_OTHER, (int device), 0, disable_peer(device));
RUNTIME(cudaDeviceSynchronize, SIM_SYNC, (void), 0, (int)D.cuCtxSynchronize());
RUNTIME(cudaDeviceReset, SIM_OTHER, (void), 0,
	(int)D.cuDevicePrimaryCtxReset_v2(runtime_thread.device));
RUNTIME(cudaDeviceGetLimit, SIM_OTHER, (size_t *out, enum cudaLimit limit), 0,
	(int)D.cuCtxGetLimit(out, (CUlimit)limit));
RUNTIME(cudaDeviceSetLimit, SIM_OTHER, (enum cudaLimit limit, size_t value), 0,
	(int)D.cuCtxSetLimit((CUlimit)limit, value));
RUNTIME(cudaDeviceGetStreamPriorityRange, SIM_OTHER, (int *least, int *greatest), 0,
	(int)D.cuCtxGetStreamPriorityRange(least, greatest));
RUNTIME(cudaDeviceGetCacheConfig, SIM_OTHER, (enum cudaFuncCache *out), 0,
	set_int((unsigned int *)out, 0));
RUNTIME(cudaDeviceSetCacheConfig, SIM_OTHER, (enum cudaFuncCache config), 0,
	((void)config, cudaSuccess));
RUNTIME(cudaCtxResetPersistingL2Cache, SIM_OTHER, (void), 0,
	(int)D.cuCtxResetPersistingL2Cache());
RUNTIME(cudaProfilerStart, SIM_OTHER, (void), 0, (int)D.cuProfilerStart());
RUNTIME(cudaProfilerStop, SIM_OTHER, (void), 0, (int)D.cuProfilerStop());

RUNTIME(cudaDeviceGetSharedMemConfig, SIM_OTHER, (enum cudaSharedMemConfig *out), 0,
	set_int((unsigned int *)out, 0));
RUNTIME(cudaDeviceSetSharedMemConfig, SIM_OTHER, (enum cudaSharedMemConfig config), 0,
	((void)config, cudaSuccess));
RUNTIME(cudaDeviceFlushGPUDirectRDMAWrites, SIM_OTHER,
	(enum cudaFlushGPUDirectRDMAWritesTarget target,
	 enum cudaFlushGPUDirectRDMAWritesScope scope), 0,
	(int)D.cuFlushGPUDirectRDMAWrites((CUflushGPUDirectRDMAWritesTarget)target,
					  (CUflushGPUDirectRDMAWritesScope)scope));
RUNTIME_PLAIN(cudaDeviceGetTexture1DLinearMaxWidth,
	      (size_t *out, const struct cudaChannelFormatDesc *desc, int device),
	      desc ? (int)D.cuDeviceGetTexture1DLinearMaxWidth(out, CU_AD_FORMAT_FLOAT, 1, device) :
		     (int)cudaErrorInvalidValue);
RUNTIME_PLAIN(cudaDeviceRegisterAsyncNotification,
	      (int device, cudaAsyncCallback function, void *argument,
	       cudaAsyncCallbackHandle_t *out),
	      (int)D.cuDeviceRegisterAsyncNotification(device, (CUasyncCallback)(void *)function,
						       argument, (CUasyncCallbackHandle *)out));
RUNTIME_PLAIN(cudaDeviceUnregisterAsyncNotification,
	      (int device, cudaAsyncCallbackHandle_t handle),
	      (int)D.cuDeviceUnregisterAsyncNotification(device,
							 (CUasyncCallbackHandle)handle));
RUNTIME_PLAIN(cudaDeviceGetGraphMemAttribute, (int device,
					       enum cudaGraphMemAttributeType attribute_,
					       void *out),
	      (int)D.cuDeviceGetGraphMemAttribute(device, (CUgraphMem_attribute)attribute_,
						  out));
RUNTIME_PLAIN(cudaDeviceSetGraphMemAttribute, (int device,
					       enum cudaGraphMemAttributeType attribute_,
					       void *value),
	      (int)D.cuDeviceSetGraphMemAttribute(device, (CUgraphMem_attribute)attribute_,
						  value));
RUNTIME_PLAIN(cudaDeviceGraphMemTrim, (int device), (int)D.cuDeviceGraphMemTrim(device));

/* The library's own version can be queried without a driver. */
RUNTIME_PROLOGUE(cudaRuntimeGetVersion, SIM_OTHER, (int *out), 0, false);
	result = sim_inject(&call);
	if (!result)
		result = runtime_version(out);
RUNTIME_EPILOGUE;
