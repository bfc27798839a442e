// SPDX-License-Identifier: BSD-2-Clause
// The offsets of gpuprobe/copy_params.h, compared with the compiler's layout of the structures.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../sim/include/cuda_driver_types.h"
#include "../../../sim/include/cuda_v1_types.h"
#include "../../../sim/include/cuda_runtime_types.h"
#include "gpuprobe/copy_params.h"
#include "gpuprobe/function.h"

/* As in driver_types.h of CUDA 13.0. */
struct peer_parms {
	void *srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	int srcDevice;
	void *dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	int dstDevice;
	struct cudaExtent extent;
};

struct batch_operand {
	int type;
	union {
		struct {
			void *ptr;
			size_t rowLength;
			size_t layerHeight;
			struct cudaMemLocation locHint;
		} ptr;
		struct {
			void *array;
			struct {
				size_t x, y, z;
			} offset;
		} array;
	} op;
};

struct batch_op {
	struct batch_operand src;
	struct batch_operand dst;
	struct cudaExtent extent;
	int srcAccessOrder;
	unsigned int flags;
};

#define AT(type, member, offset) assert_int_equal(offsetof(type, member), offset)

static void test_driver_structures(void **state)
{
	(void)state;
	AT(CUDA_MEMCPY2D, srcMemoryType, MEMCPY2D_SRC_TYPE);
	AT(CUDA_MEMCPY2D, dstMemoryType, MEMCPY2D_DST_TYPE);
	AT(CUDA_MEMCPY2D, WidthInBytes, MEMCPY2D_WIDTH);
	AT(CUDA_MEMCPY2D, Height, MEMCPY2D_WIDTH + 8);
	AT(CUDA_MEMCPY3D, srcMemoryType, MEMCPY3D_SRC_TYPE);
	AT(CUDA_MEMCPY3D, dstMemoryType, MEMCPY3D_DST_TYPE);
	AT(CUDA_MEMCPY3D, WidthInBytes, MEMCPY3D_WIDTH);
	AT(CUDA_MEMCPY3D, Height, MEMCPY3D_WIDTH + 8);
	AT(CUDA_MEMCPY3D, Depth, MEMCPY3D_WIDTH + 16);
	AT(CUDA_MEMCPY3D_PEER, srcMemoryType, MEMCPY3D_SRC_TYPE);
	AT(CUDA_MEMCPY3D_PEER, dstMemoryType, MEMCPY3D_DST_TYPE);
	AT(CUDA_MEMCPY3D_PEER, WidthInBytes, MEMCPY3D_WIDTH);
	AT(CUDA_MEMCPY3D_PEER, Height, MEMCPY3D_WIDTH + 8);
	AT(CUDA_MEMCPY3D_PEER, Depth, MEMCPY3D_WIDTH + 16);
	/* They are read as 32 bits. */
	assert_int_equal(sizeof(CUmemorytype), 4);
}

static void test_first_forms(void **state)
{
	(void)state;
	AT(CUDA_MEMCPY2D_v1, srcMemoryType, MEMCPY2D_V1_SRC_TYPE);
	AT(CUDA_MEMCPY2D_v1, srcHost, MEMCPY2D_V1_SRC_HOST);
	AT(CUDA_MEMCPY2D_v1, srcDevice, MEMCPY2D_V1_SRC_DEVICE);
	AT(CUDA_MEMCPY2D_v1, dstMemoryType, MEMCPY2D_V1_DST_TYPE);
	AT(CUDA_MEMCPY2D_v1, dstHost, MEMCPY2D_V1_DST_HOST);
	AT(CUDA_MEMCPY2D_v1, dstDevice, MEMCPY2D_V1_DST_DEVICE);
	AT(CUDA_MEMCPY2D_v1, WidthInBytes, MEMCPY2D_V1_WIDTH);
	AT(CUDA_MEMCPY2D_v1, Height, MEMCPY2D_V1_WIDTH + 4);
	AT(CUDA_MEMCPY3D_v1, srcMemoryType, MEMCPY3D_V1_SRC_TYPE);
	AT(CUDA_MEMCPY3D_v1, srcHost, MEMCPY3D_V1_SRC_HOST);
	AT(CUDA_MEMCPY3D_v1, srcDevice, MEMCPY3D_V1_SRC_DEVICE);
	AT(CUDA_MEMCPY3D_v1, dstMemoryType, MEMCPY3D_V1_DST_TYPE);
	AT(CUDA_MEMCPY3D_v1, dstHost, MEMCPY3D_V1_DST_HOST);
	AT(CUDA_MEMCPY3D_v1, dstDevice, MEMCPY3D_V1_DST_DEVICE);
	AT(CUDA_MEMCPY3D_v1, WidthInBytes, MEMCPY3D_V1_WIDTH);
	AT(CUDA_MEMCPY3D_v1, Height, MEMCPY3D_V1_WIDTH + 4);
	AT(CUDA_MEMCPY3D_v1, Depth, MEMCPY3D_V1_WIDTH + 8);
}

static void test_runtime_structures(void **state)
{
	(void)state;
	AT(struct cudaExtent, width, 0);
	AT(struct cudaExtent, height, 8);
	AT(struct cudaExtent, depth, 16);
	AT(struct cudaMemcpy3DParms, srcArray, PARMS_SRC_ARRAY);
	AT(struct cudaMemcpy3DParms, dstArray, PARMS_DST_ARRAY);
	AT(struct cudaMemcpy3DParms, extent, PARMS_EXTENT_AT);
	AT(struct cudaMemcpy3DParms, kind, PARMS_KIND);
	assert_int_equal(sizeof(enum cudaMemcpyKind), 4);
	AT(struct peer_parms, srcArray, PARMS_SRC_ARRAY);
	AT(struct peer_parms, dstArray, PEER_DST_ARRAY);
	AT(struct peer_parms, dstPtr, PEER_DST_PTR);
	AT(struct peer_parms, extent, PEER_EXTENT_AT);
	AT(struct batch_op, src.type, BATCH_OP_SRC_TYPE);
	AT(struct batch_op, dst.type, BATCH_OP_DST_TYPE);
	AT(struct batch_op, extent, BATCH_OP_EXTENT_AT);
	assert_int_equal(sizeof(struct batch_op), BATCH_OP_SIZE);
}

/* enum copy_kind begins with the values of cudaMemcpyKind. */
static void test_kinds(void **state)
{
	(void)state;
	assert_int_equal(cudaMemcpyHostToHost, COPY_H2H);
	assert_int_equal(cudaMemcpyHostToDevice, COPY_H2D);
	assert_int_equal(cudaMemcpyDeviceToHost, COPY_D2H);
	assert_int_equal(cudaMemcpyDeviceToDevice, COPY_D2D);
	assert_int_equal(cudaMemcpyDefault, COPY_DEFAULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_driver_structures),
		cmocka_unit_test(test_first_forms),
		cmocka_unit_test(test_runtime_structures),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests_name("copy_params", tests, NULL, NULL);
}
