// SPDX-License-Identifier: BSD-2-Clause
/* Two- and three-dimensional copies, row by row. */
#include "cuda/copy.h"

/* The sides of each structure have the same members with two prefixes; 2D ones have no depth. */
#define SIDE(copy, side, z, rows)							\
	make_side((copy)->side##MemoryType, (copy)->side##Host, (copy)->side##Device,	\
		  (copy)->side##Array, (copy)->side##Pitch, rows,			\
		  (copy)->side##XInBytes, (copy)->side##Y, z)

static struct side make_side(CUmemorytype type, const void *host, CUdeviceptr device,
			     CUarray array, size_t pitch, size_t rows, size_t x, size_t y,
			     size_t z)
{
	struct side side = { .type = type, .pitch = pitch, .height = rows };

	if (type == CU_MEMORYTYPE_ARRAY) {
		array__side(array, x, y, z, &side);
		return side;
	}
	side.address = type == CU_MEMORYTYPE_HOST ? (uintptr_t)host : device;
	if (side.address)
		side.address += (z * rows + y) * pitch + x;
	return side;
}

#define FROM_2D(copy)									\
	({										\
		struct box box_ = { .depth = 1 };					\
											\
		if (copy) {								\
			box_.to = SIDE(copy, dst, 0, 0);				\
			box_.from = SIDE(copy, src, 0, 0);				\
			box_.width = (copy)->WidthInBytes;				\
			box_.height = (copy)->Height;					\
		}									\
		box_;									\
	})
#define FROM_3D(copy)									\
	({										\
		struct box box_ = { 0 };						\
											\
		if (copy) {								\
			box_.to = SIDE(copy, dst, (copy)->dstZ, (copy)->dstHeight);	\
			box_.from = SIDE(copy, src, (copy)->srcZ, (copy)->srcHeight);	\
			box_.width = (copy)->WidthInBytes;				\
			box_.height = (copy)->Height;					\
			box_.depth = (copy)->Depth;					\
		}									\
		box_;									\
	})

uint64_t box__bytes(const struct box *box)
{
	return box->width * box->height * box->depth;
}

static uint64_t bytes(struct box box)
{
	return box__bytes(&box);
}

static enum sim_copy_kind kind(struct box box)
{
	bool to_host = box.to.type == CU_MEMORYTYPE_HOST;
	bool from_host = box.from.type == CU_MEMORYTYPE_HOST;

	if (box.to.type == CU_MEMORYTYPE_UNIFIED || box.from.type == CU_MEMORYTYPE_UNIFIED)
		return SIM_DEFAULT;
	if (to_host)
		return from_host ? SIM_H2H : SIM_D2H;
	return from_host ? SIM_H2D : SIM_D2D;
}

int box__check(const struct box *box)
{
	const struct side *sides[] = { &box->to, &box->from };

	for (int i = 0; i < 2; i++) {
		const struct side *side = sides[i];

		if (side->type == CU_MEMORYTYPE_ARRAY && !side->address)
			return CUDA_ERROR_INVALID_HANDLE;
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

int box__move(struct sim_call *call, const struct box *box)
{
	int result = move(box);

	if (!result)
		copy__note(call, box->to.type, box->to.address, box->from.type,
			   box->from.address, box__bytes(box));
	return result;
}

static int copy_now(struct sim_call *call, struct box box)
{
	int result = box__check(&box);

	if (result)
		return result;
	stream__wait_default(call, WORK_COPY);
	return box__move(call, &box);
}

static int copy_later(struct sim_call *call, struct box box, CUstream stream)
{
	int result = box__check(&box);

	if (!result)
		result = copy__begin(call, stream, CU_GRAPH_NODE_TYPE_MEMCPY);
	return result || call->captured ? result : box__move(call, &box);
}

DRIVER_COPY_PTDS(cuMemcpy2D_v2, kind(FROM_2D(copy)), (const CUDA_MEMCPY2D *copy),
		 bytes(FROM_2D(copy)), copy_now(&call, FROM_2D(copy)));
DRIVER_COPY_PTDS(cuMemcpy2DUnaligned_v2, kind(FROM_2D(copy)), (const CUDA_MEMCPY2D *copy),
		 bytes(FROM_2D(copy)), copy_now(&call, FROM_2D(copy)));
DRIVER_COPY_PTSZ(cuMemcpy2DAsync_v2, kind(FROM_2D(copy)), (const CUDA_MEMCPY2D *copy,
							   CUstream stream),
		 bytes(FROM_2D(copy)), copy_later(&call, FROM_2D(copy), stream));
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

/* The first forms, with 32-bit device addresses and sizes. */
DRIVER_COPY(cuMemcpy2D, kind(FROM_2D(copy)), SIM_SYNCHRONOUS, (const CUDA_MEMCPY2D_v1 *copy),
	    bytes(FROM_2D(copy)), false, copy_now(&call, FROM_2D(copy)));
DRIVER_COPY(cuMemcpy2DUnaligned, kind(FROM_2D(copy)), SIM_SYNCHRONOUS,
	    (const CUDA_MEMCPY2D_v1 *copy), bytes(FROM_2D(copy)), false,
	    copy_now(&call, FROM_2D(copy)));
DRIVER_COPY(cuMemcpy2DAsync, kind(FROM_2D(copy)), SIM_ASYNCHRONOUS,
	    (const CUDA_MEMCPY2D_v1 *copy, CUstream stream), bytes(FROM_2D(copy)), false,
	    copy_later(&call, FROM_2D(copy), stream));
DRIVER_COPY(cuMemcpy3D, kind(FROM_3D(copy)), SIM_SYNCHRONOUS, (const CUDA_MEMCPY3D_v1 *copy),
	    bytes(FROM_3D(copy)), false, copy_now(&call, FROM_3D(copy)));
DRIVER_COPY(cuMemcpy3DAsync, kind(FROM_3D(copy)), SIM_ASYNCHRONOUS,
	    (const CUDA_MEMCPY3D_v1 *copy, CUstream stream), bytes(FROM_3D(copy)), false,
	    copy_later(&call, FROM_3D(copy), stream));
