// SPDX-License-Identifier: BSD-2-Clause
/*
 * One-dimensional copies. The bytes really move, at once, also in the asynchronous forms; only the
 * stream stays busy for as long as CUDA_SIM_ASYNC or CUDA_SIM_CLOCK says. Ranges that are not
 * allocated are refused.
 */
#include "cuda/copy.h"
#include "cuda/graph.h"

#include <string.h>

static bool readable(uint64_t address, uint64_t size)
{
	return address && (!memory__is_ours(address) || memory__covers(address, size, false));
}

static bool writable(uint64_t address, uint64_t size)
{
	return address && (!memory__is_ours(address) || memory__covers(address, size, true));
}

int copy__move(uint64_t to, uint64_t from, size_t size)
{
	if (!size)
		return CUDA_SUCCESS;
	if (!writable(to, size) || !readable(from, size))
		return CUDA_ERROR_INVALID_VALUE;
	memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, size);
	return CUDA_SUCCESS;
}

/* Checks that those of the two addresses that must be on the device are allocated. */
static int check(uint64_t to, uint64_t from, size_t size, enum sim_copy_kind kind)
{
	if (!size)
		return CUDA_SUCCESS;
	if (kind != SIM_D2H && kind != SIM_DEFAULT && !memory__covers(to, size, true))
		return CUDA_ERROR_INVALID_VALUE;
	if (kind != SIM_H2D && kind != SIM_DEFAULT && !memory__covers(from, size, false))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static SIM_COLD int capture(struct sim_call *call, struct CUstream_st *stream, CUgraphNodeType type)
{
	struct CUgraphNode_st *node = capture__add(stream, type);

	if (!node)
		return CUDA_ERROR_OUT_OF_MEMORY;
	node->bytes = call->bytes;
	call->captured = true;
	return CUDA_SUCCESS;
}

static enum work work_of(CUgraphNodeType type)
{
	if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
		return WORK_COPY;
	return type == CU_GRAPH_NODE_TYPE_MEMSET ? WORK_SET : WORK_OTHER;
}

int copy__begin(struct sim_call *call, CUstream handle, CUgraphNodeType type)
{
	struct CUstream_st *stream = stream__get(call, handle);

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream__capture(stream))
		return capture(call, stream, type);
	stream__issue(stream, work_of(type), call->bytes);
	return CUDA_SUCCESS;
}

/* If the address decides, managed memory counts as the device's. */
static bool on_device(CUmemorytype type, bool known, const struct block *block)
{
	if (type != CU_MEMORYTYPE_UNIFIED)
		return type != CU_MEMORYTYPE_HOST;
	return known && block->kind != MEMORY_HOST && block->kind != MEMORY_REGISTERED;
}

static enum sim_host_side side_of(bool known, const struct block *block)
{
	if (!known)
		return SIM_PAGEABLE;
	return block->kind == MEMORY_MANAGED ? SIM_MANAGED : SIM_PINNED;
}

void copy__note(struct sim_call *call, CUmemorytype to_type, uint64_t to,
		CUmemorytype from_type, uint64_t from, uint64_t bytes)
{
	struct sim_tallies *tallies = &call->thread->tallies;
	struct block to_block, from_block;
	bool to_known, from_known, to_device, from_device;
	enum sim_copy_kind kind = SIM_H2H;
	enum sim_direction direction = SIM_ON_HOST;
	enum sim_host_side side = 0;

	if (!call->start)
		return;			/* no truth file was requested */
	to_known = memory__find(to, &to_block);
	from_known = memory__find(from, &from_block);
	to_device = on_device(to_type, to_known, &to_block);
	from_device = on_device(from_type, from_known, &from_block);
	if (to_device && from_device) {
		kind = SIM_D2D;
		direction = SIM_ON_DEVICE;
	} else if (to_device) {
		kind = SIM_H2D;
		direction = SIM_TO_DEVICE;
		side = side_of(from_known, &from_block);
	} else if (from_device) {
		kind = SIM_D2H;
		direction = SIM_TO_HOST;
		side = side_of(to_known, &to_block);
	}
	/* The parts of a batch can have several kinds; the batch then has none. */
	call->resolved = call->resolved == SIM_COPY_KINDS || call->resolved == kind ?
			 kind : SIM_DEFAULT;
	sim_add(&tallies->sides[direction][side].calls, 1);
	sim_add(&tallies->sides[direction][side].bytes, bytes);
	if (!call->batch)
		return;
	sim_add(&tallies->batch_sides[direction][side].calls, 1);
	sim_add(&tallies->batch_sides[direction][side].bytes, bytes);
}

void copy__note_kind(struct sim_call *call, uint64_t to, uint64_t from, size_t size,
		     enum sim_copy_kind kind)
{
	static const CUmemorytype types[][2] = {
		[SIM_H2H] = { CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST },
		[SIM_H2D] = { CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST },
		[SIM_D2H] = { CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE },
		[SIM_D2D] = { CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE },
		[SIM_P2P] = { CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE },
		[SIM_DEFAULT] = { CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED },
	};

	copy__note(call, types[kind][0], to, types[kind][1], from, size);
}

int copy__now(struct sim_call *call, uint64_t to, uint64_t from, size_t size,
	      enum sim_copy_kind kind)
{
	int result = check(to, from, size, kind);

	if (result)
		return result;
	stream__wait_default(call, WORK_COPY);
	result = copy__move(to, from, size);
	if (!result)
		copy__note_kind(call, to, from, size, kind);
	return result;
}

int copy__later(struct sim_call *call, uint64_t to, uint64_t from, size_t size,
		enum sim_copy_kind kind, CUstream stream)
{
	int result = check(to, from, size, kind);

	if (!result)
		result = copy__begin(call, stream, CU_GRAPH_NODE_TYPE_MEMCPY);
	if (!result && !call->captured)
		result = copy__move(to, from, size);
	if (!result && !call->captured)
		copy__note_kind(call, to, from, size, kind);
	return result;
}

static int check_peers(struct CUctx_st *to, struct CUctx_st *from)
{
	if (!pool__holds(driver.contexts, to) || !pool__holds(driver.contexts, from))
		return CUDA_ERROR_INVALID_CONTEXT;
	return CUDA_SUCCESS;
}

#define HOST(pointer) ((uint64_t)(uintptr_t)(pointer))

DRIVER_COPY_PTDS(cuMemcpy, SIM_DEFAULT, (CUdeviceptr to, CUdeviceptr from, size_t size), size,
		 copy__now(&call, to, from, size, SIM_DEFAULT));
DRIVER_COPY_PTDS(cuMemcpyHtoD_v2, SIM_H2D, (CUdeviceptr to, const void *from, size_t size), size,
		 copy__now(&call, to, HOST(from), size, SIM_H2D));
DRIVER_COPY_PTDS(cuMemcpyDtoH_v2, SIM_D2H, (void *to, CUdeviceptr from, size_t size), size,
		 copy__now(&call, HOST(to), from, size, SIM_D2H));
DRIVER_COPY_PTDS(cuMemcpyDtoD_v2, SIM_D2D, (CUdeviceptr to, CUdeviceptr from, size_t size), size,
		 copy__now(&call, to, from, size, SIM_D2D));

DRIVER_COPY_PTSZ(cuMemcpyAsync, SIM_DEFAULT, (CUdeviceptr to, CUdeviceptr from, size_t size,
					      CUstream stream), size,
		 copy__later(&call, to, from, size, SIM_DEFAULT, stream));
DRIVER_COPY_PTSZ(cuMemcpyHtoDAsync_v2, SIM_H2D, (CUdeviceptr to, const void *from, size_t size,
						 CUstream stream), size,
		 copy__later(&call, to, HOST(from), size, SIM_H2D, stream));
DRIVER_COPY_PTSZ(cuMemcpyDtoHAsync_v2, SIM_D2H, (void *to, CUdeviceptr from, size_t size,
						 CUstream stream), size,
		 copy__later(&call, HOST(to), from, size, SIM_D2H, stream));
DRIVER_COPY_PTSZ(cuMemcpyDtoDAsync_v2, SIM_D2D, (CUdeviceptr to, CUdeviceptr from, size_t size,
						 CUstream stream), size,
		 copy__later(&call, to, from, size, SIM_D2D, stream));

#define PEER_PARAMS CUdeviceptr to, CUcontext to_context, CUdeviceptr from,		\
		    CUcontext from_context, size_t size

DRIVER_COPY_PTDS(cuMemcpyPeer, SIM_P2P, (PEER_PARAMS), size,
		 check_peers(to_context, from_context) ?:
		 copy__now(&call, to, from, size, SIM_P2P));
DRIVER_COPY_PTSZ(cuMemcpyPeerAsync, SIM_P2P, (PEER_PARAMS, CUstream stream), size,
		 check_peers(to_context, from_context) ?:
		 copy__later(&call, to, from, size, SIM_P2P, stream));

/* The first forms, with 32-bit device addresses and sizes. */
DRIVER_COPY(cuMemcpyHtoD, SIM_H2D, SIM_SYNCHRONOUS,
	    (CUdeviceptr_v1 to, const void *from, unsigned int size), size, false,
	    copy__now(&call, to, HOST(from), size, SIM_H2D));
DRIVER_COPY(cuMemcpyDtoH, SIM_D2H, SIM_SYNCHRONOUS,
	    (void *to, CUdeviceptr_v1 from, unsigned int size), size, false,
	    copy__now(&call, HOST(to), from, size, SIM_D2H));
DRIVER_COPY(cuMemcpyDtoD, SIM_D2D, SIM_SYNCHRONOUS,
	    (CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned int size), size, false,
	    copy__now(&call, to, from, size, SIM_D2D));
DRIVER_COPY(cuMemcpyHtoDAsync, SIM_H2D, SIM_ASYNCHRONOUS,
	    (CUdeviceptr_v1 to, const void *from, unsigned int size, CUstream stream), size,
	    false, copy__later(&call, to, HOST(from), size, SIM_H2D, stream));
DRIVER_COPY(cuMemcpyDtoHAsync, SIM_D2H, SIM_ASYNCHRONOUS,
	    (void *to, CUdeviceptr_v1 from, unsigned int size, CUstream stream), size, false,
	    copy__later(&call, HOST(to), from, size, SIM_D2H, stream));
DRIVER_COPY(cuMemcpyDtoDAsync, SIM_D2D, SIM_ASYNCHRONOUS,
	    (CUdeviceptr_v1 to, CUdeviceptr_v1 from, unsigned int size, CUstream stream), size,
	    false, copy__later(&call, to, from, size, SIM_D2D, stream));
