// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory pools and stream-ordered allocations. An allocation is usable, and a free done, at once,
 * whatever the stream still has to do.
 */
#include "cuda/graph.h"
#include "cuda/memory.h"

struct CUmemPoolHandle_st *mempool__get(CUmemoryPool pool)
{
	return pool__holds(driver.pools, pool) && !pool->doomed ? pool : NULL;
}

bool mempool__is_default(const struct CUmemPoolHandle_st *pool)
{
	return pool == driver.default_pool[pool->device];
}

void mempool__synchronized(int device)
{
	struct CUmemPoolHandle_st *pool = NULL;

	while ((pool = pool__next(driver.pools, pool)) != NULL)
		if (pool->device == device && pool->reserved_bytes > pool->threshold)
			memory__trim_pool(pool, pool->threshold);
}

/* Reserves addresses for the graph's runs; there is no memory behind them before. */
static int capture_allocation(struct sim_call *call, CUdeviceptr *out, size_t size,
			      const struct CUmemPoolHandle_st *pool, struct CUstream_st *stream)
{
	struct CUgraphNode_st *node = capture__add(stream, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
	int result = node ? node__reserve(node, size, pool->device, out) :
			    (int)CUDA_ERROR_OUT_OF_MEMORY;

	if (result)
		return result;
	call->captured = true;
	sim_add(&call->thread->tallies.captured.allocations, 1);
	return CUDA_SUCCESS;
}

static int capture_free(struct sim_call *call, CUdeviceptr address, struct CUstream_st *stream)
{
	struct CUgraphNode_st *node;
	struct block block;

	if (!memory__find(address, &block) || block.kind != MEMORY_GRAPH)
		return CUDA_ERROR_INVALID_VALUE;
	node = capture__add(stream, CU_GRAPH_NODE_TYPE_MEM_FREE);
	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->address = address;
	call->captured = true;
	sim_add(&call->thread->tallies.captured.frees, 1);
	return CUDA_SUCCESS;
}

static int allocate(struct sim_call *call, CUdeviceptr *out, size_t size,
		    struct CUmemPoolHandle_st *pool, CUstream handle)
{
	struct CUstream_st *stream = stream__get(call, handle);
	struct block like = { .kind = MEMORY_POOL, .size = size, .pool = pool };
	uint64_t address;
	int result;

	if (!stream || !pool)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (stream__capture(stream))
		return capture_allocation(call, out, size, pool, stream);
	if (pool->maximum && pool->used + size > pool->maximum)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = memory__allocate(&like, &address);
	if (!result)
		*out = address;
	return result;
}

static int release(struct sim_call *call, CUdeviceptr address, CUstream handle)
{
	struct CUstream_st *stream = stream__get(call, handle);
	struct block block;

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!address) {
		call->null_free = true;
		return CUDA_SUCCESS;
	}
	if (stream__capture(stream))
		return capture_free(call, address, stream);
	if (memory__find(address, &block) && block.from_pool)
		return memory__free(address, KIND(MEMORY_IMPORTED), NULL);
	return memory__free(address, KIND(MEMORY_POOL) | KIND(MEMORY_GRAPH), NULL);
}

static int create(CUmemoryPool *out, const CUmemPoolProps *properties)
{
	struct CUmemPoolHandle_st *pool;

	if (!out || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	if (driver__require_device(properties->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	pool = pool__take(driver.pools);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pool->device = properties->location.id;
	pool->maximum = properties->maxSize;
	driver__created(SIM_POOL);
	*out = pool;
	return CUDA_SUCCESS;
}

/* A pool with live allocations is destroyed with the last of them. */
static int destroy(struct CUmemPoolHandle_st *pool)
{
	int device;

	if (!pool)
		return CUDA_ERROR_INVALID_HANDLE;
	device = pool->device;
	if (pool == driver.default_pool[device])
		return CUDA_ERROR_INVALID_VALUE;
	if (driver.current_pool[device] == pool)
		driver.current_pool[device] = driver.default_pool[device];
	memory__doom_pool(pool);
	driver__destroyed(SIM_POOL);
	return CUDA_SUCCESS;
}

static int trim(struct CUmemPoolHandle_st *pool, size_t keep)
{
	if (!pool)
		return CUDA_ERROR_INVALID_HANDLE;
	memory__trim_pool(pool, keep);
	return CUDA_SUCCESS;
}

static int get_attribute(struct CUmemPoolHandle_st *pool, CUmemPool_attribute attribute,
			 void *out)
{
	if (!pool || !out)
		return CUDA_ERROR_INVALID_VALUE;
	switch ((int)attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(uint64_t *)out = pool->threshold;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*(uint64_t *)out = pool->reserved_bytes;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*(uint64_t *)out = pool->reserved_high;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*(uint64_t *)out = pool->used;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*(uint64_t *)out = pool->used_high;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(int *)out = (int)pool->settings[attribute];
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

static int set_attribute(struct CUmemPoolHandle_st *pool, CUmemPool_attribute attribute,
			 const void *value)
{
	if (!pool || !value || (int)attribute < 1 || (int)attribute > 8)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		pool->threshold = *(const uint64_t *)value;
	else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
		pool->reserved_high = pool->reserved_bytes;
	else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
		pool->used_high = pool->used;
	else if (attribute > CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		return CUDA_ERROR_INVALID_VALUE;
	else
		pool->settings[attribute] = (uint64_t)*(const int *)value;
	return CUDA_SUCCESS;
}

static int get_pool(CUmemoryPool *out, CUdevice device, struct CUmemPoolHandle_st *const *pools)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = pools[device];
	return CUDA_SUCCESS;
}

/* The pool for a kind of memory at a location; only devices have any here. */
static int get_pool_at(CUmemoryPool *out, const CUmemLocation *location, CUmemAllocationType type,
		       struct CUmemPoolHandle_st *const *pools)
{
	if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	return get_pool(out, location->id, pools);
}

static int set_pool(CUdevice device, struct CUmemPoolHandle_st *pool)
{
	int result = driver__require_device(device);

	if (result)
		return result;
	if (!pool || pool->device != device)
		return CUDA_ERROR_INVALID_VALUE;
	driver.current_pool[device] = pool;
	return CUDA_SUCCESS;
}

static int set_pool_at(const CUmemLocation *location, CUmemAllocationType type,
		       struct CUmemPoolHandle_st *pool)
{
	if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	return set_pool(location->id, pool);
}

static int get_access(CUmemAccess_flags *out, struct CUmemPoolHandle_st *pool,
		      const CUmemLocation *location)
{
	if (!out || !pool || !location)
		return CUDA_ERROR_INVALID_VALUE;
	*out = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	return CUDA_SUCCESS;
}

static struct CUmemPoolHandle_st *current_pool(void)
{
	return driver.current_pool[driver__context()->device];
}

DRIVER_PTSZ(cuMemAllocAsync, SIM_ALLOC, (CUdeviceptr *out, size_t size, CUstream stream), size,
	    allocate(&call, out, size, current_pool(), stream));
DRIVER_PTSZ(cuMemAllocFromPoolAsync, SIM_ALLOC, (CUdeviceptr *out, size_t size,
						 CUmemoryPool pool, CUstream stream), size,
	    allocate(&call, out, size, mempool__get(pool), stream));
DRIVER_PTSZ(cuMemFreeAsync, SIM_FREE, (CUdeviceptr address, CUstream stream), 0,
	    release(&call, address, stream));
DRIVER_PLAIN(cuMemPoolCreate, (CUmemoryPool *out, const CUmemPoolProps *properties),
	     create(out, properties));
DRIVER_PLAIN(cuMemPoolDestroy, (CUmemoryPool pool), destroy(mempool__get(pool)));
DRIVER_PLAIN(cuMemPoolTrimTo, (CUmemoryPool pool, size_t keep), trim(mempool__get(pool), keep));
DRIVER_PLAIN(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute,
				     void *out),
	     get_attribute(mempool__get(pool), attribute, out));
DRIVER_PLAIN(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute attribute,
				     void *value),
	     set_attribute(mempool__get(pool), attribute, value));
DRIVER_PLAIN(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *access,
				  size_t count),
	     ((void)count, mempool__get(pool) && access ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE));
DRIVER_PLAIN(cuMemPoolGetAccess, (CUmemAccess_flags *out, CUmemoryPool pool,
				  CUmemLocation *location),
	     get_access(out, mempool__get(pool), location));
DRIVER_PLAIN(cuDeviceGetDefaultMemPool, (CUmemoryPool *out, CUdevice device),
	     get_pool(out, device, driver.default_pool));
DRIVER_PLAIN(cuDeviceGetMemPool, (CUmemoryPool *out, CUdevice device),
	     get_pool(out, device, driver.current_pool));
DRIVER_PLAIN(cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool),
	     set_pool(device, mempool__get(pool)));
DRIVER_PLAIN(cuMemGetDefaultMemPool, (CUmemoryPool *out, CUmemLocation *location,
				      CUmemAllocationType type),
	     get_pool_at(out, location, type, driver.default_pool));
DRIVER_PLAIN(cuMemGetMemPool, (CUmemoryPool *out, CUmemLocation *location,
			       CUmemAllocationType type),
	     get_pool_at(out, location, type, driver.current_pool));
DRIVER_PLAIN(cuMemSetMemPool, (CUmemLocation *location, CUmemAllocationType type,
			       CUmemoryPool pool),
	     set_pool_at(location, type, mempool__get(pool)));
