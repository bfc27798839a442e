// SPDX-License-Identifier: BSD-2-Clause
/*
 * Batches: many copies, prefetches or discards in one call, all on one stream. The forms of CUDA
 * 12.8 return which copy failed, those of 13 do not.
 */
#include "cuda/copy.h"

static uint64_t sum(const size_t *sizes, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; sizes && i < count; i++)
		total += sizes[i];
	return total;
}

static int fail_at(size_t *failed, size_t index, int result)
{
	if (failed)
		*failed = index;
	return result;
}

static int copy_batch(struct sim_call *call, const CUdeviceptr *to, const CUdeviceptr *from,
		      const size_t *sizes, size_t count, size_t *failed, CUstream stream)
{
	int result;

	call->batch = true;
	/* The default stream is refused. */
	if (!to || !from || !sizes || !count || !stream)
		return fail_at(failed, SIZE_MAX, CUDA_ERROR_INVALID_VALUE);
	result = copy__begin(call, stream, CU_GRAPH_NODE_TYPE_MEMCPY);
	if (result || call->captured)
		return fail_at(failed, SIZE_MAX, result);
	for (size_t i = 0; i < count; i++) {
		result = copy__move(to[i], from[i], sizes[i]);
		if (result)
			return fail_at(failed, i, result);
		copy__note_kind(call, to[i], from[i], sizes[i], SIM_DEFAULT);
	}
	return CUDA_SUCCESS;
}

/* A row length of 0 means the copied width; lengths are in elements. */
static struct side make_side(const CUmemcpy3DOperand *operand, const CUextent3D *extent,
			     size_t element)
{
	struct side side = { .type = CU_MEMORYTYPE_UNIFIED };

	if (operand->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
		side.type = CU_MEMORYTYPE_ARRAY;
		array__side(operand->op.array.array, operand->op.array.offset.x * element,
			    operand->op.array.offset.y, operand->op.array.offset.z, &side);
		return side;
	}
	side.address = operand->op.ptr.ptr;
	side.pitch = (operand->op.ptr.rowLength ? operand->op.ptr.rowLength : extent->width) *
		     element;
	side.height = operand->op.ptr.layerHeight ? operand->op.ptr.layerHeight : extent->height;
	return side;
}

static size_t element_of(const CUmemcpy3DOperand *operand)
{
	if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
		return 0;
	return array__element(operand->op.array.array);
}

static struct box make_box(const CUDA_MEMCPY3D_BATCH_OP *copy)
{
	size_t element = element_of(&copy->dst) ?: element_of(&copy->src) ?: 1;

	return (struct box){
		.to = make_side(&copy->dst, &copy->extent, element),
		.from = make_side(&copy->src, &copy->extent, element),
		.width = copy->extent.width * element,
		.height = copy->extent.height,
		.depth = copy->extent.depth,
	};
}

static uint64_t sum_boxes(const CUDA_MEMCPY3D_BATCH_OP *copies, size_t count)
{
	uint64_t total = 0;

	for (size_t i = 0; copies && i < count; i++) {
		struct box box = make_box(&copies[i]);

		total += box__bytes(&box);
	}
	return total;
}

static int copy_boxes(struct sim_call *call, const CUDA_MEMCPY3D_BATCH_OP *copies, size_t count,
		      size_t *failed, CUstream stream)
{
	int result;

	if (!copies || !count || !stream)
		return fail_at(failed, SIZE_MAX, CUDA_ERROR_INVALID_VALUE);
	result = copy__begin(call, stream, CU_GRAPH_NODE_TYPE_MEMCPY);
	if (result || call->captured)
		return fail_at(failed, SIZE_MAX, result);
	for (size_t i = 0; i < count; i++) {
		struct box box = make_box(&copies[i]);

		result = box__check(&box);
		if (!result)
			result = box__move(call, &box);
		if (result)
			return fail_at(failed, i, result);
	}
	return CUDA_SUCCESS;
}

/* Where the memory is does not matter here, but it must be allocated. */
static int visit(const struct sim_call *call, const CUdeviceptr *addresses, const size_t *sizes,
		 size_t count, CUstream handle)
{
	struct CUstream_st *stream = stream__get(call, handle);

	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!addresses || !sizes || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++)
		if (!memory__covers(addresses[i], sizes[i], false))
			return CUDA_ERROR_INVALID_VALUE;
	stream__issue(stream, WORK_OTHER, 0);
	return CUDA_SUCCESS;
}

#define BATCH CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,		\
	      CUmemcpyAttributes *attributes, size_t *indices, size_t nr_attributes
#define IGNORE_ATTRIBUTES (void)attributes, (void)indices, (void)nr_attributes
#define LOCATIONS CUmemLocation *locations, size_t *indices, size_t nr_locations,	\
		  unsigned long long flags
#define IGNORE_LOCATIONS (void)locations, (void)indices, (void)nr_locations, (void)flags

DRIVER_COPY_PTSZ(cuMemcpyBatchAsync, SIM_DEFAULT, (BATCH, size_t *failed, CUstream stream),
		 sum(sizes, count),
		 (IGNORE_ATTRIBUTES, copy_batch(&call, to, from, sizes, count, failed, stream)));
DRIVER_COPY_PTSZ(cuMemcpyBatchAsync_v2, SIM_DEFAULT, (BATCH, CUstream stream),
		 sum(sizes, count),
		 (IGNORE_ATTRIBUTES, copy_batch(&call, to, from, sizes, count, NULL, stream)));
DRIVER_COPY_PTSZ(cuMemcpy3DBatchAsync, SIM_DEFAULT,
		 (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed,
		  unsigned long long flags, CUstream stream), sum_boxes(copies, count),
		 ((void)flags, copy_boxes(&call, copies, count, failed, stream)));
DRIVER_COPY_PTSZ(cuMemcpy3DBatchAsync_v2, SIM_DEFAULT,
		 (size_t count, CUDA_MEMCPY3D_BATCH_OP *copies, unsigned long long flags,
		  CUstream stream), sum_boxes(copies, count),
		 ((void)flags, copy_boxes(&call, copies, count, NULL, stream)));

DRIVER_PTSZ(cuMemPrefetchBatchAsync, SIM_OTHER, (CUdeviceptr *addresses, size_t *sizes,
						 size_t count, LOCATIONS, CUstream stream), 0,
	    (IGNORE_LOCATIONS, visit(&call, addresses, sizes, count, stream)));
DRIVER_PTSZ(cuMemDiscardBatchAsync, SIM_OTHER, (CUdeviceptr *addresses, size_t *sizes,
						size_t count, unsigned long long flags,
						CUstream stream), 0,
	    ((void)flags, visit(&call, addresses, sizes, count, stream)));
DRIVER_PTSZ(cuMemDiscardAndPrefetchBatchAsync, SIM_OTHER,
	    (CUdeviceptr *addresses, size_t *sizes, size_t count, LOCATIONS, CUstream stream), 0,
	    (IGNORE_LOCATIONS, visit(&call, addresses, sizes, count, stream)));
