// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arrays and mipmapped arrays, as rows of bytes: creation, and one-dimensional copies to and from
 * them.
 */
#include "cuda/copy.h"

#define MAX_ARRAYS (1u << 16)

struct CUarray_st {
	struct object object;
	uint64_t address;		/* of its bytes; hidden from programs */
	uint64_t size;
	struct CUctx_st *context;
	CUDA_ARRAY3D_DESCRIPTOR descriptor;
	struct CUmipmappedArray_st *level_of;	/* the mipmapped array whose memory it is part of */
};

#define MAX_LEVELS 16

struct CUmipmappedArray_st {
	struct object object;
	uint64_t address;
	uint64_t size;
	struct CUctx_st *context;
	unsigned int nr_levels;
	struct CUarray_st *levels[MAX_LEVELS];
};

static struct pool *arrays, *mipmaps;

bool array__start(void)
{
	arrays = pool__new(sizeof(struct CUarray_st), MAX_ARRAYS);
	mipmaps = pool__new(sizeof(struct CUmipmappedArray_st), MAX_ARRAYS);
	return arrays && mipmaps;
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

/* A height or depth of 0 means that the array has fewer dimensions. */
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

static CUDA_ARRAY3D_DESCRIPTOR in_3d_v1(const CUDA_ARRAY_DESCRIPTOR_v1 *descriptor)
{
	if (!descriptor)
		return (CUDA_ARRAY3D_DESCRIPTOR){ 0 };
	return (CUDA_ARRAY3D_DESCRIPTOR){
		.Width = descriptor->Width, .Height = descriptor->Height,
		.Format = descriptor->Format, .NumChannels = descriptor->NumChannels,
	};
}

static CUDA_ARRAY3D_DESCRIPTOR in_3d_v1_3d(const CUDA_ARRAY3D_DESCRIPTOR_v1 *descriptor)
{
	if (!descriptor)
		return (CUDA_ARRAY3D_DESCRIPTOR){ 0 };
	return (CUDA_ARRAY3D_DESCRIPTOR){
		.Width = descriptor->Width, .Height = descriptor->Height,
		.Depth = descriptor->Depth, .Format = descriptor->Format,
		.NumChannels = descriptor->NumChannels, .Flags = descriptor->Flags,
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

	stream__settle(driver__context());
	pthread_mutex_lock(&driver.lock);
	if (pool__holds(arrays, array) && !array->level_of) {
		memory__free(array->address, KIND(MEMORY_ARRAY), NULL);
		pool__give(arrays, array);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&driver.lock);
	return result;
}

void array__release_all(struct CUctx_st *context)
{
	struct CUmipmappedArray_st *mipmap = NULL;
	struct CUarray_st *array = NULL;

	while ((array = pool__next(arrays, array)) != NULL)
		if (array->context == context)
			pool__give(arrays, array);
	while ((mipmap = pool__next(mipmaps, mipmap)) != NULL)
		if (mipmap->context == context)
			pool__give(mipmaps, mipmap);
}

static size_t halved(size_t extent, unsigned int level)
{
	size_t smaller = extent >> level;

	return extent && !smaller ? 1 : smaller;
}

/* A level has half the extent of the previous one and the same layers. */
static CUDA_ARRAY3D_DESCRIPTOR level_of(const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
					unsigned int level)
{
	CUDA_ARRAY3D_DESCRIPTOR smaller = *descriptor;

	smaller.Width = halved(descriptor->Width, level);
	smaller.Height = halved(descriptor->Height, level);
	if (!(descriptor->Flags & CUDA_ARRAY3D_LAYERED))
		smaller.Depth = halved(descriptor->Depth, level);
	return smaller;
}

static uint64_t mipmap_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned int nr_levels)
{
	uint64_t size = 0;

	for (unsigned int i = 0; i < nr_levels; i++) {
		CUDA_ARRAY3D_DESCRIPTOR level = level_of(descriptor, i);

		size += array_bytes(&level);
	}
	return size;
}

static bool make_levels(struct CUmipmappedArray_st *mipmap,
			const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	uint64_t address = mipmap->address;

	for (unsigned int i = 0; i < mipmap->nr_levels; i++) {
		struct CUarray_st *level = pool__take(arrays);

		if (!level)
			return false;
		level->descriptor = level_of(descriptor, i);
		level->address = address;
		level->size = array_bytes(&level->descriptor);
		level->context = mipmap->context;
		level->level_of = mipmap;
		mipmap->levels[i] = level;
		address += level->size;
	}
	return true;
}

static void drop_mipmap(struct CUmipmappedArray_st *mipmap)
{
	for (unsigned int i = 0; i < mipmap->nr_levels && mipmap->levels[i]; i++)
		pool__give(arrays, mipmap->levels[i]);
	memory__free(mipmap->address, KIND(MEMORY_ARRAY), NULL);
	pool__give(mipmaps, mipmap);
}

static int create_mipmap(CUmipmappedArray *out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
			 unsigned int nr_levels)
{
	struct block like = { .kind = MEMORY_ARRAY };
	struct CUmipmappedArray_st *mipmap;
	uint64_t address;
	int result;

	if (!out || !descriptor || !nr_levels || nr_levels > MAX_LEVELS)
		return CUDA_ERROR_INVALID_VALUE;
	like.size = mipmap_bytes(descriptor, nr_levels);
	result = memory__allocate(&like, &address);
	if (result)
		return result;
	mipmap = pool__take(mipmaps);
	if (!mipmap) {
		memory__free(address, KIND(MEMORY_ARRAY), NULL);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	mipmap->address = address;
	mipmap->size = like.size;
	mipmap->context = driver__context();
	mipmap->nr_levels = nr_levels;
	if (!make_levels(mipmap, descriptor)) {
		drop_mipmap(mipmap);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*out = mipmap;
	return CUDA_SUCCESS;
}

static int destroy_mipmap(CUmipmappedArray mipmap)
{
	int result = CUDA_ERROR_INVALID_HANDLE;

	stream__settle(driver__context());
	pthread_mutex_lock(&driver.lock);
	if (pool__holds(mipmaps, mipmap)) {
		drop_mipmap(mipmap);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&driver.lock);
	return result;
}

static int get_level(CUarray *out, CUmipmappedArray mipmap, unsigned int level)
{
	if (!pool__holds(mipmaps, mipmap) || !out)
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	if (level >= mipmap->nr_levels)
		return CUDA_ERROR_INVALID_VALUE;
	*out = mipmap->levels[level];
	return CUDA_SUCCESS;
}

static int requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, bool known, uint64_t size)
{
	if (!known || !out)
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*out = (CUDA_ARRAY_MEMORY_REQUIREMENTS){ .size = size, .alignment = 512 };
	return CUDA_SUCCESS;
}

size_t array__element(CUarray array)
{
	if (!pool__holds(arrays, array))
		return 0;
	return format_size(array->descriptor.Format) * array->descriptor.NumChannels;
}

bool array__side(CUarray array, size_t x, size_t y, size_t z, struct side *out)
{
	size_t row = array__element(array), rows;

	out->address = 0;
	if (!row)
		return false;
	row *= array->descriptor.Width;
	rows = array->descriptor.Height ? array->descriptor.Height : 1;
	if (z >= array->size || y >= array->size || x >= array->size ||
	    (z * rows + y) * row + x >= array->size)
		return false;
	out->address = array->address + (z * rows + y) * row + x;
	out->pitch = row;
	out->height = rows;
	return true;
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

static int describe_v1(CUDA_ARRAY_DESCRIPTOR_v1 *out, CUarray array)
{
	if (!pool__holds(arrays, array) || !out)
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	out->Width = (unsigned int)array->descriptor.Width;
	out->Height = (unsigned int)array->descriptor.Height;
	out->Format = array->descriptor.Format;
	out->NumChannels = array->descriptor.NumChannels;
	return CUDA_SUCCESS;
}

static int describe_3d_v1(CUDA_ARRAY3D_DESCRIPTOR_v1 *out, CUarray array)
{
	if (!pool__holds(arrays, array) || !out)
		return out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	out->Width = (unsigned int)array->descriptor.Width;
	out->Height = (unsigned int)array->descriptor.Height;
	out->Depth = (unsigned int)array->descriptor.Depth;
	out->Format = array->descriptor.Format;
	out->NumChannels = array->descriptor.NumChannels;
	out->Flags = array->descriptor.Flags;
	return CUDA_SUCCESS;
}

/* The address of a part of an array, 0 if the part is out of bounds. */
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

DRIVER(cuArrayGetMemoryRequirements, SIM_OTHER, (CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
						 CUarray array, CUdevice device), 0,
       ((void)device, requirements(out, pool__holds(arrays, array),
				   pool__holds(arrays, array) ? array->size : 0)));
DRIVER(cuMipmappedArrayCreate, SIM_ALLOC, (CUmipmappedArray *out,
					   const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
					   unsigned int nr_levels), 0,
       create_mipmap(out, descriptor, nr_levels));
DRIVER(cuMipmappedArrayDestroy, SIM_FREE, (CUmipmappedArray mipmap), 0, destroy_mipmap(mipmap));
DRIVER(cuMipmappedArrayGetLevel, SIM_OTHER, (CUarray *out, CUmipmappedArray mipmap,
					     unsigned int level), 0,
       get_level(out, mipmap, level));
DRIVER(cuMipmappedArrayGetMemoryRequirements, SIM_OTHER, (CUDA_ARRAY_MEMORY_REQUIREMENTS *out,
							  CUmipmappedArray mipmap,
							  CUdevice device), 0,
       ((void)device, requirements(out, pool__holds(mipmaps, mipmap),
				   pool__holds(mipmaps, mipmap) ? mipmap->size : 0)));

DRIVER(cuArrayCreate, SIM_ALLOC, (CUarray *out, const CUDA_ARRAY_DESCRIPTOR_v1 *descriptor), 0,
       create(out, in_3d_v1(descriptor)));
DRIVER(cuArray3DCreate, SIM_ALLOC, (CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR_v1 *descriptor),
       0, create(out, in_3d_v1_3d(descriptor)));
DRIVER(cuArrayGetDescriptor, SIM_OTHER, (CUDA_ARRAY_DESCRIPTOR_v1 *out, CUarray array), 0,
       describe_v1(out, array));
DRIVER(cuArray3DGetDescriptor, SIM_OTHER, (CUDA_ARRAY3D_DESCRIPTOR_v1 *out, CUarray array), 0,
       describe_3d_v1(out, array));

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

/* The first forms, with 32-bit device addresses and sizes. */
#define V1 unsigned int
DRIVER_COPY(cuMemcpyHtoA, SIM_H2D, SIM_SYNCHRONOUS,
	    (CUarray array, V1 offset, const void *from, V1 size), size, false,
	    copy__now(&call, part(array, offset, size), HOST(from), size, SIM_H2D));
DRIVER_COPY(cuMemcpyAtoH, SIM_D2H, SIM_SYNCHRONOUS,
	    (void *to, CUarray array, V1 offset, V1 size), size, false,
	    copy__now(&call, HOST(to), part(array, offset, size), size, SIM_D2H));
DRIVER_COPY(cuMemcpyDtoA, SIM_D2D, SIM_SYNCHRONOUS,
	    (CUarray array, V1 offset, CUdeviceptr_v1 from, V1 size), size, false,
	    copy__now(&call, part(array, offset, size), from, size, SIM_D2D));
DRIVER_COPY(cuMemcpyAtoD, SIM_D2D, SIM_SYNCHRONOUS,
	    (CUdeviceptr_v1 to, CUarray array, V1 offset, V1 size), size, false,
	    copy__now(&call, to, part(array, offset, size), size, SIM_D2D));
DRIVER_COPY(cuMemcpyAtoA, SIM_D2D, SIM_SYNCHRONOUS,
	    (CUarray to, V1 to_offset, CUarray from, V1 from_offset, V1 size), size, false,
	    copy__now(&call, part(to, to_offset, size), part(from, from_offset, size), size,
		      SIM_D2D));
DRIVER_COPY(cuMemcpyHtoAAsync, SIM_H2D, SIM_ASYNCHRONOUS,
	    (CUarray array, V1 offset, const void *from, V1 size, CUstream stream), size, false,
	    copy__later(&call, part(array, offset, size), HOST(from), size, SIM_H2D, stream));
DRIVER_COPY(cuMemcpyAtoHAsync, SIM_D2H, SIM_ASYNCHRONOUS,
	    (void *to, CUarray array, V1 offset, V1 size, CUstream stream), size, false,
	    copy__later(&call, HOST(to), part(array, offset, size), size, SIM_D2H, stream));
