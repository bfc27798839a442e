// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arrays, as rows of bytes: creation, and the copies of one dimension to and
 * from them.
 */
#include "cuda/copy.h"

#define MAX_ARRAYS (1u << 16)

struct CUarray_st {
	struct object object;
	uint64_t address;		/* of its bytes; no program learns it */
	uint64_t size;
	struct CUctx_st *context;
	CUDA_ARRAY3D_DESCRIPTOR descriptor;
};

static struct pool *arrays;

bool array__start(void)
{
	arrays = pool__new(sizeof(struct CUarray_st), MAX_ARRAYS);
	return arrays != NULL;
}

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
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	}
	return 0;
}

/* A height or depth of 0 is that of an array of fewer dimensions. */
static uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	uint64_t size = format_size(descriptor->Format) * descriptor->NumChannels;

	if (descriptor->Width > 1u << 20 || descriptor->Height > 1u << 20 ||
	    descriptor->Depth > 1u << 16 || descriptor->NumChannels > 4)
		return 0;
	size *= descriptor->Width;
	size *= descriptor->Height ? descriptor->Height : 1;
	return size * (descriptor->Depth ? descriptor->Depth : 1);
}

static CUDA_ARRAY3D_DESCRIPTOR in_3d(const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
	if (!descriptor)
		return (CUDA_ARRAY3D_DESCRIPTOR){ 0 };
	return (CUDA_ARRAY3D_DESCRIPTOR){
		.Width = descriptor->Width, .Height = descriptor->Height,
		.Format = descriptor->Format, .NumChannels = descriptor->NumChannels,
	};
}

static int create(CUarray *out, CUDA_ARRAY3D_DESCRIPTOR descriptor)
{
	struct block like = { .kind = MEMORY_ARRAY, .size = array_bytes(&descriptor) };
	struct CUarray_st *array;
	uint64_t address;
	int result;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	result = memory__allocate(&like, &address);
	if (result)
		return result;
	array = pool__take(arrays);
	if (!array) {
		memory__free(address, KIND(MEMORY_ARRAY), NULL);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	array->address = address;
	array->size = like.size;
	array->context = driver__context();
	array->descriptor = descriptor;
	*out = array;
	return CUDA_SUCCESS;
}

static int destroy(CUarray array)
{
	int result = CUDA_ERROR_INVALID_HANDLE;

	pthread_mutex_lock(&driver.lock);
	if (pool__holds(arrays, array)) {
		memory__free(array->address, KIND(MEMORY_ARRAY), NULL);
		pool__give(arrays, array);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&driver.lock);
	return result;
}

void array__release_all(struct CUctx_st *context)
{
	struct CUarray_st *array = NULL;

	while ((array = pool__next(arrays, array)) != NULL)
		if (array->context == context)
			pool__give(arrays, array);
}

static int describe(CUDA_ARRAY_DESCRIPTOR *out, CUarray array)
{
	if (!pool__holds(arrays, array) || !out)
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	out->Width = array->descriptor.Width;
	out->Height = array->descriptor.Height;
	out->Format = array->descriptor.Format;
	out->NumChannels = array->descriptor.NumChannels;
	return CUDA_SUCCESS;
}

static int describe_3d(CUDA_ARRAY3D_DESCRIPTOR *out, CUarray array)
{
	if (!pool__holds(arrays, array) || !out)
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*out = array->descriptor;
	return CUDA_SUCCESS;
}

/* The address of a part of an array, 0 if it has no such part. */
static uint64_t part(CUarray array, size_t offset, size_t size)
{
	if (!pool__holds(arrays, array) || offset > array->size || size > array->size - offset)
		return 0;
	return array->address + offset;
}

#define HOST(pointer) ((uint64_t)(uintptr_t)(pointer))

DRIVER(cuArrayCreate_v2, SIM_ALLOC, (CUarray *out, const CUDA_ARRAY_DESCRIPTOR *descriptor), 0,
       create(out, in_3d(descriptor)));
DRIVER(cuArray3DCreate_v2, SIM_ALLOC, (CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor),
       0, descriptor ? create(out, *descriptor) : CUDA_ERROR_INVALID_VALUE);
DRIVER(cuArrayDestroy, SIM_FREE, (CUarray array), 0, destroy(array));
DRIVER(cuArrayGetDescriptor_v2, SIM_OTHER, (CUDA_ARRAY_DESCRIPTOR *out, CUarray array), 0,
       describe(out, array));
DRIVER(cuArray3DGetDescriptor_v2, SIM_OTHER, (CUDA_ARRAY3D_DESCRIPTOR *out, CUarray array), 0,
       describe_3d(out, array));

DRIVER_COPY_PTDS(cuMemcpyHtoA_v2, SIM_H2D, (CUarray array, size_t offset, const void *from,
					    size_t size), size,
		 copy__now(&call, part(array, offset, size), HOST(from), size, SIM_H2D));
DRIVER_COPY_PTDS(cuMemcpyAtoH_v2, SIM_D2H, (void *to, CUarray array, size_t offset,
					    size_t size), size,
		 copy__now(&call, HOST(to), part(array, offset, size), size, SIM_D2H));
DRIVER_COPY_PTDS(cuMemcpyDtoA_v2, SIM_D2D, (CUarray array, size_t offset, CUdeviceptr from,
					    size_t size), size,
		 copy__now(&call, part(array, offset, size), from, size, SIM_D2D));
DRIVER_COPY_PTDS(cuMemcpyAtoD_v2, SIM_D2D, (CUdeviceptr to, CUarray array, size_t offset,
					    size_t size), size,
		 copy__now(&call, to, part(array, offset, size), size, SIM_D2D));
DRIVER_COPY_PTDS(cuMemcpyAtoA_v2, SIM_D2D, (CUarray to, size_t to_offset, CUarray from,
					    size_t from_offset, size_t size), size,
		 copy__now(&call, part(to, to_offset, size), part(from, from_offset, size), size,
			   SIM_D2D));
DRIVER_COPY_PTSZ(cuMemcpyHtoAAsync_v2, SIM_H2D, (CUarray array, size_t offset, const void *from,
						 size_t size, CUstream stream), size,
		 copy__later(&call, part(array, offset, size), HOST(from), size, SIM_H2D,
			     stream));
DRIVER_COPY_PTSZ(cuMemcpyAtoHAsync_v2, SIM_D2H, (void *to, CUarray array, size_t offset,
						 size_t size, CUstream stream), size,
		 copy__later(&call, HOST(to), part(array, offset, size), size, SIM_D2H, stream));
