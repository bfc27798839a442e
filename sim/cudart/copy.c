// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies and memsets: calls the driver's function for the kind. A copy of zero bytes does not reach
 * the driver.
 */
#include "cudart/array.h"

#include <string.h>

enum sim_copy_kind copy__kind(enum cudaMemcpyKind kind)
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

CUmemorytype copy__type(enum cudaMemcpyKind kind, bool destination)
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
		.srcMemoryType = copy__type(kind, false), .srcHost = from,
		.srcDevice = device_address(from), .srcPitch = from_pitch,
		.dstMemoryType = copy__type(kind, true), .dstHost = to,
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

/* The unit of an extent and of positions: an array's elements, or bytes. */
static size_t unit_of(const struct cudaMemcpy3DParms *params)
{
	cudaArray_const_t array = params->dstArray ? params->dstArray : params->srcArray;

	return array ? array__element(array) : 1;
}

int copy__volume(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *out)
{
	size_t unit = params ? unit_of(params) : 0;

	if (!unit)
		return params ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue;
	*out = (CUDA_MEMCPY3D){
		.srcXInBytes = params->srcPos.x * unit, .srcY = params->srcPos.y,
		.srcZ = params->srcPos.z, .srcMemoryType = copy__type(params->kind, false),
		.srcHost = params->srcPtr.ptr, .srcDevice = device_address(params->srcPtr.ptr),
		.srcPitch = params->srcPtr.pitch, .srcHeight = params->srcPtr.ysize,
		.dstXInBytes = params->dstPos.x * unit, .dstY = params->dstPos.y,
		.dstZ = params->dstPos.z, .dstMemoryType = copy__type(params->kind, true),
		.dstHost = params->dstPtr.ptr, .dstDevice = device_address(params->dstPtr.ptr),
		.dstPitch = params->dstPtr.pitch, .dstHeight = params->dstPtr.ysize,
		.WidthInBytes = params->extent.width * unit, .Height = params->extent.height,
		.Depth = params->extent.depth,
	};
	if (params->srcArray) {
		out->srcMemoryType = CU_MEMORYTYPE_ARRAY;
		out->srcArray = (CUarray)params->srcArray;
	}
	if (params->dstArray) {
		out->dstMemoryType = CU_MEMORYTYPE_ARRAY;
		out->dstArray = (CUarray)params->dstArray;
	}
	return cudaSuccess;
}

CUDA_MEMCPY3D copy__row(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
	return (CUDA_MEMCPY3D){
		.srcMemoryType = copy__type(kind, false), .srcHost = from,
		.srcDevice = device_address(from), .srcPitch = size, .srcHeight = 1,
		.dstMemoryType = copy__type(kind, true), .dstHost = to,
		.dstDevice = device_address(to), .dstPitch = size, .dstHeight = 1,
		.WidthInBytes = size, .Height = 1, .Depth = 1,
	};
}

static int copy_3d(struct sim_call *on, const struct cudaMemcpy3DParms *params)
{
	struct sim_call call = *on;
	CUDA_MEMCPY3D what;
	int result = copy__volume(params, &what);

	if (result)
		return result;
	on->bytes = what.WidthInBytes * what.Height * what.Depth;
	return (int)D_PTDS(cuMemcpy3D_v2)(&what);
}

static int copy_3d_async(struct sim_call *on, const struct cudaMemcpy3DParms *params,
			 cudaStream_t stream)
{
	struct sim_call call = *on;
	CUDA_MEMCPY3D what;
	int result = copy__volume(params, &what);

	if (result)
		return result;
	on->bytes = what.WidthInBytes * what.Height * what.Depth;
	return (int)D_PTSZ(cuMemcpy3DAsync_v2)(&what, stream);
}

static CUcontext context_of(int device)
{
	CUcontext context = NULL;

	return runtime__retain(device, &context) ? NULL : context;
}

/* Describes the sides of a copy between peers as those of any copy, with unified addresses. */
static int peer_volume(const struct cudaMemcpy3DPeerParms *params, CUDA_MEMCPY3D_PEER *out)
{
	struct cudaMemcpy3DParms plain;
	CUDA_MEMCPY3D what;
	int result;

	if (!params)
		return cudaErrorInvalidValue;
	plain = (struct cudaMemcpy3DParms){
		.srcArray = params->srcArray, .srcPos = params->srcPos,
		.srcPtr = params->srcPtr, .dstArray = params->dstArray,
		.dstPos = params->dstPos, .dstPtr = params->dstPtr, .extent = params->extent,
		.kind = cudaMemcpyDeviceToDevice,
	};
	result = copy__volume(&plain, &what);
	if (result)
		return result;
	/* The two structures only differ in reserved members, which are the contexts here. */
	_Static_assert(sizeof(what) == sizeof(*out), "one layout");
	memcpy(out, &what, sizeof(*out));
	out->srcContext = context_of(params->srcDevice);
	out->dstContext = context_of(params->dstDevice);
	return cudaSuccess;
}

static int copy_3d_peer(struct sim_call *on, const struct cudaMemcpy3DPeerParms *params)
{
	struct sim_call call = *on;
	CUDA_MEMCPY3D_PEER what;
	int result = peer_volume(params, &what);

	if (result)
		return result;
	on->bytes = what.WidthInBytes * what.Height * what.Depth;
	return (int)D_PTDS(cuMemcpy3DPeer)(&what);
}

static int copy_3d_peer_async(struct sim_call *on, const struct cudaMemcpy3DPeerParms *params,
			      cudaStream_t stream)
{
	struct sim_call call = *on;
	CUDA_MEMCPY3D_PEER what;
	int result = peer_volume(params, &what);

	if (result)
		return result;
	on->bytes = what.WidthInBytes * what.Height * what.Depth;
	return (int)D_PTSZ(cuMemcpy3DPeerAsync)(&what, stream);
}

/* Bytes of a batch; queries the size of an array's elements. */
static uint64_t batch_bytes(const struct cudaMemcpy3DBatchOp *copies, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; copies && i < count; i++) {
		const struct cudaMemcpy3DBatchOp *copy_ = &copies[i];
		size_t unit = 1;

		if (copy_->dst.type == cudaMemcpyOperandTypeArray)
			unit = array__element(copy_->dst.op.array.array);
		else if (copy_->src.type == cudaMemcpyOperandTypeArray)
			unit = array__element(copy_->src.op.array.array);
		total += copy_->extent.width * copy_->extent.height * copy_->extent.depth * unit;
	}
	return total;
}

/* Slices without gaps between them form one block of rows. */
static bool is_dense(const struct cudaPitchedPtr *to, const struct cudaExtent *extent)
{
	return extent->depth <= 1 || to->ysize == extent->height;
}

static int set_3d(const struct sim_call *on, struct cudaPitchedPtr to, int value,
		  struct cudaExtent extent)
{
	size_t slices = is_dense(&to, &extent) ? 1 : extent.depth;
	size_t height = extent.height * (slices == 1 ? extent.depth : 1);
	struct sim_call call = *on;
	int result = cudaSuccess;

	for (size_t i = 0; !result && i < slices; i++)
		result = (int)D_PTDS(cuMemsetD2D8_v2)(
			device_address(to.ptr) + i * to.pitch * to.ysize, to.pitch,
			(unsigned char)value, extent.width, height);
	return result;
}

static int set_3d_async(const struct sim_call *on, struct cudaPitchedPtr to, int value,
			struct cudaExtent extent, cudaStream_t stream)
{
	size_t slices = is_dense(&to, &extent) ? 1 : extent.depth;
	size_t height = extent.height * (slices == 1 ? extent.depth : 1);
	struct sim_call call = *on;
	int result = cudaSuccess;

	for (size_t i = 0; !result && i < slices; i++)
		result = (int)D_PTSZ(cuMemsetD2D8Async)(
			device_address(to.ptr) + i * to.pitch * to.ysize, to.pitch,
			(unsigned char)value, extent.width, height, stream);
	return result;
}

int copy__symbol_part(const void *symbol, size_t size, size_t offset, void **out)
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
	int result = copy__symbol_part(symbol, size, offset, &to);

	return result ? result : copy(call, to, from, size, kind);
}

static int from_symbol(const struct sim_call *call, void *to, const void *symbol, size_t size,
		       size_t offset, enum cudaMemcpyKind kind)
{
	void *from;
	int result = copy__symbol_part(symbol, size, offset, &from);

	return result ? result : copy(call, to, from, size, kind);
}

static int to_symbol_async(const struct sim_call *call, const void *symbol, const void *from,
			   size_t size, size_t offset, enum cudaMemcpyKind kind,
			   cudaStream_t stream)
{
	void *to;
	int result = copy__symbol_part(symbol, size, offset, &to);

	return result ? result : copy_async(call, to, from, size, kind, stream);
}

static int from_symbol_async(const struct sim_call *call, void *to, const void *symbol,
			     size_t size, size_t offset, enum cudaMemcpyKind kind,
			     cudaStream_t stream)
{
	void *from;
	int result = copy__symbol_part(symbol, size, offset, &from);

	return result ? result : copy_async(call, to, from, size, kind, stream);
}

static uint64_t sum(const size_t *sizes, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; sizes && i < count; i++)
		total += sizes[i];
	return total;
}

RUNTIME_COPY_PTDS(cudaMemcpy, copy__kind(kind), (void *to, const void *from, size_t size,
					      enum cudaMemcpyKind kind), size,
		  copy(&call, to, from, size, kind));
RUNTIME_COPY_PTSZ(cudaMemcpyAsync, copy__kind(kind), (void *to, const void *from, size_t size,
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
RUNTIME_COPY_PTDS(cudaMemcpy2D, copy__kind(kind),
		  (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
		   size_t height, enum cudaMemcpyKind kind), width * height,
		  copy_2d(&call, plane(to, to_pitch, from, from_pitch, width, height, kind)));
RUNTIME_COPY_PTSZ(cudaMemcpy2DAsync, copy__kind(kind),
		  (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
		   size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
		  width * height,
		  copy_2d_async(&call, plane(to, to_pitch, from, from_pitch, width, height,
					     kind), stream));
RUNTIME_COPY_PTDS(cudaMemcpy3D, params ? copy__kind(params->kind) : SIM_DEFAULT,
		  (const struct cudaMemcpy3DParms *params), 0,
		  copy_3d(&call, params));
RUNTIME_COPY_PTSZ(cudaMemcpy3DAsync, params ? copy__kind(params->kind) : SIM_DEFAULT,
		  (const struct cudaMemcpy3DParms *params, cudaStream_t stream),
		  0, copy_3d_async(&call, params, stream));
RUNTIME_COPY_PTDS(cudaMemcpyToSymbol, copy__kind(kind),
		  (const void *symbol, const void *from, size_t size, size_t offset,
		   enum cudaMemcpyKind kind), size,
		  to_symbol(&call, symbol, from, size, offset, kind));
RUNTIME_COPY_PTDS(cudaMemcpyFromSymbol, copy__kind(kind),
		  (void *to, const void *symbol, size_t size, size_t offset,
		   enum cudaMemcpyKind kind), size,
		  from_symbol(&call, to, symbol, size, offset, kind));
RUNTIME_COPY_PTSZ(cudaMemcpyToSymbolAsync, copy__kind(kind),
		  (const void *symbol, const void *from, size_t size, size_t offset,
		   enum cudaMemcpyKind kind, cudaStream_t stream), size,
		  to_symbol_async(&call, symbol, from, size, offset, kind, stream));
RUNTIME_COPY_PTSZ(cudaMemcpyFromSymbolAsync, copy__kind(kind),
		  (void *to, const void *symbol, size_t size, size_t offset,
		   enum cudaMemcpyKind kind, cudaStream_t stream), size,
		  from_symbol_async(&call, to, symbol, size, offset, kind, stream));

RUNTIME_COPY_PTDS(cudaMemcpy3DPeer, SIM_P2P, (const struct cudaMemcpy3DPeerParms *params), 0,
		  copy_3d_peer(&call, params));
RUNTIME_COPY_PTSZ(cudaMemcpy3DPeerAsync, SIM_P2P, (const struct cudaMemcpy3DPeerParms *params,
						   cudaStream_t stream), 0,
		  copy_3d_peer_async(&call, params, stream));

#if CUDART_VERSION >= 13000
RUNTIME_COPY_PTSZ(cudaMemcpyBatchAsync, SIM_DEFAULT,
		  (void *const *to, const void *const *from, const size_t *sizes, size_t count,
		   struct cudaMemcpyAttributes *attributes, size_t *indices,
		   size_t nr_attributes, cudaStream_t stream), sum(sizes, count),
		  (int)D_PTSZ(cuMemcpyBatchAsync_v2)((CUdeviceptr *)to, (CUdeviceptr *)from,
						     (size_t *)sizes, count,
						     (CUmemcpyAttributes *)attributes, indices,
						     nr_attributes, stream));
RUNTIME_COPY_PTSZ(cudaMemcpy3DBatchAsync, SIM_DEFAULT,
		  (size_t count, struct cudaMemcpy3DBatchOp *copies, unsigned long long flags,
		   cudaStream_t stream), 0,
		  (call.bytes = batch_bytes(copies, count),
		   (int)D_PTSZ(cuMemcpy3DBatchAsync_v2)(count, (CUDA_MEMCPY3D_BATCH_OP *)copies,
							flags, stream)));
#else
RUNTIME_COPY_PTSZ(cudaMemcpyBatchAsync, SIM_DEFAULT,
		  (void **to, void **from, size_t *sizes, size_t count,
		   struct cudaMemcpyAttributes *attributes, size_t *indices,
		   size_t nr_attributes, size_t *failed, cudaStream_t stream),
		  sum(sizes, count),
		  (int)D_PTSZ(cuMemcpyBatchAsync)((CUdeviceptr *)to, (CUdeviceptr *)from, sizes,
						  count, (CUmemcpyAttributes *)attributes,
						  indices, nr_attributes, failed, stream));
RUNTIME_COPY_PTSZ(cudaMemcpy3DBatchAsync, SIM_DEFAULT,
		  (size_t count, struct cudaMemcpy3DBatchOp *copies, size_t *failed,
		   unsigned long long flags, cudaStream_t stream), 0,
		  (call.bytes = batch_bytes(copies, count),
		   (int)D_PTSZ(cuMemcpy3DBatchAsync)(count, (CUDA_MEMCPY3D_BATCH_OP *)copies,
						     failed, flags, stream)));
#endif

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
RUNTIME_COPY_PTDS(cudaMemset3D, SIM_SET, (struct cudaPitchedPtr to, int value,
					  struct cudaExtent extent),
		  extent.width * extent.height * extent.depth,
		  set_3d(&call, to, value, extent));
RUNTIME_COPY_PTSZ(cudaMemset3DAsync, SIM_SET, (struct cudaPitchedPtr to, int value,
					       struct cudaExtent extent, cudaStream_t stream),
		  extent.width * extent.height * extent.depth,
		  set_3d_async(&call, to, value, extent, stream));
