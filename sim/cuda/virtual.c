// SPDX-License-Identifier: BSD-2-Clause
/*
 * Virtual memory management: reserves ranges, creates physical allocations, and maps them. Two
 * mappings of one allocation do not share their bytes.
 */
#include "cuda/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <search.h>

#define GRANULARITY (2ull << 20)
#define MAX_PHYSICAL (1u << 18)

struct physical {
	struct object object;
	uint64_t reserved;
	uint64_t size;
	uint32_t handles;	/* references through handles */
	uint32_t mappings;
	int device;
	enum memory_kind kind;		/* its own, or imported */
	CUmemAllocationProp properties;
};

struct range {
	uint64_t address;
	uint64_t size;
};

static struct {
	pthread_mutex_t lock;
	struct pool *physical;
	void *ranges;		/* a search tree of reserved ranges */
	uint64_t reserved, mapped;
} vmm = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int compare(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	if (left->address + left->size <= right->address)
		return -1;
	return left->address >= right->address + right->size;
}

static bool is_unit(uint64_t size)
{
	return size && size % GRANULARITY == 0;
}

static bool is_reserved(uint64_t address, uint64_t size)
{
	struct range key = { address, 1 };
	struct range **node = tfind(&key, &vmm.ranges, compare);

	return node && size <= (*node)->address + (*node)->size - address;
}

static int reserve(CUdeviceptr *out, size_t size, size_t alignment)
{
	struct range *range;

	if (!out || !is_unit(size) || alignment > GRANULARITY)
		return CUDA_ERROR_INVALID_VALUE;
	range = malloc(sizeof(*range));
	if (!range)
		return CUDA_ERROR_OUT_OF_MEMORY;
	range->size = size;
	range->address = memory__reserve(size);
	if (!range->address) {
		free(range);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	tsearch(range, &vmm.ranges, compare);
	vmm.reserved += size;
	*out = range->address;
	return CUDA_SUCCESS;
}

static int unreserve(CUdeviceptr address, size_t size)
{
	struct range key = { address, 1 };
	struct range **node = tfind(&key, &vmm.ranges, compare);
	struct range *range;
	struct block block;

	if (!node || (*node)->address != address || (*node)->size != size)
		return CUDA_ERROR_INVALID_VALUE;
	range = *node;
	for (uint64_t part = 0; part < size; part += GRANULARITY)
		if (memory__find(address + part, &block))
			return CUDA_ERROR_INVALID_VALUE;
	tdelete(range, &vmm.ranges, compare);
	memory__unreserve(address, size);
	vmm.reserved -= size;
	free(range);
	return CUDA_SUCCESS;
}

static struct physical *checked(CUmemGenericAllocationHandle handle)
{
	void *physical = (void *)(uintptr_t)handle;

	return pool__holds(vmm.physical, physical) ? physical : NULL;
}

static int create(CUmemGenericAllocationHandle *out, size_t size,
		  const CUmemAllocationProp *properties)
{
	struct physical *physical;
	int device, result;

	if (!out || !properties || !is_unit(size))
		return CUDA_ERROR_INVALID_VALUE;
	device = properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE ?
		 properties->location.id : -1;
	if (device != -1 && driver__require_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!vmm.physical)
		vmm.physical = pool__new(sizeof(*physical), MAX_PHYSICAL);
	result = memory__charge(MEMORY_PHYSICAL, device, size);
	if (result)
		return result;
	physical = vmm.physical ? pool__take(vmm.physical) : NULL;
	if (!physical) {
		memory__uncharge(MEMORY_PHYSICAL, device, size);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	physical->size = size;
	physical->device = device;
	physical->kind = MEMORY_PHYSICAL;
	physical->handles = 1;
	physical->properties = *properties;
	*out = (uintptr_t)physical;
	return CUDA_SUCCESS;
}

/* The memory is freed with the last of its handles and mappings. */
static void let_go(struct physical *physical)
{
	if (physical->handles || physical->mappings)
		return;
	memory__uncharge(physical->kind, physical->device, physical->size);
	pool__give(vmm.physical, physical);
}

static int release(struct physical *physical)
{
	if (!physical || !physical->handles)
		return CUDA_ERROR_INVALID_VALUE;
	physical->handles--;
	let_go(physical);
	return CUDA_SUCCESS;
}

static int map(CUdeviceptr address, size_t size, size_t offset, struct physical *physical)
{
	struct block block = {
		.address = address, .size = size, .kind = MEMORY_MAPPED, .physical = physical,
	};

	if (!physical || !physical->handles || !is_unit(size) || offset % GRANULARITY ||
	    offset > physical->size || size > physical->size - offset ||
	    !is_reserved(address, size))
		return CUDA_ERROR_INVALID_VALUE;
	block.device = physical->device;
	if (memory__adopt(&block))
		return CUDA_ERROR_INVALID_VALUE;
	physical->mappings++;
	vmm.mapped += size;
	return CUDA_SUCCESS;
}

/* One call may unmap several whole mappings. */
static int unmap(CUdeviceptr address, size_t size)
{
	struct block block;
	uint64_t done = 0;

	if (!is_unit(size))
		return CUDA_ERROR_INVALID_VALUE;
	while (done < size) {
		if (!memory__find(address + done, &block) || block.kind != MEMORY_MAPPED ||
		    block.address != address + done || block.size > size - done)
			return CUDA_ERROR_INVALID_VALUE;
		memory__free(block.address, KIND(MEMORY_MAPPED), NULL);
		block.physical->mappings--;
		vmm.mapped -= block.size;
		let_go(block.physical);
		done += block.size;
	}
	return CUDA_SUCCESS;
}

static int retain(CUmemGenericAllocationHandle *out, void *address)
{
	struct block block;

	if (!out || !memory__find((uintptr_t)address, &block) || block.kind != MEMORY_MAPPED)
		return CUDA_ERROR_INVALID_VALUE;
	block.physical->handles++;
	*out = (uintptr_t)block.physical;
	return CUDA_SUCCESS;
}

struct physical *physical__get(CUmemGenericAllocationHandle handle, uint64_t *size, int *device)
{
	struct physical *physical;

	pthread_mutex_lock(&vmm.lock);
	physical = checked(handle);
	if (physical) {
		*size = physical->size;
		*device = physical->device;
	}
	pthread_mutex_unlock(&vmm.lock);
	return physical;
}

int physical__retain(CUmemGenericAllocationHandle handle)
{
	int result = CUDA_ERROR_INVALID_VALUE;
	struct physical *physical;

	pthread_mutex_lock(&vmm.lock);
	physical = checked(handle);
	if (physical) {
		physical->handles++;
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&vmm.lock);
	return result;
}

int physical__import(uint64_t size, int device, CUmemGenericAllocationHandle *out)
{
	struct physical *physical;

	pthread_mutex_lock(&vmm.lock);
	if (!vmm.physical)
		vmm.physical = pool__new(sizeof(*physical), MAX_PHYSICAL);
	physical = vmm.physical ? pool__take(vmm.physical) : NULL;
	if (physical) {
		memory__charge(MEMORY_IMPORTED, device, size);
		physical->kind = MEMORY_IMPORTED;
		physical->size = size;
		physical->device = device;
		physical->handles = 1;
		physical->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
		physical->properties.location =
			(CUmemLocation){ CU_MEM_LOCATION_TYPE_DEVICE, device };
		*out = (uintptr_t)physical;
	}
	pthread_mutex_unlock(&vmm.lock);
	return physical ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int granularity(size_t *out, const CUmemAllocationProp *properties)
{
	if (!out || !properties)
		return CUDA_ERROR_INVALID_VALUE;
	*out = GRANULARITY;
	return CUDA_SUCCESS;
}

static int properties(CUmemAllocationProp *out, const struct physical *physical)
{
	if (!out || !physical)
		return CUDA_ERROR_INVALID_VALUE;
	*out = physical->properties;
	return CUDA_SUCCESS;
}

static int set_access(CUdeviceptr address, size_t size, const CUmemAccessDesc *access)
{
	if (!access || !memory__covers(address, size, false))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static int get_access(unsigned long long *out, CUdeviceptr address)
{
	struct block block;

	if (!out || !memory__find(address, &block))
		return CUDA_ERROR_INVALID_VALUE;
	*out = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return CUDA_SUCCESS;
}

void virtual__forget(void)
{
	pthread_mutex_init(&vmm.lock, NULL);
	vmm.physical = NULL;
	vmm.ranges = NULL;
	vmm.reserved = 0;
	vmm.mapped = 0;
}

void virtual__describe(FILE *out)
{
	uint64_t bytes = 0, handles = 0, allocations = 0;
	struct physical *physical = NULL;

	pthread_mutex_lock(&vmm.lock);
	while (vmm.physical && (physical = pool__next(vmm.physical, physical)) != NULL) {
		bytes += physical->size;
		handles += physical->handles;
		allocations++;
	}
	fprintf(out, " \"virtual\": {\"reserved_bytes\":%" PRIu64 ",\"mapped_bytes\":%" PRIu64
		",\"physical_bytes\":%" PRIu64 ",\"physical_handles\":%" PRIu64
		",\"physical_allocations\":%" PRIu64 "},\n", vmm.reserved, vmm.mapped, bytes,
		handles, allocations);
	pthread_mutex_unlock(&vmm.lock);
}

/* Runs the expression with the lock of this file held. */
#define LOCKED(expression)								\
	({										\
		int result_;								\
											\
		pthread_mutex_lock(&vmm.lock);						\
		result_ = (expression);							\
		pthread_mutex_unlock(&vmm.lock);					\
		result_;								\
	})

DRIVER(cuMemAddressReserve, SIM_OTHER, (CUdeviceptr *out, size_t size, size_t alignment,
					CUdeviceptr wish, unsigned long long flags), size,
       ((void)wish, (void)flags, LOCKED(reserve(out, size, alignment))));
DRIVER(cuMemAddressFree, SIM_OTHER, (CUdeviceptr address, size_t size), size,
       LOCKED(unreserve(address, size)));
DRIVER(cuMemCreate, SIM_ALLOC, (CUmemGenericAllocationHandle *out, size_t size,
				const CUmemAllocationProp *wanted, unsigned long long flags),
       size, ((void)flags, LOCKED(create(out, size, wanted))));
DRIVER(cuMemRelease, SIM_FREE, (CUmemGenericAllocationHandle handle), 0,
       LOCKED(release(checked(handle))));
DRIVER(cuMemMap, SIM_OTHER, (CUdeviceptr address, size_t size, size_t offset,
			     CUmemGenericAllocationHandle handle, unsigned long long flags),
       size, ((void)flags, LOCKED(map(address, size, offset, checked(handle)))));
DRIVER(cuMemUnmap, SIM_OTHER, (CUdeviceptr address, size_t size), size,
       LOCKED(unmap(address, size)));
DRIVER(cuMemRetainAllocationHandle, SIM_OTHER, (CUmemGenericAllocationHandle *out,
						void *address), 0,
       LOCKED(retain(out, address)));
DRIVER_PLAIN(cuMemGetAllocationGranularity, (size_t *out, const CUmemAllocationProp *wanted,
					     CUmemAllocationGranularity_flags which),
	     ((void)which, granularity(out, wanted)));
DRIVER(cuMemGetAllocationPropertiesFromHandle, SIM_OTHER,
       (CUmemAllocationProp *out, CUmemGenericAllocationHandle handle), 0,
       LOCKED(properties(out, checked(handle))));
DRIVER(cuMemSetAccess, SIM_OTHER, (CUdeviceptr address, size_t size,
				   const CUmemAccessDesc *access, size_t count), 0,
       ((void)count, set_access(address, size, access)));
DRIVER(cuMemGetAccess, SIM_OTHER, (unsigned long long *out, const CUmemLocation *location,
				   CUdeviceptr address), 0,
       ((void)location, get_access(out, address)));
