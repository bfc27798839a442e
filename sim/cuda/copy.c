// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of one dimension. The bytes really move, at once, also in the
 * asynchronous forms; only the stream stays busy for as long as CUDA_SIM_ASYNC
 * says. A range that is not allocated is refused.
 */
#include "cuda/copy.h"

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

/* Of the two addresses, those that must be a device's are checked to be allocated. */
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

int copy__begin(const struct sim_call *call, CUstream handle, CUgraphNodeType type, bool *captured)
{
	struct CUstream_st *stream = stream__get(call, handle);

	*captured = false;
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->capture) {
		*captured = true;
		return graph__capture(stream, type, NULL);
	}
	stream__issue(stream);
	return CUDA_SUCCESS;
}

int copy__now(const struct sim_call *call, uint64_t to, uint64_t from, size_t size,
	      enum sim_copy_kind kind)
{
	int result = check(to, from, size, kind);

	if (result)
		return result;
	stream__wait_default(call);
	return copy__move(to, from, size);
}

int copy__later(const struct sim_call *call, uint64_t to, uint64_t from, size_t size,
		enum sim_copy_kind kind, CUstream stream)
{
	bool captured;
	int result = check(to, from, size, kind);

	if (!result)
		result = copy__begin(call, stream, CU_GRAPH_NODE_TYPE_MEMCPY, &captured);
	return result || captured ? result : copy__move(to, from, size);
}

static int check_peers(struct CUctx_st *to, struct CUctx_st *from)
{
	if (!pool__holds(driver.contexts, to) || !pool__holds(driver.contexts, from))
		return CUDA_ERROR_INVALID_CONTEXT;
	return CUDA_SUCCESS;
}

static uint64_t sum(const size_t *sizes, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; sizes && i < count; i++)
		total += sizes[i];
	return total;
}

static int copy_batch(const struct sim_call *call, const CUdeviceptr *to, const CUdeviceptr *from,
		      const size_t *sizes, size_t count, CUstream stream)
{
	bool captured;
	int result;

	if (!to || !from || !sizes || !count || !stream)
		return CUDA_ERROR_INVALID_VALUE;
	result = copy__begin(call, stream, CU_GRAPH_NODE_TYPE_MEMCPY, &captured);
	for (size_t i = 0; !result && !captured && i < count; i++)
		result = copy__move(to[i], from[i], sizes[i]);
	return result;
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

#define BATCH_PARAMS CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,	\
		     CUmemcpyAttributes *attributes, size_t *indices, size_t nr_attributes

DRIVER_COPY_PTSZ(cuMemcpyBatchAsync, SIM_DEFAULT, (BATCH_PARAMS, size_t *failed,
						   CUstream stream), sum(sizes, count),
		 ((void)attributes, (void)indices, (void)nr_attributes, (void)failed,
		  copy_batch(&call, to, from, sizes, count, stream)));
DRIVER_COPY_PTSZ(cuMemcpyBatchAsync_v2, SIM_DEFAULT, (BATCH_PARAMS, CUstream stream),
		 sum(sizes, count),
		 ((void)attributes, (void)indices, (void)nr_attributes,
		  copy_batch(&call, to, from, sizes, count, stream)));
