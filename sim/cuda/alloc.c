// SPDX-License-Identifier: BSD-2-Clause
/*
 * Allocates and frees device, managed and pinned host memory, and answers queries about addresses.
 */
#include "cuda/memory.h"

#include <string.h>

#define PITCH 512u
#define FREED_BY_MEMFREE (KIND(MEMORY_DEVICE) | KIND(MEMORY_MANAGED) | KIND(MEMORY_POOL) | \
			  KIND(MEMORY_GRAPH))

static int allocate(enum memory_kind kind, CUdeviceptr *out, size_t size, unsigned int flags)
{
	struct block like = { .kind = kind, .size = size, .flags = flags };
	uint64_t address;
	int result;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	result = memory__allocate(&like, &address);
	if (!result)
		*out = address;
	return result;
}

static int allocate_managed(CUdeviceptr *out, size_t size, unsigned int flags)
{
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return allocate(MEMORY_MANAGED, out, size, flags);
}

static int allocate_pitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
			  unsigned int element)
{
	size_t rounded = (width + PITCH - 1) & ~(size_t)(PITCH - 1);
	int result;

	if (!pitch || !width || !height || rounded < width || height > SIZE_MAX / rounded)
		return CUDA_ERROR_INVALID_VALUE;
	if (element != 4 && element != 8 && element != 16)
		return CUDA_ERROR_INVALID_VALUE;
	result = allocate(MEMORY_DEVICE, out, rounded * height, 0);
	if (!result)
		*pitch = rounded;
	return result;
}

static int allocate_host(void **out, size_t size, unsigned int flags)
{
	CUdeviceptr address;
	int result;

	if (!out || flags > 7)
		return CUDA_ERROR_INVALID_VALUE;
	result = allocate(MEMORY_HOST, &address, size, flags);
	if (!result)
		*out = (void *)(uintptr_t)address;
	return result;
}

static int release(struct sim_call *call, CUdeviceptr address)
{
	struct block block;

	if (!address) {
		call->null_free = true;
		return CUDA_SUCCESS;
	}
	if (memory__find(address, &block)) {
		stream__settle(driver__context());
		if (block.from_pool)
			return memory__free(address, KIND(MEMORY_IMPORTED), NULL);
	}
	return memory__free(address, FREED_BY_MEMFREE, NULL);
}

static int release_host(struct sim_call *call, void *address)
{
	if (!address) {
		call->null_free = true;
		return CUDA_ERROR_INVALID_VALUE;
	}
	stream__settle(driver__context());
	return memory__free((uintptr_t)address, KIND(MEMORY_HOST), NULL);
}

static uint32_t saturated(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static int allocate_low(CUdeviceptr_v1 *out, size_t size)
{
	struct block like = { .kind = MEMORY_DEVICE, .size = size, .low = true };
	uint64_t address;
	int result;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	result = memory__allocate(&like, &address);
	if (!result)
		*out = (CUdeviceptr_v1)address;
	return result;
}

static int allocate_low_pitch(CUdeviceptr_v1 *out, unsigned int *pitch, size_t width,
			      size_t height)
{
	size_t rounded = (width + PITCH - 1) & ~(size_t)(PITCH - 1);
	int result;

	if (!pitch || !width || !height)
		return CUDA_ERROR_INVALID_VALUE;
	result = allocate_low(out, rounded * height);
	if (!result)
		*pitch = (unsigned int)rounded;
	return result;
}

static int pin(void *address, size_t size, unsigned int flags)
{
	struct block block = {
		.address = (uintptr_t)address, .size = size, .kind = MEMORY_REGISTERED,
		.flags = flags, .context = driver__context(),
	};

	if (!address || !size || size > UINT64_MAX - block.address)
		return CUDA_ERROR_INVALID_VALUE;
	block.device = block.context->device;
	return memory__adopt(&block) ? CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED : CUDA_SUCCESS;
}

static int unpin(void *address)
{
	stream__settle(driver__context());
	if (memory__free((uintptr_t)address, KIND(MEMORY_REGISTERED), NULL))
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	return CUDA_SUCCESS;
}

static bool on_host(const struct block *block)
{
	return block->kind == MEMORY_HOST || block->kind == MEMORY_REGISTERED;
}

static int host_device_pointer(CUdeviceptr *out, void *address)
{
	struct block block;

	if (!out || !memory__find((uintptr_t)address, &block) || !on_host(&block))
		return CUDA_ERROR_INVALID_VALUE;
	*out = (uintptr_t)address;
	return CUDA_SUCCESS;
}

static int host_flags(unsigned int *out, void *address)
{
	struct block block;

	if (!out || !memory__find((uintptr_t)address, &block) || !on_host(&block))
		return CUDA_ERROR_INVALID_VALUE;
	*out = block.flags | CU_MEMHOSTALLOC_DEVICEMAP;
	return CUDA_SUCCESS;
}

static int address_range(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
	struct block block;

	if (!memory__find(address, &block))
		return CUDA_ERROR_NOT_FOUND;
	if (base)
		*base = block.address;
	if (size)
		*size = block.size;
	return CUDA_SUCCESS;
}

static int get_info(size_t *available, size_t *total)
{
	if (available)
		*available = driver.memory - memory__used(driver__context()->device);
	if (total)
		*total = driver.memory;
	return CUDA_SUCCESS;
}

static int low_address_range(CUdeviceptr_v1 *base, unsigned int *size, CUdeviceptr address)
{
	CUdeviceptr wide_base;
	size_t wide_size;
	int result = address_range(&wide_base, &wide_size, address);

	if (result)
		return result;
	if (base)
		*base = (CUdeviceptr_v1)wide_base;
	if (size)
		*size = saturated(wide_size);
	return CUDA_SUCCESS;
}

static int low_info(unsigned int *available, unsigned int *total)
{
	if (available)
		*available = saturated(driver.memory - memory__used(driver__context()->device));
	if (total)
		*total = saturated(driver.memory);
	return CUDA_SUCCESS;
}

static int low_device_pointer(CUdeviceptr_v1 *out, void *address)
{
	CUdeviceptr wide;
	int result = out ? host_device_pointer(&wide, address) : (int)CUDA_ERROR_INVALID_VALUE;

	if (!result)
		*out = (CUdeviceptr_v1)wide;
	return result;
}

/* Advice and prefetching are ignored, so every attribute has its initial value, 0. */
static int range_attribute(void *out, size_t size, CUdeviceptr address, size_t count)
{
	if (!out || !size || !count || !memory__covers(address, count, false))
		return CUDA_ERROR_INVALID_VALUE;
	memset(out, 0, size);
	return CUDA_SUCCESS;
}

static int range_attributes(void **out, const size_t *sizes, size_t nr_attributes,
			    CUdeviceptr address, size_t count)
{
	int result = out && sizes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	for (size_t i = 0; !result && i < nr_attributes; i++)
		result = range_attribute(out[i], sizes[i], address, count);
	return result;
}

static int memory_type(const struct block *block)
{
	return on_host(block) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static int answer(void *out, CUpointer_attribute attribute, const struct block *block,
		  CUdeviceptr address)
{
	bool host = on_host(block) || block->kind == MEMORY_MANAGED;

	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)out = block->context;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)out = (unsigned int)memory_type(block);
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)out = address;
		break;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!host)
			return CUDA_ERROR_INVALID_VALUE;
		*(void **)out = (void *)(uintptr_t)address;
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(unsigned long long *)out = block->id;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned int *)out = block->kind == MEMORY_MANAGED;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)out = block->device;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)out = block->address;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)out = block->size;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(unsigned char *)out = 1;
		break;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

static int pointer_attribute(void *out, CUpointer_attribute attribute, CUdeviceptr address)
{
	struct block block;

	if (!out || !memory__find(address, &block))
		return CUDA_ERROR_INVALID_VALUE;
	return answer(out, attribute, &block, address);
}

/* Unlike the single form, this returns zeroes and success for an unknown address. */
static int pointer_attributes(unsigned int count, CUpointer_attribute *attributes, void **out,
			      CUdeviceptr address)
{
	struct block block;
	bool known = memory__find(address, &block);

	if (!attributes || !out)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned int i = 0; i < count; i++) {
		if (known && !answer(out[i], attributes[i], &block, address))
			continue;
		switch ((int)attributes[i]) {
		case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		case CU_POINTER_ATTRIBUTE_IS_MANAGED:
			*(unsigned int *)out[i] = 0;
			break;
		case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(int *)out[i] = -2;
			break;
		case CU_POINTER_ATTRIBUTE_MAPPED:
			*(unsigned char *)out[i] = 0;
			break;
		default:
			*(void **)out[i] = NULL;
		}
	}
	return CUDA_SUCCESS;
}

static int exists(CUdeviceptr address)
{
	struct block block;

	return memory__find(address, &block) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRIVER(cuMemAlloc_v2, SIM_ALLOC, (CUdeviceptr *out, size_t size), size,
       allocate(MEMORY_DEVICE, out, size, 0));
DRIVER(cuMemAllocManaged, SIM_ALLOC, (CUdeviceptr *out, size_t size, unsigned int flags), size,
       allocate_managed(out, size, flags));
DRIVER(cuMemAllocPitch_v2, SIM_ALLOC, (CUdeviceptr *out, size_t *pitch, size_t width,
				       size_t height, unsigned int element),
       ((width + PITCH - 1) & ~(size_t)(PITCH - 1)) * height,
       allocate_pitch(out, pitch, width, height, element));
DRIVER(cuMemHostAlloc, SIM_ALLOC, (void **out, size_t size, unsigned int flags), size,
       allocate_host(out, size, flags));
DRIVER(cuMemAllocHost_v2, SIM_ALLOC, (void **out, size_t size), size,
       allocate_host(out, size, 0));
DRIVER(cuMemFree_v2, SIM_FREE, (CUdeviceptr address), 0, release(&call, address));
DRIVER(cuMemFreeHost, SIM_FREE, (void *address), 0, release_host(&call, address));

DRIVER(cuMemHostRegister, SIM_OTHER, (void *address, size_t size, unsigned int flags), size,
       pin(address, size, flags));
DRIVER(cuMemHostRegister_v2, SIM_OTHER, (void *address, size_t size, unsigned int flags), size,
       pin(address, size, flags));
DRIVER(cuMemHostUnregister, SIM_OTHER, (void *address), 0, unpin(address));
DRIVER(cuMemHostGetDevicePointer_v2, SIM_OTHER, (CUdeviceptr *out, void *address,
						 unsigned int flags), 0,
       ((void)flags, host_device_pointer(out, address)));
DRIVER(cuMemHostGetFlags, SIM_OTHER, (unsigned int *out, void *address), 0,
       host_flags(out, address));
DRIVER(cuMemGetAddressRange_v2, SIM_OTHER, (CUdeviceptr *base, size_t *size,
					    CUdeviceptr address), 0,
       address_range(base, size, address));
DRIVER(cuMemGetInfo_v2, SIM_OTHER, (size_t *available, size_t *total), 0,
       get_info(available, total));
DRIVER(cuPointerGetAttribute, SIM_OTHER, (void *out, CUpointer_attribute attribute,
					  CUdeviceptr address), 0,
       pointer_attribute(out, attribute, address));
DRIVER(cuPointerGetAttributes, SIM_OTHER, (unsigned int count, CUpointer_attribute *attributes,
					   void **out, CUdeviceptr address), 0,
       pointer_attributes(count, attributes, out, address));
DRIVER(cuPointerSetAttribute, SIM_OTHER, (const void *value, CUpointer_attribute attribute,
					  CUdeviceptr address), 0,
       ((void)value, (void)attribute, exists(address)));
DRIVER(cuMemAdvise, SIM_OTHER, (CUdeviceptr address, size_t size, CUmem_advise advice,
				CUdevice device), 0,
       ((void)size, (void)advice, (void)device, exists(address)));
DRIVER(cuMemAdvise_v2, SIM_OTHER, (CUdeviceptr address, size_t size, CUmem_advise advice,
				   CUmemLocation location), 0,
       ((void)size, (void)advice, (void)location, exists(address)));
DRIVER(cuMemRangeGetAttribute, SIM_OTHER, (void *out, size_t size,
					   CUmem_range_attribute attribute, CUdeviceptr address,
					   size_t count), 0,
       ((void)attribute, range_attribute(out, size, address, count)));
DRIVER(cuMemRangeGetAttributes, SIM_OTHER, (void **out, size_t *sizes,
					    CUmem_range_attribute *attributes,
					    size_t nr_attributes, CUdeviceptr address,
					    size_t count), 0,
       ((void)attributes, range_attributes(out, sizes, nr_attributes, address, count)));

/* The first forms, with device addresses of 32 bits. */
DRIVER(cuMemAlloc, SIM_ALLOC, (CUdeviceptr_v1 *out, unsigned int size), size,
       allocate_low(out, size));
DRIVER(cuMemAllocPitch, SIM_ALLOC, (CUdeviceptr_v1 *out, unsigned int *pitch, unsigned int width,
				    unsigned int height, unsigned int element),
       (((uint64_t)width + PITCH - 1) & ~(uint64_t)(PITCH - 1)) * height,
       ((void)element, allocate_low_pitch(out, pitch, width, height)));
DRIVER(cuMemAllocHost, SIM_ALLOC, (void **out, unsigned int size), size,
       allocate_host(out, size, 0));
DRIVER(cuMemFree, SIM_FREE, (CUdeviceptr_v1 address), 0, release(&call, address));
DRIVER(cuMemHostGetDevicePointer, SIM_OTHER, (CUdeviceptr_v1 *out, void *address,
					      unsigned int flags), 0,
       ((void)flags, low_device_pointer(out, address)));
DRIVER(cuMemGetAddressRange, SIM_OTHER, (CUdeviceptr_v1 *base, unsigned int *size,
					 CUdeviceptr_v1 address), 0,
       low_address_range(base, size, address));
DRIVER(cuMemGetInfo, SIM_OTHER, (unsigned int *available, unsigned int *total), 0,
       low_info(available, total));
