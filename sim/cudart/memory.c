// SPDX-License-Identifier: BSD-2-Clause
/* Allocates and frees memory, manages memory pools, and answers queries about addresses. */
#include "cudart/runtime.h"

#include <string.h>

/* An allocation of zero bytes returns NULL and does not reach the driver. */
static int allocate(void **out, size_t size)
{
	CUdeviceptr address = 0;
	int result;

	if (!out)
		return cudaErrorInvalidValue;
	result = size ? (int)D.cuMemAlloc_v2(&address, size) : cudaSuccess;
	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int allocate_managed(void **out, size_t size, unsigned int flags)
{
	CUdeviceptr address;
	int result;

	if (!out)
		return cudaErrorInvalidValue;
	result = (int)D.cuMemAllocManaged(&address, size, flags);
	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int allocate_pitch(void **out, size_t *pitch, size_t width, size_t height)
{
	CUdeviceptr address;
	int result;

	if (!out || !pitch)
		return cudaErrorInvalidValue;
	result = (int)D.cuMemAllocPitch_v2(&address, pitch, width, height, 16);
	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int allocate_3d(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
	int result;

	if (!out)
		return cudaErrorInvalidValue;
	result = allocate_pitch(&out->ptr, &out->pitch, extent.width,
				extent.height * extent.depth);
	out->xsize = extent.width;
	out->ysize = extent.height;
	return result;
}

static int allocate_async(const struct sim_call *on, void **out, size_t size, cudaStream_t stream)
{
	struct sim_call call = *on;
	CUdeviceptr address;
	int result;

	if (!out)
		return cudaErrorInvalidValue;
	result = (int)D_PTSZ(cuMemAllocAsync)(&address, size, stream);
	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int allocate_from(const struct sim_call *on, void **out, size_t size, cudaMemPool_t pool,
			 cudaStream_t stream)
{
	struct sim_call call = *on;
	CUdeviceptr address;
	int result;

	if (!out)
		return cudaErrorInvalidValue;
	result = (int)D_PTSZ(cuMemAllocFromPoolAsync)(&address, size, pool, stream);
	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int release(struct sim_call *call, void *address)
{
	if (address)
		return (int)D.cuMemFree_v2(device_address(address));
	call->null_free = true;
	return cudaSuccess;
}

static int release_host(struct sim_call *call, void *address)
{
	if (address)
		return (int)D.cuMemFreeHost(address);
	call->null_free = true;
	return cudaSuccess;
}

static int release_async(struct sim_call *on, void *address, cudaStream_t stream)
{
	struct sim_call call = *on;

	on->null_free = !address;
	return (int)D_PTSZ(cuMemFreeAsync)(device_address(address), stream);
}

static int host_device_pointer(void **out, void *host, unsigned int flags)
{
	CUdeviceptr address;
	int result;

	if (!out)
		return cudaErrorInvalidValue;
	result = (int)D.cuMemHostGetDevicePointer_v2(&address, host, flags);
	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int pointer_attributes(struct cudaPointerAttributes *out, const void *pointer)
{
	CUpointer_attribute which[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
		CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
		CU_POINTER_ATTRIBUTE_HOST_POINTER,
	};
	unsigned int type = 0, managed = 0;
	int device = -2, result;
	void *device_side = NULL, *host_side = NULL;
	void *answers[] = { &type, &managed, &device, &device_side, &host_side };

	if (!out)
		return cudaErrorInvalidValue;
	result = (int)D.cuPointerGetAttributes(5, which, answers, device_address(pointer));
	if (result)
		return result;
	memset(out, 0, sizeof(*out));
	out->type = managed ? cudaMemoryTypeManaged : (enum cudaMemoryType)type;
	out->device = device;
	out->devicePointer = device_side;
	out->hostPointer = type ? host_side : (void *)(uintptr_t)pointer;
	return cudaSuccess;
}

static int open_ipc(void **out, const cudaIpcMemHandle_t *handle, unsigned int flags)
{
	CUipcMemHandle driver_handle;
	CUdeviceptr address;
	int result;

	if (!out)
		return cudaErrorInvalidValue;
	memcpy(&driver_handle, handle, sizeof(driver_handle));
	result = (int)D.cuIpcOpenMemHandle_v2(&address, driver_handle, flags);
	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static CUmemLocation location_of(struct cudaMemLocation location)
{
	return (CUmemLocation){ .type = (CUmemLocationType)location.type, .id = location.id };
}

#define ROUND_PITCH(width) (((width) + 511) & ~(size_t)511)

RUNTIME(cudaMalloc, SIM_ALLOC, (void **out, size_t size), size,
	(call.nothing = !size, allocate(out, size)));
RUNTIME(cudaMallocManaged, SIM_ALLOC, (void **out, size_t size, unsigned int flags), size,
	allocate_managed(out, size, flags));
RUNTIME(cudaMallocPitch, SIM_ALLOC, (void **out, size_t *pitch, size_t width, size_t height),
	ROUND_PITCH(width) * height, allocate_pitch(out, pitch, width, height));
RUNTIME(cudaMalloc3D, SIM_ALLOC, (struct cudaPitchedPtr *out, struct cudaExtent extent),
	ROUND_PITCH(extent.width) * extent.height * extent.depth, allocate_3d(out, extent));
RUNTIME(cudaHostAlloc, SIM_ALLOC, (void **out, size_t size, unsigned int flags), size,
	(int)D.cuMemHostAlloc(out, size, flags));
RUNTIME(cudaMallocHost, SIM_ALLOC, (void **out, size_t size), size,
	(int)D.cuMemHostAlloc(out, size, 0));
RUNTIME_PTSZ(cudaMallocAsync, SIM_ALLOC, (void **out, size_t size, cudaStream_t stream), size,
	     allocate_async(&call, out, size, stream));
RUNTIME_PTSZ(cudaMallocFromPoolAsync, SIM_ALLOC, (void **out, size_t size, cudaMemPool_t pool,
						  cudaStream_t stream), size,
	     allocate_from(&call, out, size, pool, stream));
RUNTIME(cudaFree, SIM_FREE, (void *address), 0, release(&call, address));
RUNTIME(cudaFreeHost, SIM_FREE, (void *address), 0, release_host(&call, address));
RUNTIME_PTSZ(cudaFreeAsync, SIM_FREE, (void *address, cudaStream_t stream), 0,
	     release_async(&call, address, stream));

RUNTIME(cudaHostRegister, SIM_OTHER, (void *address, size_t size, unsigned int flags), size,
	(int)D.cuMemHostRegister_v2(address, size, flags));
RUNTIME(cudaHostUnregister, SIM_OTHER, (void *address), 0, (int)D.cuMemHostUnregister(address));
RUNTIME(cudaHostGetDevicePointer, SIM_OTHER, (void **out, void *host, unsigned int flags), 0,
	host_device_pointer(out, host, flags));
RUNTIME(cudaHostGetFlags, SIM_OTHER, (unsigned int *out, void *host), 0,
	(int)D.cuMemHostGetFlags(out, host));
RUNTIME(cudaMemGetInfo, SIM_OTHER, (size_t *available, size_t *total), 0,
	(int)D.cuMemGetInfo_v2(available, total));
RUNTIME(cudaPointerGetAttributes, SIM_OTHER, (struct cudaPointerAttributes *out,
					      const void *pointer), 0,
	pointer_attributes(out, pointer));
#define ADVISE(location)								\
	(int)D.cuMemAdvise_v2(device_address(address), size, (CUmem_advise)advice, location)
#define PREFETCH(location)								\
	(int)D_PTSZ(cuMemPrefetchAsync_v2)(device_address(address), size, location, flags, stream)

#if CUDART_VERSION >= 13000
RUNTIME(cudaMemAdvise, SIM_OTHER, (const void *address, size_t size,
				   enum cudaMemoryAdvise advice,
				   struct cudaMemLocation location), 0,
	ADVISE(location_of(location)));
RUNTIME_PTSZ(cudaMemPrefetchAsync, SIM_OTHER, (const void *address, size_t size,
					       struct cudaMemLocation location,
					       unsigned int flags, cudaStream_t stream), 0,
	     PREFETCH(location_of(location)));
#else
RUNTIME(cudaMemAdvise, SIM_OTHER, (const void *address, size_t size,
				   enum cudaMemoryAdvise advice, int device), 0,
	(int)D.cuMemAdvise(device_address(address), size, (CUmem_advise)advice, device));
RUNTIME(cudaMemAdvise_v2, SIM_OTHER, (const void *address, size_t size,
				      enum cudaMemoryAdvise advice,
				      struct cudaMemLocation location), 0,
	ADVISE(location_of(location)));
RUNTIME_PTSZ(cudaMemPrefetchAsync, SIM_OTHER, (const void *address, size_t size, int device,
					       cudaStream_t stream), 0,
	     (int)D_PTSZ(cuMemPrefetchAsync)(device_address(address), size, device, stream));
RUNTIME_PTSZ(cudaMemPrefetchAsync_v2, SIM_OTHER, (const void *address, size_t size,
						  struct cudaMemLocation location,
						  unsigned int flags, cudaStream_t stream), 0,
	     PREFETCH(location_of(location)));
#endif
RUNTIME(cudaIpcGetMemHandle, SIM_OTHER, (cudaIpcMemHandle_t *out, void *address), 0,
	(int)D.cuIpcGetMemHandle((CUipcMemHandle *)out, device_address(address)));
RUNTIME(cudaIpcOpenMemHandle, SIM_ALLOC, (void **out, cudaIpcMemHandle_t handle,
					  unsigned int flags), 0,
	open_ipc(out, &handle, flags));
RUNTIME(cudaIpcCloseMemHandle, SIM_FREE, (void *address), 0,
	(int)D.cuIpcCloseMemHandle(device_address(address)));

/* Both APIs have the same layout of the structures that describe pools. */
RUNTIME_PLAIN(cudaMemPoolCreate, (cudaMemPool_t *out, const struct cudaMemPoolProps *properties),
	      (int)D.cuMemPoolCreate(out, (const CUmemPoolProps *)properties));
RUNTIME_PLAIN(cudaMemPoolDestroy, (cudaMemPool_t pool), (int)D.cuMemPoolDestroy(pool));
RUNTIME_PLAIN(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep),
	      (int)D.cuMemPoolTrimTo(pool, keep));
RUNTIME_PLAIN(cudaMemPoolGetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
					void *out),
	      (int)D.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, out));
RUNTIME_PLAIN(cudaMemPoolSetAttribute, (cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
					void *value),
	      (int)D.cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
RUNTIME_PLAIN(cudaMemPoolSetAccess, (cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
				     size_t count),
	      (int)D.cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)access, count));
RUNTIME_PLAIN(cudaMemPoolGetAccess, (enum cudaMemAccessFlags *out, cudaMemPool_t pool,
				     struct cudaMemLocation *location),
	      (int)D.cuMemPoolGetAccess((CUmemAccess_flags *)out, pool,
					(CUmemLocation *)location));
RUNTIME_PLAIN(cudaDeviceGetDefaultMemPool, (cudaMemPool_t *out, int device),
	      (int)D.cuDeviceGetDefaultMemPool(out, device));
RUNTIME_PLAIN(cudaDeviceGetMemPool, (cudaMemPool_t *out, int device),
	      (int)D.cuDeviceGetMemPool(out, device));
RUNTIME_PLAIN(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool),
	      (int)D.cuDeviceSetMemPool(device, pool));
RUNTIME(cudaMemPoolExportToShareableHandle, SIM_OTHER,
	(void *out, cudaMemPool_t pool, enum cudaMemAllocationHandleType type,
	 unsigned int flags), 0,
	(int)D.cuMemPoolExportToShareableHandle(out, pool, (CUmemAllocationHandleType)type,
						flags));
RUNTIME(cudaMemPoolImportFromShareableHandle, SIM_ALLOC,
	(cudaMemPool_t *out, void *handle, enum cudaMemAllocationHandleType type,
	 unsigned int flags), 0,
	(int)D.cuMemPoolImportFromShareableHandle(out, handle, (CUmemAllocationHandleType)type,
						  flags));
RUNTIME(cudaMemPoolExportPointer, SIM_OTHER, (struct cudaMemPoolPtrExportData *out,
					      void *address), 0,
	(int)D.cuMemPoolExportPointer((CUmemPoolPtrExportData *)out, device_address(address)));
RUNTIME(cudaMemPoolImportPointer, SIM_ALLOC, (void **out, cudaMemPool_t pool,
					      struct cudaMemPoolPtrExportData *data), 0,
	(int)D.cuMemPoolImportPointer((CUdeviceptr *)out, pool, (CUmemPoolPtrExportData *)data));
RUNTIME(cudaMemRangeGetAttribute, SIM_OTHER, (void *out, size_t size,
					      enum cudaMemRangeAttribute attribute,
					      const void *address, size_t count), 0,
	(int)D.cuMemRangeGetAttribute(out, size, (CUmem_range_attribute)attribute,
				      device_address(address), count));
RUNTIME(cudaMemRangeGetAttributes, SIM_OTHER, (void **out, size_t *sizes,
					       enum cudaMemRangeAttribute *attributes,
					       size_t nr_attributes, const void *address,
					       size_t count), 0,
	(int)D.cuMemRangeGetAttributes(out, sizes, (CUmem_range_attribute *)attributes,
				       nr_attributes, device_address(address), count));

#if CUDART_VERSION >= 13000
#define AT_LOCATION struct cudaMemLocation *location, enum cudaMemAllocationType type
#define PASS_LOCATION (CUmemLocation *)location, (CUmemAllocationType)type
#define RANGES void **addresses, size_t *sizes, size_t count
#define LOCATIONS struct cudaMemLocation *locations, size_t *indices, size_t nr_locations
#define PASS_LOCATIONS (CUmemLocation *)locations, indices, nr_locations

RUNTIME(cudaMemGetDefaultMemPool, SIM_OTHER, (cudaMemPool_t *out, AT_LOCATION), 0,
	(int)D.cuMemGetDefaultMemPool(out, PASS_LOCATION));
RUNTIME(cudaMemGetMemPool, SIM_OTHER, (cudaMemPool_t *out, AT_LOCATION), 0,
	(int)D.cuMemGetMemPool(out, PASS_LOCATION));
RUNTIME(cudaMemSetMemPool, SIM_OTHER, (AT_LOCATION, cudaMemPool_t pool), 0,
	(int)D.cuMemSetMemPool(PASS_LOCATION, pool));
RUNTIME_PTSZ(cudaMemPrefetchBatchAsync, SIM_OTHER,
	     (RANGES, LOCATIONS, unsigned long long flags, cudaStream_t stream), 0,
	     (int)D_PTSZ(cuMemPrefetchBatchAsync)((CUdeviceptr *)addresses, sizes, count,
						  PASS_LOCATIONS, flags, stream));
RUNTIME_PTSZ(cudaMemDiscardBatchAsync, SIM_OTHER,
	     (RANGES, unsigned long long flags, cudaStream_t stream), 0,
	     (int)D_PTSZ(cuMemDiscardBatchAsync)((CUdeviceptr *)addresses, sizes, count, flags,
						 stream));
RUNTIME_PTSZ(cudaMemDiscardAndPrefetchBatchAsync, SIM_OTHER,
	     (RANGES, LOCATIONS, unsigned long long flags, cudaStream_t stream), 0,
	     (int)D_PTSZ(cuMemDiscardAndPrefetchBatchAsync)((CUdeviceptr *)addresses, sizes,
							    count, PASS_LOCATIONS, flags,
							    stream));
#endif
