// SPDX-License-Identifier: BSD-2-Clause
/*
 * Physical allocations and pools shared through file descriptors. The file that is passed describes
 * the allocation. Importing an own one adds a reference; importing another process's gives separate
 * memory.
 */
#define _GNU_SOURCE
#include "cuda/memory.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHARED_MAGIC 0x64726873u

enum shared_kind { SHARED_PHYSICAL = 1, SHARED_POOL, SHARED_RANGE };

struct shared {
	uint32_t magic;
	uint32_t kind;
	int32_t device;
	int32_t pid;
	uint64_t size;
	uint64_t handle;
};

static int write_out(void *out, struct shared shared)
{
	int fd = memfd_create("cuda_sim_shared", MFD_CLOEXEC);

	shared.magic = SHARED_MAGIC;
	shared.pid = getpid();
	if (fd < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (pwrite(fd, &shared, sizeof(shared), 0) != (ssize_t)sizeof(shared)) {
		close(fd);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*(int *)out = fd;
	return CUDA_SUCCESS;
}

static int read_in(void *handle, CUmemAllocationHandleType type, uint32_t kind,
		   struct shared *out)
{
	int fd = (int)(intptr_t)handle;

	if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (pread(fd, out, sizeof(*out), 0) != (ssize_t)sizeof(*out) ||
	    out->magic != SHARED_MAGIC || out->kind != kind ||
	    driver__require_device(out->device))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static int export_physical(void *out, CUmemGenericAllocationHandle handle,
			   CUmemAllocationHandleType type)
{
	struct shared shared = { .kind = SHARED_PHYSICAL, .handle = handle };

	if (!out || !physical__get(handle, &shared.size, &shared.device))
		return CUDA_ERROR_INVALID_VALUE;
	if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	return write_out(out, shared);
}

static int import_physical(CUmemGenericAllocationHandle *out, void *handle,
			   CUmemAllocationHandleType type)
{
	struct shared shared;
	int result = out ? read_in(handle, type, SHARED_PHYSICAL, &shared) :
			   (int)CUDA_ERROR_INVALID_VALUE;

	if (result)
		return result;
	if (shared.pid == getpid() && !physical__retain(shared.handle)) {
		*out = shared.handle;
		return CUDA_SUCCESS;
	}
	return physical__import(shared.size, shared.device, out);
}

static int export_pool(void *out, const struct CUmemPoolHandle_st *pool,
		       CUmemAllocationHandleType type)
{
	if (!out || !pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	return write_out(out, (struct shared){
		.kind = SHARED_POOL, .device = pool->device, .handle = (uintptr_t)pool,
	});
}

static int import_pool(CUmemoryPool *out, void *handle, CUmemAllocationHandleType type)
{
	struct CUmemPoolHandle_st *pool;
	struct shared shared;
	int result = out ? read_in(handle, type, SHARED_POOL, &shared) :
			   (int)CUDA_ERROR_INVALID_VALUE;

	if (result)
		return result;
	pool = pool__take(driver.pools);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pool->device = shared.device;
	driver__created(SIM_POOL);
	*out = pool;
	return CUDA_SUCCESS;
}

/* For an allocation in a pool; the data is passed unchanged. */
static int export_pointer(CUmemPoolPtrExportData *out, CUdeviceptr address)
{
	struct shared shared = { .magic = SHARED_MAGIC, .kind = SHARED_RANGE };
	struct block block;

	if (!out || !memory__find(address, &block) || block.kind != MEMORY_POOL)
		return CUDA_ERROR_INVALID_VALUE;
	shared.size = block.size;
	shared.device = block.device;
	memset(out, 0, sizeof(*out));
	memcpy(out, &shared, sizeof(shared));
	return CUDA_SUCCESS;
}

static int import_pointer(CUdeviceptr *out, const struct CUmemPoolHandle_st *pool,
			  const CUmemPoolPtrExportData *data)
{
	struct block like = { .kind = MEMORY_IMPORTED, .from_pool = true };
	struct shared shared;
	uint64_t address;
	int result;

	if (!out || !pool || !data)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&shared, data, sizeof(shared));
	if (shared.magic != SHARED_MAGIC || shared.kind != SHARED_RANGE)
		return CUDA_ERROR_INVALID_VALUE;
	like.size = shared.size;
	result = memory__allocate(&like, &address);
	if (!result)
		*out = address;
	return result;
}

static int range_handle(void *out, CUdeviceptr address, size_t size)
{
	struct block block;

	if (!out || !memory__covers(address, size, false) || !memory__find(address, &block))
		return CUDA_ERROR_INVALID_VALUE;
	return write_out(out, (struct shared){
		.kind = SHARED_RANGE, .device = block.device, .size = size,
	});
}

DRIVER(cuMemExportToShareableHandle, SIM_OTHER,
       (void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
	unsigned long long flags), 0,
       ((void)flags, export_physical(out, handle, type)));
DRIVER(cuMemImportFromShareableHandle, SIM_ALLOC,
       (CUmemGenericAllocationHandle *out, void *handle, CUmemAllocationHandleType type), 0,
       import_physical(out, handle, type));
DRIVER(cuMemPoolExportToShareableHandle, SIM_OTHER,
       (void *out, CUmemoryPool pool, CUmemAllocationHandleType type, unsigned long long flags),
       0, ((void)flags, export_pool(out, mempool__get(pool), type)));
DRIVER(cuMemPoolImportFromShareableHandle, SIM_ALLOC,
       (CUmemoryPool *out, void *handle, CUmemAllocationHandleType type,
	unsigned long long flags), 0, ((void)flags, import_pool(out, handle, type)));
DRIVER(cuMemPoolExportPointer, SIM_OTHER, (CUmemPoolPtrExportData *out, CUdeviceptr address), 0,
       export_pointer(out, address));
DRIVER(cuMemPoolImportPointer, SIM_ALLOC, (CUdeviceptr *out, CUmemoryPool pool,
					   CUmemPoolPtrExportData *data), 0,
       import_pointer(out, mempool__get(pool), data));
DRIVER(cuMemGetHandleForAddressRange, SIM_OTHER, (void *out, CUdeviceptr address, size_t size,
						  CUmemRangeHandleType type,
						  unsigned long long flags), 0,
       ((void)type, (void)flags, range_handle(out, address, size)));
