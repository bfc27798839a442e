// SPDX-License-Identifier: BSD-2-Clause
/* Memsets of 8, 16 and 32 bits, one- and two-dimensional. */
#include "cuda/copy.h"

#include <string.h>

struct fill {
	uint64_t address;
	uint64_t pitch;
	size_t width;		/* elements per row */
	size_t height;
	uint32_t value;
	unsigned int element;	/* its size in bytes */
};

static void fill_row(char *row, const struct fill *fill)
{
	if (fill->element == 1) {
		memset(row, (int)fill->value, fill->width);
		return;
	}
	for (size_t i = 0; i < fill->width; i++)
		memcpy(row + i * fill->element, &fill->value, fill->element);
}

static int check(const struct fill *fill)
{
	size_t row = fill->width * fill->element;

	if (!fill->width || !fill->height)
		return CUDA_SUCCESS;
	if (fill->address % fill->element || (fill->height > 1 && fill->pitch < row))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t y = 0; y < fill->height; y++)
		if (!memory__covers(fill->address + y * fill->pitch, row, true))
			return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static int fill_rows(const struct fill *fill)
{
	for (size_t y = 0; y < fill->height; y++)
		fill_row((char *)(uintptr_t)(fill->address + y * fill->pitch), fill);
	return CUDA_SUCCESS;
}

static int fill_now(struct sim_call *call, struct fill fill)
{
	int result = check(&fill);

	if (result)
		return result;
	stream__wait_default(call, WORK_SET);
	return fill_rows(&fill);
}

static int fill_later(struct sim_call *call, struct fill fill, CUstream stream)
{
	int result = check(&fill);

	if (!result)
		result = copy__begin(call, stream, CU_GRAPH_NODE_TYPE_MEMSET);
	return result || call->captured ? result : fill_rows(&fill);
}

#define ROW(size) ((struct fill){ address, 0, count, 1, value, size })
#define ROWS(size) ((struct fill){ address, pitch, width, height, value, size })

/* The six functions for one element size; the synchronous ones are called _v2. */
#define MEMSETS(bits, type)								\
	DRIVER_COPY_PTDS(cuMemsetD##bits##_v2, SIM_SET,					\
			 (CUdeviceptr address, type value, size_t count),		\
			 count * sizeof(type), fill_now(&call, ROW(sizeof(type))));	\
	DRIVER_COPY_PTSZ(cuMemsetD##bits##Async, SIM_SET,				\
			 (CUdeviceptr address, type value, size_t count, CUstream stream), \
			 count * sizeof(type),						\
			 fill_later(&call, ROW(sizeof(type)), stream));			\
	DRIVER_COPY_PTDS(cuMemsetD2D##bits##_v2, SIM_SET,				\
			 (CUdeviceptr address, size_t pitch, type value, size_t width,	\
			  size_t height), width * height * sizeof(type),		\
			 fill_now(&call, ROWS(sizeof(type))));				\
	DRIVER_COPY_PTSZ(cuMemsetD2D##bits##Async, SIM_SET,				\
			 (CUdeviceptr address, size_t pitch, type value, size_t width,	\
			  size_t height, CUstream stream),				\
			 width * height * sizeof(type),					\
			 fill_later(&call, ROWS(sizeof(type)), stream))

/* The first forms, with 32-bit addresses and sizes. */
#define V1_MEMSETS(bits, type)								\
	DRIVER_COPY(cuMemsetD##bits, SIM_SET, SIM_SYNCHRONOUS,				\
		    (CUdeviceptr_v1 address, type value, unsigned int count),		\
		    (uint64_t)count * sizeof(type), false,				\
		    fill_now(&call, ROW(sizeof(type))));				\
	DRIVER_COPY(cuMemsetD2D##bits, SIM_SET, SIM_SYNCHRONOUS,			\
		    (CUdeviceptr_v1 address, unsigned int pitch, type value,		\
		     unsigned int width, unsigned int height),				\
		    (uint64_t)width * height * sizeof(type), false,			\
		    fill_now(&call, ROWS(sizeof(type))))

V1_MEMSETS(8, unsigned char);
V1_MEMSETS(16, unsigned short);
V1_MEMSETS(32, unsigned int);
MEMSETS(8, unsigned char);
MEMSETS(16, unsigned short);
MEMSETS(32, unsigned int);
