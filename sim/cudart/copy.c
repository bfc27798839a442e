// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies and memsets: by kind to the driver's functions. A copy of nothing does
 * not reach the driver.
 */
#include "cudart/runtime.h"

static enum sim_copy_kind kind_of(enum cudaMemcpyKind kind)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
		return SIM_H2H;
	case cudaMemcpyHostToDevice:
		return SIM_H2D;
	case cudaMemcpyDeviceToHost:
		return SIM_D2H;
	case cudaMemcpyDeviceToDevice:
		return SIM_D2D;
	case cudaMemcpyDefault:
		break;
	}
	return SIM_DEFAULT;
}

static int copy(const struct sim_call *on, void *to, const void *from, size_t size,
		enum cudaMemcpyKind kind)
{
	struct sim_call call = *on;

	if ((int)kind < 0 || kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!size)
		return cudaSuccess;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return (int)D_PTDS(cuMemcpyHtoD_v2)(device_address(to), from, size);
	case cudaMemcpyDeviceToHost:
		return (int)D_PTDS(cuMemcpyDtoH_v2)(to, device_address(from), size);
	case cudaMemcpyDeviceToDevice:
		return (int)D_PTDS(cuMemcpyDtoD_v2)(device_address(to), device_address(from),
						    size);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		break;
	}
	return (int)D_PTDS(cuMemcpy)(device_address(to), device_address(from), size);
}

static int copy_async(const struct sim_call *on, void *to, const void *from, size_t size,
		      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	struct sim_call call = *on;

	if ((int)kind < 0 || kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	if (!size)
		return cudaSuccess;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return (int)D_PTSZ(cuMemcpyHtoDAsync_v2)(device_address(to), from, size, stream);
	case cudaMemcpyDeviceToHost:
		return (int)D_PTSZ(cuMemcpyDtoHAsync_v2)(to, device_address(from), size, stream);
	case cudaMemcpyDeviceToDevice:
		return (int)D_PTSZ(cuMemcpyDtoDAsync_v2)(device_address(to),
							 device_address(from), size, stream);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		break;
	}
	return (int)D_PTSZ(cuMemcpyAsync)(device_address(to), device_address(from), size, stream);
}

static CUmemorytype type_of(enum cudaMemcpyKind kind, bool destination)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
		return CU_MEMORYTYPE_HOST;
	case cudaMemcpyHostToDevice:
		return destination ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
	case cudaMemcpyDeviceToHost:
		return destination ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
	case cudaMemcpyDeviceToDevice:
		return CU_MEMORYTYPE_DEVICE;
	case cudaMemcpyDefault:
		break;
	}
	return CU_MEMORYTYPE_UNIFIED;
}

static CUDA_MEMCPY2D plane(void *to, size_t to_pitch, const void *from, size_t from_pitch,
			   size_t width, size_t height, enum cudaMemcpyKind kind)
{
	return (CUDA_MEMCPY2D){
		.srcMemoryType = type_of(kind, false), .srcHost = from,
		.srcDevice = device_address(from), .srcPitch = from_pitch,
		.dstMemoryType = type_of(kind, true), .dstHost = to,
		.dstDevice = device_address(to), .dstPitch = to_pitch,
		.WidthInBytes = width, .Height = height,
	};
}

static int copy_2d(const struct sim_call *on, CUDA_MEMCPY2D what)
{
	struct sim_call call = *on;

	return (int)D_PTDS(cuMemcpy2DUnaligned_v2)(&what);
}

static int copy_2d_async(const struct sim_call *on, CUDA_MEMCPY2D what, cudaStream_t stream)
{
	struct sim_call call = *on;

	return (int)D_PTSZ(cuMemcpy2DAsync_v2)(&what, stream);
}

static bool volume(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *out)
{
	if (!params || params->srcArray || params->dstArray)
		return false;
	*out = (CUDA_MEMCPY3D){
		.srcXInBytes = params->srcPos.x, .srcY = params->srcPos.y,
		.srcZ = params->srcPos.z, .srcMemoryType = type_of(params->kind, false),
		.srcHost = params->srcPtr.ptr, .srcDevice = device_address(params->srcPtr.ptr),
		.srcPitch = params->srcPtr.pitch, .srcHeight = params->srcPtr.ysize,
		.dstXInBytes = params->dstPos.x, .dstY = params->dstPos.y,
		.dstZ = params->dstPos.z, .dstMemoryType = type_of(params->kind, true),
		.dstHost = params->dstPtr.ptr, .dstDevice = device_address(params->dstPtr.ptr),
		.dstPitch = params->dstPtr.pitch, .dstHeight = params->dstPtr.ysize,
		.WidthInBytes = params->extent.width, .Height = params->extent.height,
		.Depth = params->extent.depth,
	};
	return true;
}

static int copy_3d(const struct sim_call *on, const struct cudaMemcpy3DParms *params)
{
	struct sim_call call = *on;
	CUDA_MEMCPY3D what;

	if (!volume(params, &what))
		return params ? cudaErrorNotSupported : cudaErrorInvalidValue;
	return (int)D_PTDS(cuMemcpy3D_v2)(&what);
}

static int copy_3d_async(const struct sim_call *on, const struct cudaMemcpy3DParms *params,
			 cudaStream_t stream)
{
	struct sim_call call = *on;
	CUDA_MEMCPY3D what;

	if (!volume(params, &what))
		return params ? cudaErrorNotSupported : cudaErrorInvalidValue;
	return (int)D_PTSZ(cuMemcpy3DAsync_v2)(&what, stream);
}

static uint64_t volume_bytes(const struct cudaMemcpy3DParms *params)
{
	if (!params)
		return 0;
	return params->extent.width * params->extent.height * params->extent.depth;
}

static int symbol_part(const void *symbol, size_t size, size_t offset, void **out)
{
	CUdeviceptr address;
	size_t room;
	int result = variable__resolve(symbol, &address, &room);

	if (result)
		return result;
	if (offset > room || size > room - offset)
		return cudaErrorInvalidValue;
	*out = (void *)(uintptr_t)(address + offset);
	return cudaSuccess;
}

static int to_symbol(const struct sim_call *call, const void *symbol, const void *from,
		     size_t size, size_t offset, enum cudaMemcpyKind kind)
{
	void *to;
	int result = symbol_part(symbol, size, offset, &to);

	return result ? result : copy(call, to, from, size, kind);
}

static int from_symbol(const struct sim_call *call, void *to, const void *symbol, size_t size,
		       size_t offset, enum cudaMemcpyKind kind)
{
	void *from;
	int result = symbol_part(symbol, size, offset, &from);

	return result ? result : copy(call, to, from, size, kind);
}

static int to_symbol_async(const struct sim_call *call, const void *symbol, const void *from,
			   size_t size, size_t offset, enum cudaMemcpyKind kind,
			   cudaStream_t stream)
{
	void *to;
	int result = symbol_part(symbol, size, offset, &to);

	return result ? result : copy_async(call, to, from, size, kind, stream);
}

static int from_symbol_async(const struct sim_call *call, void *to, const void *symbol,
			     size_t size, size_t offset, enum cudaMemcpyKind kind,
			     cudaStream_t stream)
{
	void *from;
	int result = symbol_part(symbol, size, offset, &from);

	return result ? result : copy_async(call, to, from, size, kind, stream);
}

static uint64_t sum(const size_t *sizes, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; sizes && i < count; i++)
		total += sizes[i];
	return total;
}

static CUcontext context_of(int device)
{
	CUcontext context = NULL;

	if (device >= 0 && device < RUNTIME_MAX_DEVICES)
		context = runtime.primary[device];
	return context;
}

RUNTIME_COPY_PTDS(cudaMemcpy, kind_of(kind), (void *to, const void *from, size_t size,
					      enum cudaMemcpyKind kind), size,
		  copy(&call, to, from, size, kind));
RUNTIME_COPY_PTSZ(cudaMemcpyAsync, kind_of(kind), (void *to, const void *from, size_t size,
						   enum cudaMemcpyKind kind,
						   cudaStream_t stream), size,
		  copy_async(&call, to, from, size, kind, stream));
RUNTIME_COPY(cudaMemcpyPeer, SIM_P2P, SIM_SYNCHRONOUS,
	     (void *to, int to_device, const void *from, int from_device, size_t size), size,
	     false, (int)D.cuMemcpyPeer(device_address(to), context_of(to_device),
					device_address(from), context_of(from_device), size));
RUNTIME_COPY(cudaMemcpyPeerAsync, SIM_P2P, SIM_ASYNCHRONOUS,
	     (void *to, int to_device, const void *from, int from_device, size_t size,
	      cudaStream_t stream), size, false,
	     (int)D.cuMemcpyPeerAsync(device_address(to), context_of(to_device),
				      device_address(from), context_of(from_device), size,
				      stream));
RUNTIME_COPY_PTDS(cudaMemcpy2D, kind_of(kind),
		  (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
		   size_t height, enum cudaMemcpyKind kind), width * height,
		  copy_2d(&call, plane(to, to_pitch, from, from_pitch, width, height, kind)));
RUNTIME_COPY_PTSZ(cudaMemcpy2DAsync, kind_of(kind),
		  (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
		   size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
		  width * height,
		  copy_2d_async(&call, plane(to, to_pitch, from, from_pitch, width, height,
					     kind), stream));
RUNTIME_COPY_PTDS(cudaMemcpy3D, params ? kind_of(params->kind) : SIM_DEFAULT,
		  (const struct cudaMemcpy3DParms *params), volume_bytes(params),
		  copy_3d(&call, params));
RUNTIME_COPY_PTSZ(cudaMemcpy3DAsync, params ? kind_of(params->kind) : SIM_DEFAULT,
		  (const struct cudaMemcpy3DParms *params, cudaStream_t stream),
		  volume_bytes(params), copy_3d_async(&call, params, stream));
RUNTIME_COPY_PTDS(cudaMemcpyToSymbol, kind_of(kind),
		  (const void *symbol, const void *from, size_t size, size_t offset,
		   enum cudaMemcpyKind kind), size,
		  to_symbol(&call, symbol, from, size, offset, kind));
RUNTIME_COPY_PTDS(cudaMemcpyFromSymbol, kind_of(kind),
		  (void *to, const void *symbol, size_t size, size_t offset,
		   enum cudaMemcpyKind kind), size,
		  from_symbol(&call, to, symbol, size, offset, kind));
RUNTIME_COPY_PTSZ(cudaMemcpyToSymbolAsync, kind_of(kind),
		  (const void *symbol, const void *from, size_t size, size_t offset,
		   enum cudaMemcpyKind kind, cudaStream_t stream), size,
		  to_symbol_async(&call, symbol, from, size, offset, kind, stream));
RUNTIME_COPY_PTSZ(cudaMemcpyFromSymbolAsync, kind_of(kind),
		  (void *to, const void *symbol, size_t size, size_t offset,
		   enum cudaMemcpyKind kind, cudaStream_t stream), size,
		  from_symbol_async(&call, to, symbol, size, offset, kind, stream));

RUNTIME_COPY_PTSZ(cudaMemcpyBatchAsync, SIM_DEFAULT,
		  (void *const *to, const void *const *from, const size_t *sizes, size_t count,
		   struct cudaMemcpyAttributes *attributes, size_t *indices,
		   size_t nr_attributes, cudaStream_t stream), sum(sizes, count),
		  (int)D_PTSZ(cuMemcpyBatchAsync_v2)((CUdeviceptr *)to, (CUdeviceptr *)from,
						     (size_t *)sizes, count,
						     (CUmemcpyAttributes *)attributes, indices,
						     nr_attributes, stream));

RUNTIME_COPY_PTDS(cudaMemset, SIM_SET, (void *address, int value, size_t size), size,
		  (int)D_PTDS(cuMemsetD8_v2)(device_address(address), (unsigned char)value,
					     size));
RUNTIME_COPY_PTSZ(cudaMemsetAsync, SIM_SET, (void *address, int value, size_t size,
					     cudaStream_t stream), size,
		  (int)D_PTSZ(cuMemsetD8Async)(device_address(address), (unsigned char)value,
					       size, stream));
RUNTIME_COPY_PTDS(cudaMemset2D, SIM_SET, (void *address, size_t pitch, int value, size_t width,
					  size_t height), width * height,
		  (int)D_PTDS(cuMemsetD2D8_v2)(device_address(address), pitch,
					       (unsigned char)value, width, height));
RUNTIME_COPY_PTSZ(cudaMemset2DAsync, SIM_SET, (void *address, size_t pitch, int value,
					       size_t width, size_t height,
					       cudaStream_t stream), width * height,
		  (int)D_PTSZ(cuMemsetD2D8Async)(device_address(address), pitch,
						 (unsigned char)value, width, height, stream));
