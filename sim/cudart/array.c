// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arrays and mipmapped arrays, and the copies to and from arrays without a parameter structure.
 * Offsets and widths of these are in bytes.
 */
#include "cudart/array.h"

#define DRIVER_ARRAY(array) ((CUarray)(uintptr_t)(array))

static size_t format_size(CUarray_format format)
{
	switch ((int)format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	}
	return 4;
}

size_t array__element(cudaArray_const_t array)
{
	CUDA_ARRAY3D_DESCRIPTOR descriptor;

	if (D.cuArray3DGetDescriptor_v2(&descriptor, DRIVER_ARRAY(array)))
		return 0;
	return format_size(descriptor.Format) * descriptor.NumChannels;
}

static int format_of(const struct cudaChannelFormatDesc *desc)
{
	static const int formats[3][3] = {
		[cudaChannelFormatKindSigned] = {
			CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16,
			CU_AD_FORMAT_SIGNED_INT32,
		},
		[cudaChannelFormatKindUnsigned] = {
			CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
			CU_AD_FORMAT_UNSIGNED_INT32,
		},
		[cudaChannelFormatKindFloat] = { 0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT },
	};

	if ((int)desc->f < 0 || desc->f > cudaChannelFormatKindFloat)
		return 0;
	return desc->x == 8 ? formats[desc->f][0] : desc->x == 16 ? formats[desc->f][1] :
	       desc->x == 32 ? formats[desc->f][2] : 0;
}

static bool describe(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
		     unsigned int flags, CUDA_ARRAY3D_DESCRIPTOR *out)
{
	int format = desc ? format_of(desc) : 0;

	if (!format)
		return false;
	*out = (CUDA_ARRAY3D_DESCRIPTOR){
		.Width = extent.width, .Height = extent.height, .Depth = extent.depth,
		.Format = (CUarray_format)format, .Flags = flags,
		.NumChannels = 1u + (desc->y != 0) + (desc->z != 0) + (desc->w != 0),
	};
	return true;
}

static int allocate_3d(cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
		       struct cudaExtent extent, unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR descriptor;

	if (!out || !describe(desc, extent, flags, &descriptor))
		return cudaErrorInvalidValue;
	return (int)D.cuArray3DCreate_v2((CUarray *)out, &descriptor);
}

/* Without flags this is the driver's two-dimensional array. */
static int allocate(cudaArray_t *out, const struct cudaChannelFormatDesc *desc, size_t width,
		    size_t height, unsigned int flags)
{
	struct cudaExtent extent = { width, height, 0 };
	CUDA_ARRAY3D_DESCRIPTOR descriptor;
	CUDA_ARRAY_DESCRIPTOR flat;

	if (flags)
		return allocate_3d(out, desc, extent, flags);
	if (!out || !describe(desc, extent, 0, &descriptor))
		return cudaErrorInvalidValue;
	flat = (CUDA_ARRAY_DESCRIPTOR){ width, height, descriptor.Format,
					descriptor.NumChannels };
	return (int)D.cuArrayCreate_v2((CUarray *)out, &flat);
}

static int allocate_mipmap(cudaMipmappedArray_t *out, const struct cudaChannelFormatDesc *desc,
			   struct cudaExtent extent, unsigned int nr_levels, unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR descriptor;

	if (!out || !describe(desc, extent, flags, &descriptor))
		return cudaErrorInvalidValue;
	return (int)D.cuMipmappedArrayCreate((CUmipmappedArray *)out, &descriptor, nr_levels);
}

static int release(struct sim_call *call, cudaArray_t array)
{
	if (array)
		return (int)D.cuArrayDestroy(DRIVER_ARRAY(array));
	call->null_free = true;
	return cudaSuccess;
}

static int release_mipmap(struct sim_call *call, cudaMipmappedArray_t mipmap)
{
	if (mipmap)
		return (int)D.cuMipmappedArrayDestroy((CUmipmappedArray)(uintptr_t)mipmap);
	call->null_free = true;
	return cudaSuccess;
}

static struct cudaChannelFormatDesc desc_of(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	int bits = (int)format_size(descriptor->Format) * 8;
	unsigned int channels = descriptor->NumChannels;
	int format = (int)descriptor->Format;

	return (struct cudaChannelFormatDesc){
		.x = bits, .y = channels > 1 ? bits : 0, .z = channels > 2 ? bits : 0,
		.w = channels > 3 ? bits : 0,
		.f = format >= CU_AD_FORMAT_HALF ? cudaChannelFormatKindFloat :
		     format >= CU_AD_FORMAT_SIGNED_INT8 ? cudaChannelFormatKindSigned :
							  cudaChannelFormatKindUnsigned,
	};
}

static int get_info(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
		    unsigned int *flags, cudaArray_const_t array)
{
	CUDA_ARRAY3D_DESCRIPTOR descriptor;
	int result = (int)D.cuArray3DGetDescriptor_v2(&descriptor, DRIVER_ARRAY(array));

	if (result)
		return result;
	if (desc)
		*desc = desc_of(&descriptor);
	if (extent)
		*extent = (struct cudaExtent){ descriptor.Width, descriptor.Height,
					       descriptor.Depth };
	if (flags)
		*flags = descriptor.Flags;
	return cudaSuccess;
}

/* One side of a copy of rows: memory or an array. */
static void set_to(CUDA_MEMCPY2D *copy, cudaArray_const_t array, size_t x, size_t y)
{
	copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
	copy->dstArray = DRIVER_ARRAY(array);
	copy->dstXInBytes = x;
	copy->dstY = y;
}

static void set_from(CUDA_MEMCPY2D *copy, cudaArray_const_t array, size_t x, size_t y)
{
	copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
	copy->srcArray = DRIVER_ARRAY(array);
	copy->srcXInBytes = x;
	copy->srcY = y;
}

static CUDA_MEMCPY2D to_array(cudaArray_t array, size_t x, size_t y, const void *from,
			      size_t pitch, size_t width, size_t height,
			      enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D copy = {
		.srcMemoryType = copy__type(kind, false), .srcHost = from,
		.srcDevice = device_address(from), .srcPitch = pitch,
		.WidthInBytes = width, .Height = height,
	};

	set_to(&copy, array, x, y);
	return copy;
}

static CUDA_MEMCPY2D from_array(void *to, size_t pitch, cudaArray_const_t array, size_t x,
				size_t y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D copy = {
		.dstMemoryType = copy__type(kind, true), .dstHost = to,
		.dstDevice = device_address(to), .dstPitch = pitch,
		.WidthInBytes = width, .Height = height,
	};

	set_from(&copy, array, x, y);
	return copy;
}

static CUDA_MEMCPY2D array_to_array(cudaArray_t to, size_t to_x, size_t to_y,
				    cudaArray_const_t from, size_t from_x, size_t from_y,
				    size_t width, size_t height)
{
	CUDA_MEMCPY2D copy = { .WidthInBytes = width, .Height = height };

	set_to(&copy, to, to_x, to_y);
	set_from(&copy, from, from_x, from_y);
	return copy;
}

static int rows(const struct sim_call *on, CUDA_MEMCPY2D copy)
{
	struct sim_call call = *on;

	return (int)D_PTDS(cuMemcpy2DUnaligned_v2)(&copy);
}

static int rows_async(const struct sim_call *on, CUDA_MEMCPY2D copy, cudaStream_t stream)
{
	struct sim_call call = *on;

	return (int)D_PTSZ(cuMemcpy2DAsync_v2)(&copy, stream);
}

/* The offset of (x in bytes, y) in the array's bytes. */
static size_t offset_in(cudaArray_const_t array, size_t x, size_t y)
{
	CUDA_ARRAY3D_DESCRIPTOR descriptor = { 0 };

	(void)D.cuArray3DGetDescriptor_v2(&descriptor, DRIVER_ARRAY(array));
	return y * descriptor.Width * format_size(descriptor.Format) * descriptor.NumChannels + x;
}

/* Whether the other side, which is no array, is on the device. */
static bool on_device(const void *pointer, enum cudaMemcpyKind kind)
{
	unsigned int type = CU_MEMORYTYPE_HOST;

	if (kind != cudaMemcpyDefault)
		return kind == cudaMemcpyDeviceToDevice;
	if (D.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
				    device_address(pointer)))
		return false;
	return type == CU_MEMORYTYPE_DEVICE;
}

static int line_to(const struct sim_call *on, cudaArray_t array, size_t x, size_t y,
		   const void *from, size_t size, enum cudaMemcpyKind kind)
{
	struct sim_call call = *on;
	size_t offset = offset_in(array, x, y);

	if (on_device(from, kind))
		return (int)D_PTDS(cuMemcpyDtoA_v2)(DRIVER_ARRAY(array), offset,
						    device_address(from), size);
	return (int)D_PTDS(cuMemcpyHtoA_v2)(DRIVER_ARRAY(array), offset, from, size);
}

static int line_from(const struct sim_call *on, void *to, cudaArray_const_t array, size_t x,
		     size_t y, size_t size, enum cudaMemcpyKind kind)
{
	struct sim_call call = *on;
	size_t offset = offset_in(array, x, y);

	if (on_device(to, kind))
		return (int)D_PTDS(cuMemcpyAtoD_v2)(device_address(to), DRIVER_ARRAY(array),
						    offset, size);
	return (int)D_PTDS(cuMemcpyAtoH_v2)(to, DRIVER_ARRAY(array), offset, size);
}

/* The driver has no asynchronous copy between device and array; use a copy of one row. */
static int line_to_async(const struct sim_call *on, cudaArray_t array, size_t x, size_t y,
			 const void *from, size_t size, enum cudaMemcpyKind kind,
			 cudaStream_t stream)
{
	struct sim_call call = *on;

	if (on_device(from, kind))
		return rows_async(on, to_array(array, x, y, from, size, size, 1, kind), stream);
	return (int)D_PTSZ(cuMemcpyHtoAAsync_v2)(DRIVER_ARRAY(array), offset_in(array, x, y),
						 from, size, stream);
}

static int line_from_async(const struct sim_call *on, void *to, cudaArray_const_t array,
			   size_t x, size_t y, size_t size, enum cudaMemcpyKind kind,
			   cudaStream_t stream)
{
	struct sim_call call = *on;

	if (on_device(to, kind))
		return rows_async(on, from_array(to, size, array, x, y, size, 1, kind), stream);
	return (int)D_PTSZ(cuMemcpyAtoHAsync_v2)(to, DRIVER_ARRAY(array),
						 offset_in(array, x, y), size, stream);
}

static int line_between(const struct sim_call *on, cudaArray_t to, size_t to_x, size_t to_y,
			cudaArray_const_t from, size_t from_x, size_t from_y, size_t size)
{
	struct sim_call call = *on;

	return (int)D_PTDS(cuMemcpyAtoA_v2)(DRIVER_ARRAY(to), offset_in(to, to_x, to_y),
					    DRIVER_ARRAY(from),
					    offset_in(from, from_x, from_y), size);
}

RUNTIME(cudaMallocArray, SIM_ALLOC, (cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
				     size_t width, size_t height, unsigned int flags), 0,
	allocate(out, desc, width, height, flags));
RUNTIME(cudaMalloc3DArray, SIM_ALLOC, (cudaArray_t *out,
				       const struct cudaChannelFormatDesc *desc,
				       struct cudaExtent extent, unsigned int flags), 0,
	allocate_3d(out, desc, extent, flags));
RUNTIME(cudaMallocMipmappedArray, SIM_ALLOC, (cudaMipmappedArray_t *out,
					      const struct cudaChannelFormatDesc *desc,
					      struct cudaExtent extent, unsigned int nr_levels,
					      unsigned int flags), 0,
	allocate_mipmap(out, desc, extent, nr_levels, flags));
RUNTIME(cudaFreeArray, SIM_FREE, (cudaArray_t array), 0, release(&call, array));
RUNTIME(cudaFreeMipmappedArray, SIM_FREE, (cudaMipmappedArray_t mipmap), 0,
	release_mipmap(&call, mipmap));
RUNTIME(cudaGetMipmappedArrayLevel, SIM_OTHER, (cudaArray_t *out,
						cudaMipmappedArray_const_t mipmap,
						unsigned int level), 0,
	(int)D.cuMipmappedArrayGetLevel((CUarray *)out, (CUmipmappedArray)(uintptr_t)mipmap,
					level));
RUNTIME(cudaArrayGetInfo, SIM_OTHER, (struct cudaChannelFormatDesc *desc,
				      struct cudaExtent *extent, unsigned int *flags,
				      cudaArray_t array), 0,
	get_info(desc, extent, flags, array));
RUNTIME(cudaGetChannelDesc, SIM_OTHER, (struct cudaChannelFormatDesc *desc,
					cudaArray_const_t array), 0,
	get_info(desc, NULL, NULL, array));
RUNTIME(cudaArrayGetMemoryRequirements, SIM_OTHER, (struct cudaArrayMemoryRequirements *out,
						    cudaArray_t array, int device), 0,
	(int)D.cuArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)out,
					    DRIVER_ARRAY(array), device));
RUNTIME(cudaMipmappedArrayGetMemoryRequirements, SIM_OTHER,
	(struct cudaArrayMemoryRequirements *out, cudaMipmappedArray_t mipmap, int device), 0,
	(int)D.cuMipmappedArrayGetMemoryRequirements((CUDA_ARRAY_MEMORY_REQUIREMENTS *)out,
						     (CUmipmappedArray)(uintptr_t)mipmap,
						     device));

#define TO cudaArray_t to, size_t to_x, size_t to_y
#define FROM cudaArray_const_t from, size_t from_x, size_t from_y
#define KIND enum cudaMemcpyKind kind

RUNTIME_COPY_PTDS(cudaMemcpy2DToArray, copy__kind(kind),
		  (TO, const void *from, size_t pitch, size_t width, size_t height, KIND),
		  width * height,
		  rows(&call, to_array(to, to_x, to_y, from, pitch, width, height, kind)));
RUNTIME_COPY_PTSZ(cudaMemcpy2DToArrayAsync, copy__kind(kind),
		  (TO, const void *from, size_t pitch, size_t width, size_t height, KIND,
		   cudaStream_t stream), width * height,
		  rows_async(&call, to_array(to, to_x, to_y, from, pitch, width, height, kind),
			     stream));
RUNTIME_COPY_PTDS(cudaMemcpy2DFromArray, copy__kind(kind),
		  (void *to, size_t pitch, FROM, size_t width, size_t height, KIND),
		  width * height,
		  rows(&call, from_array(to, pitch, from, from_x, from_y, width, height, kind)));
RUNTIME_COPY_PTSZ(cudaMemcpy2DFromArrayAsync, copy__kind(kind),
		  (void *to, size_t pitch, FROM, size_t width, size_t height, KIND,
		   cudaStream_t stream), width * height,
		  rows_async(&call, from_array(to, pitch, from, from_x, from_y, width, height,
					       kind), stream));
RUNTIME_COPY_PTDS(cudaMemcpy2DArrayToArray, copy__kind(kind),
		  (TO, FROM, size_t width, size_t height, KIND), width * height,
		  rows(&call, array_to_array(to, to_x, to_y, from, from_x, from_y, width,
					     height)));
RUNTIME_COPY_PTDS(cudaMemcpyToArray, copy__kind(kind), (TO, const void *from, size_t size, KIND),
		  size, line_to(&call, to, to_x, to_y, from, size, kind));
RUNTIME_COPY_PTSZ(cudaMemcpyToArrayAsync, copy__kind(kind),
		  (TO, const void *from, size_t size, KIND, cudaStream_t stream), size,
		  line_to_async(&call, to, to_x, to_y, from, size, kind, stream));
RUNTIME_COPY_PTDS(cudaMemcpyFromArray, copy__kind(kind), (void *to, FROM, size_t size, KIND),
		  size, line_from(&call, to, from, from_x, from_y, size, kind));
RUNTIME_COPY_PTSZ(cudaMemcpyFromArrayAsync, copy__kind(kind),
		  (void *to, FROM, size_t size, KIND, cudaStream_t stream), size,
		  line_from_async(&call, to, from, from_x, from_y, size, kind, stream));
RUNTIME_COPY_PTDS(cudaMemcpyArrayToArray, copy__kind(kind), (TO, FROM, size_t size, KIND), size,
		  line_between(&call, to, to_x, to_y, from, from_x, from_y, size));
