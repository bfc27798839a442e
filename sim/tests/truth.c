// SPDX-License-Identifier: BSD-2-Clause
/*
 * The truth file's contents on devices, captures, pools, reservations, and objects that end with
 * their context.
 */
#include "check.h"

/* Creates one object of each kind that ends with its context, and of those that do not. */
static void fill_context(void)
{
	CUmemAllocationProp properties = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUDA_ARRAY_DESCRIPTOR descriptor = { 16, 2, CU_AD_FORMAT_FLOAT, 1 };
	static char mine[4096] __attribute__((aligned(4096)));
	CUmemGenericAllocationHandle physical;
	CUipcMemHandle handle;
	CUdeviceptr address;
	CUlibrary library;
	CUmodule module;
	CUstream stream;
	CUevent event;
	CUarray array;
	void *host;

	OK(cuMemAlloc(&address, 4096));
	OK(cuIpcGetMemHandle(&handle, address));
	OK(cuIpcOpenMemHandle(&address, handle, 1));
	OK(cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemHostAlloc(&host, 4096, 0));
	OK(cuMemHostRegister(mine, sizeof(mine), 0));
	OK(cuArrayCreate(&array, &descriptor));
	OK(cuStreamCreate(&stream, 0));
	OK(cuEventCreate(&event, 0));
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuLibraryLoadData(&library, two_kernels, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetGlobal(&address, NULL, library, "table"));
	OK(cuMemsetD8(address, 0, 64));
	OK(cuMemAllocAsync(&address, 4096, stream));
	OK(cuMemCreate(&physical, 2 << 20, &properties, 0));
	OK(cuMemAddressReserve(&address, 2 << 20, 0, 0, 0));
}

static void expect_emptied(int times)
{
	static const char *const kinds[] = { "device", "managed", "host", "array", "imported",
					     "registered" };

	for (int i = 0; i < 6; i++) {
		TOLD(0, "memory", kinds[i], "live_bytes");
		TOLD(times, "memory", kinds[i], "released_with_context");
	}
	TOLD(times, "objects", "stream", "with_context");
	TOLD(times, "objects", "event", "with_context");
	TOLD(times, "objects", "module", "with_context");
	TOLD(times, "objects", "library", "live");
	TOLD(times, "memory", "pool", "live_count");
	TOLD(times, "memory", "physical", "live_count");
	TOLD(times * (2ull << 20), "virtual", "reserved_bytes");
}

static void test_implicit_ends(void)
{
	CUcontext context = open_driver();
	CUdeviceptr address;

	fill_context();
	OK(cuCtxDestroy_v2(context));
	expect_emptied(1);
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	fill_context();
	OK(cuDevicePrimaryCtxReset(0));
	expect_emptied(2);
	fill_context();
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuDevicePrimaryCtxRelease(0));
	TOLD(4096, "memory", "device", "live_bytes");
	OK(cuDevicePrimaryCtxRelease(0));
	expect_emptied(3);
	FAILS(709, cuMemAlloc(&address, 1));
	FAILS(201, cuDevicePrimaryCtxRelease(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	fill_context();
	OK(cudaDeviceReset());
	expect_emptied(4);
	TOLD(2, "objects", "primary_context", "created");
	TOLD(1, "objects", "primary_context", "live");
}

static void test_truth_devices(void)
{
	static char pageable[4096];
	CUdeviceptr a, b, managed;
	CUcontext first, second;
	CUfunction function;
	CUmodule module;
	void *pinned;

	OK(cuInit(0));
	OK(cuCtxCreate_v2(&first, 0, 0));
	OK(cuMemAlloc(&a, 4096));
	OK(cuMemHostAlloc(&pinned, 4096, 0));
	OK(cuMemcpyHtoD(a, pageable, 100));
	OK(cuMemcpyDtoH(pinned, a, 200));
	OK(cuMemsetD8(a, 1, 300));
	FAILS(1, cuMemcpyHtoD(a, pageable, 5000));
	OK(cuCtxCreate_v2(&second, 0, 1));
	OK(cuMemAlloc(&b, 8192));
	OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemcpy((uintptr_t)pageable, b, 10));
	OK(cuMemcpy(a, (uintptr_t)pinned, 20));
	OK(cuMemcpyPeer(b, second, a, first, 40));
	OK(cuMemcpy((uintptr_t)pageable, (uintptr_t)pinned, 80));
	OK(cuMemcpyDtoH((void *)(uintptr_t)managed, b, 160));
	OK(cuMemcpy(managed, b, 320));
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&function, module, "first"));
	for (int i = 0; i < 3; i++)
		OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	FAILS(1, cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	TOLD(0, "devices", "0", "launches");
	TOLD(3, "devices", "0", "copies_calls");
	TOLD(1, "devices", "0", "copies_failures");
	TOLD(300, "devices", "0", "copies_bytes");
	TOLD(300, "devices", "0", "sets_bytes");
	TOLD(4096, "devices", "0", "memory", "device", "live_bytes");
	TOLD(1, "devices", "0", "memory", "host", "live_count");
	TOLD(4, "devices", "1", "launches");
	TOLD(1, "devices", "1", "failed");
	TOLD(630, "devices", "1", "copies_bytes");
	TOLD(8192, "devices", "1", "memory", "device", "live_bytes");
	TOLD(100, "copy_sides", "H2D", "pageable", "bytes");
	TOLD(20, "copy_sides", "H2D", "pinned", "bytes");
	TOLD(200, "copy_sides", "D2H", "pinned", "bytes");
	TOLD(10, "copy_sides", "D2H", "pageable", "bytes");
	TOLD(160, "copy_sides", "D2H", "managed", "bytes");
	TOLD(360, "copy_sides", "D2D", "bytes");
	TOLD(80, "copy_sides", "H2H", "bytes");
	TOLD(10 + 200 + 160, "executed_copies", "driver", "D2H", "sync", "bytes");
	TOLD(100 + 20, "executed_copies", "driver", "H2D", "sync", "bytes");
	TOLD(320, "executed_copies", "driver", "D2D", "sync", "bytes");
	TOLD(0, "executed_copies", "driver", "default", "sync", "calls");
	OK(cudaMemcpy(pageable, (void *)(uintptr_t)b, 7, cudaMemcpyDefault));
	TOLD(7, "executed_copies", "runtime", "D2H", "sync", "bytes");
	TOLD(0, "executed_copies", "runtime", "default", "sync", "calls");
	OK(cuCtxDestroy_v2(second));
	TOLD(0, "devices", "1", "memory", "device", "live_bytes");
	TOLD(8192, "devices", "1", "memory", "device", "bytes_released_with_context");
	TOLD(2, "objects", "context", "created");
	TOLD(1, "objects", "context", "destroyed");
	TOLD(1, "objects", "module", "with_context");
	TOLD(0, "objects", "module", "live");
}

static void test_truth_capture(void)
{
	CUstream stream, other;
	static char host[64];
	CUdeviceptr address;
	CUfunction function;
	CUgraphExec exec;
	CUmodule module;
	CUgraph graph;
	CUevent event;

	open_driver();
	OK(cuMemAlloc(&address, 4096));
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&function, module, "first"));
	OK(cuStreamCreate(&stream, 0));
	OK(cuStreamCreate(&other, 0));
	OK(cuEventCreate(&event, 0));
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	OK(cuEventRecord(event, stream));
	FAILS(907, cuEventSynchronize(event));
	OK(cuStreamWaitEvent(other, event, 0));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
	OK(cuMemcpyHtoDAsync(address, host, 64, other));
	OK(cuMemsetD8Async(address, 0, 32, stream));
	OK(cudaMemsetAsync((void *)(uintptr_t)address, 0, 16, stream));
	OK(cuMemcpyHtoD(address, host, 8));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < 5; i++)
		OK(cuGraphLaunch(exec, stream));
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	OK(cuEventRecord(event, stream));
	OK(cuEventSynchronize(event));
	OK(cuStreamQuery(stream));
	TOLD(2, "captured", "launches");
	TOLD(1, "captured", "graph_launches");
	TOLD(64, "captured", "copies_bytes");
	TOLD(2, "captured", "sets_calls");
	TOLD(48, "captured", "sets_bytes");
	TOLD(3, "devices", "0", "launches");
	TOLD(2, "devices", "0", "captured");
	TOLD(8, "devices", "0", "copies_bytes");
	TOLD(6, "devices", "0", "graph_launches");
	TOLD(64, "copies", "driver", "H2D", "async", "captured_bytes");
	TOLD(0, "copies", "driver", "H2D", "async", "bytes");
	TOLD(16, "copies", "runtime", "set", "async", "captured_bytes");
	TOLD(6, "graphs", "launches");
	TOLD(12, "graphs", "kernels");
	TOLD(2, "objects", "graph", "created");
	TOLD(2, "objects", "graph_exec", "live");
	TOLD(2, "waits", "event", "calls");
	TOLD(1, "waits", "event", "failures");
	TOLD(1, "queries", "stream", "ready");
}

static void test_truth_pools(void)
{
	CUmemPoolProps properties = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	uint64_t threshold = 40 << 20, step = 32 << 20, reserved;
	CUcontext context = open_driver();
	CUdeviceptr a, b;
	CUmemoryPool pool;

	OK(cuMemPoolCreate(&pool, &properties));
	OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	OK(cuMemAllocFromPoolAsync(&a, 100 << 20, pool, NULL));
	OK(cuMemAllocFromPoolAsync(&b, 512, pool, NULL));
	OK(cuMemFreeAsync(a, NULL));
	TOLD(512, "pools", "default", "default", "used_bytes");
	TOLD(4 * step, "pools", "default", "default", "reserved_bytes");
	OK(cuMemPoolTrimTo(pool, 90 << 20));
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
	EXPECT(reserved == 3 * step);
	OK(cuCtxSynchronize());
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
	EXPECT(reserved == 2 * step);
	OK(cuMemPoolTrimTo(pool, 0));
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
	EXPECT(reserved == step);
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &reserved));
	EXPECT(reserved == 4 * step);
	OK(cuCtxDestroy_v2(context));
	TOLD(512, "memory", "pool", "live_bytes");	/* outlives the context */
	open_driver();
	OK(cuMemPoolDestroy(pool));
	FAILS(400, cuMemAllocFromPoolAsync(&a, 1, pool, NULL));
	OK(cuMemFree(b));
	TOLD(0, "memory", "pool", "live_bytes");
	TOLD(1, "objects", "pool", "destroyed");
}

static void test_truth_virtual(void)
{
	CUmemAllocationProp properties = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUmemGenericAllocationHandle handle, again;
	CUcontext context = open_driver();
	const size_t unit = 2 << 20;
	CUdeviceptr range;

	OK(cuMemAddressReserve(&range, 4 * unit, 0, 0, 0));
	OK(cuMemCreate(&handle, unit, &properties, 0));
	OK(cuMemMap(range, unit, 0, handle, 0));
	OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)range));
	EXPECT(again == handle);
	TOLD(4 * unit, "virtual", "reserved_bytes");
	TOLD(unit, "virtual", "mapped_bytes");
	TOLD(unit, "virtual", "physical_bytes");
	TOLD(2, "virtual", "physical_handles");
	OK(cuCtxDestroy_v2(context));
	TOLD(unit, "virtual", "mapped_bytes");		/* outlives the context */
	open_driver();
	OK(cuMemRelease(handle));
	OK(cuMemRelease(handle));
	TOLD(unit, "virtual", "physical_bytes");	/* still mapped */
	TOLD(0, "virtual", "physical_handles");
	OK(cuMemUnmap(range, unit));
	TOLD(0, "virtual", "physical_bytes");
	TOLD(0, "devices", "memory", "physical", "live_bytes");
	OK(cuMemAddressFree(range, 4 * unit));
	TOLD(0, "virtual", "reserved_bytes");
}

const struct test truth_tests[] = {
	{ "implicit_ends", test_implicit_ends, NULL, NULL },
	{ "truth_devices", test_truth_devices, "CUDA_SIM_DEVICES", "2" },
	{ "truth_capture", test_truth_capture, NULL, NULL },
	{ "truth_pools", test_truth_pools, NULL, NULL },
	{ "truth_virtual", test_truth_virtual, NULL, NULL },
	{ NULL, NULL, NULL, NULL },
};
