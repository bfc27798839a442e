// SPDX-License-Identifier: BSD-2-Clause
/*
 * The first forms of driver functions, with 32-bit device addresses, and the launch functions from
 * before CUDA 4.
 */
#define __CUDA_API_VERSION_INTERNAL
#include "check.h"

static void test_memory(void)
{
	char out[64] = "some bytes", in[64] = "";
	CUDA_MEMCPY2D_v1 rows = {
		.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = out, .srcPitch = 16,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstPitch = 16, .WidthInBytes = 16,
		.Height = 4,
	};
	CUDA_ARRAY_DESCRIPTOR_v1 descriptor = { 16, 2, CU_AD_FORMAT_UNSIGNED_INT8, 1 };
	unsigned int available, total, size;
	CUdeviceptr_v1 a, base;
	CUarray array;
	void *host;

	open_driver();
	OK(cuMemAlloc(&a, 4096));
	OK(cuMemGetAddressRange(&base, &size, a + 100));
	EXPECT(base == a && size == 4096);
	OK(cuMemGetInfo(&available, &total));
	EXPECT(total == UINT32_MAX);
	OK(cuMemcpyHtoD(a, out, 64));
	OK(cuMemcpyDtoH(in, a, 64));
	EXPECT(!strcmp(in, out));
	OK(cuMemsetD8(a, 7, 64));
	OK(cuMemcpyDtoHAsync(in, a, 64, NULL));
	EXPECT(in[63] == 7);
	rows.dstDevice = a;
	OK(cuMemcpy2D(&rows));
	OK(cuArrayCreate(&array, &descriptor));
	OK(cuMemcpyDtoA(array, 16, a, 16));
	OK(cuMemcpyAtoH(in, array, 16, 16));
	EXPECT(!strcmp(in, out));
	OK(cuMemAllocHost(&host, 4096));
	OK(cuMemFreeHost(host));
	TOLD(4096, "memory", "device", "live_bytes");
	TOLD(128, "copies", "driver", "H2D", "sync", "bytes");
	OK(cuMemFree(a));
	FAILS(1, cuMemFree(a));
}

static void test_launches(void)
{
	CUfunction function;
	CUmodule module;
	CUstream stream;

	open_driver();
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&function, module, "first"));
	OK(cuFuncSetBlockShape(function, 64, 2, 1));
	OK(cuParamSetSize(function, 8));
	OK(cuParamSeti(function, 0, 1));
	OK(cuStreamCreate(&stream, 0));
	OK(cuLaunch(function));
	OK(cuLaunchGrid(function, 4, 4));
	OK(cuLaunchGridAsync(function, 4, 4, stream));
	FAILS(1, cuLaunchGrid(function, 0, 4));
	OK(cuFuncSetBlockShape(function, 64, 64, 1));
	FAILS(1, cuLaunch(function));
	TOLD(5, "kernels", "first", "launches");
	TOLD(2, "kernels", "first", "failed");
}

const struct test v1_tests[] = {
	{ "first_forms_memory", test_memory, NULL, NULL },
	{ "first_forms_launches", test_launches, NULL, NULL },
	{ NULL, NULL, NULL, NULL },
};
