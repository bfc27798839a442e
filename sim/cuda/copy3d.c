// SPDX-License-Identifier: BSD-2-Clause
/*
 * Copies of two and three dimensions, row by row. Arrays are not simulated.
 */
#include "cuda/copy.h"

/* One side of a copy, or both turned into the same form. */
struct side {
	CUmemorytype type;
	uint64_t address;
	size_t pitch;
	size_t height;
};

struct box {
	struct side to;
	struct side from;
	size_t width;
	size_t height;
	size_t depth;
};

static struct side make_side(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
			     size_t height)
{
	return (struct side){
		.type = type,
		.address = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : device,
		.pitch = pitch,
		.height = height,
	};
}

static struct box from_2d(const CUDA_MEMCPY2D *copy)
{
	struct box box = { .depth = 1 };

	if (!copy)
		return box;
	box.to = make_side(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstPitch, 0);
	box.from = make_side(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcPitch,
			     0);
	box.to.address += copy->dstY * copy->dstPitch + copy->dstXInBytes;
	box.from.address += copy->srcY * copy->srcPitch + copy->srcXInBytes;
	box.width = copy->WidthInBytes;
	box.height = copy->Height;
	return box;
}

/* CUDA_MEMCPY3D and its peer form name these members alike. */
#define FROM_3D(copy)									\
	({										\
		struct box box_ = { 0 };						\
											\
		if (copy) {								\
			box_.to = make_side((copy)->dstMemoryType, (copy)->dstHost,	\
					    (copy)->dstDevice, (copy)->dstPitch,	\
					    (copy)->dstHeight);				\
			box_.from = make_side((copy)->srcMemoryType, (copy)->srcHost,	\
					      (copy)->srcDevice, (copy)->srcPitch,	\
					      (copy)->srcHeight);			\
			box_.to.address += ((copy)->dstZ * (copy)->dstHeight +		\
					    (copy)->dstY) * (copy)->dstPitch +		\
					   (copy)->dstXInBytes;				\
			box_.from.address += ((copy)->srcZ * (copy)->srcHeight +	\
					      (copy)->srcY) * (copy)->srcPitch +	\
					     (copy)->srcXInBytes;			\
			box_.width = (copy)->WidthInBytes;				\
			box_.height = (copy)->Height;					\
			box_.depth = (copy)->Depth;					\
		}									\
		box_;									\
	})

static uint64_t bytes(struct box box)
{
	return box.width * box.height * box.depth;
}

static enum sim_copy_kind kind(struct box box)
{
	if (box.to.type == CU_MEMORYTYPE_HOST)
		return box.from.type == CU_MEMORYTYPE_HOST ? SIM_H2H : SIM_D2H;
	if (box.to.type == CU_MEMORYTYPE_DEVICE && box.from.type != CU_MEMORYTYPE_UNIFIED)
		return box.from.type == CU_MEMORYTYPE_HOST ? SIM_H2D : SIM_D2D;
	return SIM_DEFAULT;
}

static int check(const struct box *box)
{
	const struct side *sides[] = { &box->to, &box->from };

	for (int i = 0; i < 2; i++) {
		const struct side *side = sides[i];

		if (side->type == CU_MEMORYTYPE_ARRAY)
			return CUDA_ERROR_NOT_SUPPORTED;
		if (side->type < CU_MEMORYTYPE_HOST || side->type > CU_MEMORYTYPE_UNIFIED)
			return CUDA_ERROR_INVALID_VALUE;
		if (box->height > 1 && side->pitch < box->width)
			return CUDA_ERROR_INVALID_VALUE;
		if (box->depth > 1 && side->height < box->height)
			return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

static int move(const struct box *box)
{
	int result = CUDA_SUCCESS;

	for (size_t z = 0; !result && z < box->depth; z++) {
		for (size_t y = 0; !result && y < box->height; y++)
			result = copy__move(box->to.address +
					    (z * box->to.height + y) * box->to.pitch,
					    box->from.address +
					    (z * box->from.height + y) * box->from.pitch,
					    box->width);
	}
	return result;
}

static void note(const struct sim_call *call, const struct box *box)
{
	copy__note(call, box->to.type, box->to.address, box->from.type, box->from.address,
		   call->bytes);
}

static int copy_now(struct sim_call *call, struct box box)
{
	int result = check(&box);

	if (result)
		return result;
	stream__wait_default(call);
	result = move(&box);
	if (!result)
		note(call, &box);
	return result;
}

static int copy_later(struct sim_call *call, struct box box, CUstream stream)
{
	int result = check(&box);

	if (!result)
		result = copy__begin(call, stream, CU_GRAPH_NODE_TYPE_MEMCPY);
	if (!result && !call->captured)
		result = move(&box);
	if (!result && !call->captured)
		note(call, &box);
	return result;
}

DRIVER_COPY_PTDS(cuMemcpy2D_v2, kind(from_2d(copy)), (const CUDA_MEMCPY2D *copy),
		 bytes(from_2d(copy)), copy_now(&call, from_2d(copy)));
DRIVER_COPY_PTDS(cuMemcpy2DUnaligned_v2, kind(from_2d(copy)), (const CUDA_MEMCPY2D *copy),
		 bytes(from_2d(copy)), copy_now(&call, from_2d(copy)));
DRIVER_COPY_PTSZ(cuMemcpy2DAsync_v2, kind(from_2d(copy)), (const CUDA_MEMCPY2D *copy,
							   CUstream stream),
		 bytes(from_2d(copy)), copy_later(&call, from_2d(copy), stream));
DRIVER_COPY_PTDS(cuMemcpy3D_v2, kind(FROM_3D(copy)), (const CUDA_MEMCPY3D *copy),
		 bytes(FROM_3D(copy)), copy_now(&call, FROM_3D(copy)));
DRIVER_COPY_PTSZ(cuMemcpy3DAsync_v2, kind(FROM_3D(copy)), (const CUDA_MEMCPY3D *copy,
							   CUstream stream),
		 bytes(FROM_3D(copy)), copy_later(&call, FROM_3D(copy), stream));
DRIVER_COPY_PTDS(cuMemcpy3DPeer, SIM_P2P, (const CUDA_MEMCPY3D_PEER *copy),
		 bytes(FROM_3D(copy)), copy_now(&call, FROM_3D(copy)));
DRIVER_COPY_PTSZ(cuMemcpy3DPeerAsync, SIM_P2P, (const CUDA_MEMCPY3D_PEER *copy,
						CUstream stream),
		 bytes(FROM_3D(copy)), copy_later(&call, FROM_3D(copy), stream));
