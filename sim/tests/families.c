// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rarer families: arrays, batches, green contexts, shared handles, memory that streams write,
 * and how the runtime uses the driver.
 */
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static void test_arrays(void)
{
	const struct cudaChannelFormatDesc desc = { 32, 0, 0, 0, cudaChannelFormatKindFloat };
	struct cudaMemcpy3DParms copy = { .extent = { 4, 2, 3 } };
	char in[96] = "", out[96];
	cudaArray_t array, volume;
	cudaMipmappedArray_t mipmap;
	cudaArray_t level;
	struct cudaExtent extent;

	for (int i = 0; i < 96; i++)
		out[i] = (char)i;
	OK(cudaMallocArray(&array, &desc, 8, 2, 0));
	TOLD(64, "memory", "array", "live_bytes");
	OK(cudaMemcpy2DToArray(array, 8, 0, out, 16, 16, 2, cudaMemcpyHostToDevice));
	OK(cudaMemcpy2DFromArray(in, 16, array, 8, 0, 16, 2, cudaMemcpyDeviceToHost));
	EXPECT(!memcmp(in, out, 32));
	FAILS(1, cudaMemcpy2DToArray(array, 24, 1, out, 16, 16, 2, cudaMemcpyHostToDevice));
	OK(cudaMemcpyToArray(array, 4, 1, out + 40, 8, cudaMemcpyHostToDevice));
	OK(cudaMemcpyFromArray(in, array, 4, 1, 8, cudaMemcpyDefault));
	EXPECT(!memcmp(in, out + 40, 8));
	OK(cudaMalloc3DArray(&volume, &desc, (struct cudaExtent){ 4, 2, 3 }, 0));
	copy.srcPtr = (struct cudaPitchedPtr){ out, 16, 4, 2 };
	copy.dstArray = volume;
	copy.kind = cudaMemcpyHostToDevice;
	OK(cudaMemcpy3D(&copy));
	copy = (struct cudaMemcpy3DParms){
		.srcArray = volume, .srcPos = { 1, 0, 1 }, .extent = { 3, 2, 2 },
		.dstPtr = { in, 12, 3, 2 }, .kind = cudaMemcpyDeviceToHost,
	};
	OK(cudaMemcpy3D(&copy));
	EXPECT(!memcmp(in, out + 36, 12) && !memcmp(in + 12, out + 52, 12));
	TOLD(32 + 8 + 96, "copy_sides", "H2D", "pageable", "bytes");
	TOLD(32 + 8 + 48, "copy_sides", "D2H", "pageable", "bytes");
	TOLD(96 + 48, "runtime", "cudaMemcpy3D", "bytes");
	OK(cudaMallocMipmappedArray(&mipmap, &desc, (struct cudaExtent){ 8, 4, 0 }, 3, 0));
	TOLD(64 + 96 + 4 * (32 + 8 + 2), "memory", "array", "live_bytes");
	OK(cudaGetMipmappedArrayLevel(&level, mipmap, 1));
	OK(cudaArrayGetInfo(NULL, &extent, NULL, level));
	EXPECT(extent.width == 4 && extent.height == 2);
	OK(cudaFreeMipmappedArray(mipmap));
	OK(cudaFreeArray(array));
	OK(cudaFreeArray(volume));
	OK(cudaFreeArray(NULL));
	TOLD(0, "memory", "array", "live_bytes");
}

static void test_batches(void)
{
	char in[3][64] = { "" }, out[3][64] = { "one", "two", "three" };
	struct cudaMemcpy3DBatchOp box = { .extent = { 4, 4, 2 } };
	const void *from[3];
	void *to[3], *device;
	size_t sizes[3] = { 64, 32, 16 }, index = 0;
	struct cudaMemcpyAttributes attributes = { 0 };
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc(&device, 256));
	for (int i = 0; i < 3; i++) {
		from[i] = out[i];
		to[i] = (char *)device + i * 64;
	}
	OK(cudaMemcpyBatchAsync(to, from, sizes, 3, &attributes, &index, 1, stream));
	FAILS(1, cudaMemcpyBatchAsync(to, from, sizes, 3, &attributes, &index, 1, NULL));
	OK(cudaMemcpy(in, device, 192, cudaMemcpyDeviceToHost));
	EXPECT(!strcmp(in[0], "one") && !strcmp(in[1], "two") && !strcmp(in[2], "three"));
	box.src.type = box.dst.type = cudaMemcpyOperandTypePointer;
	box.src.op.ptr.ptr = device;
	box.dst.op.ptr.ptr = in;
	memset(in, 0, sizeof(in));
	OK(cudaMemcpy3DBatchAsync(1, &box, 0, stream));
	EXPECT(!memcmp(in, out, 32));
	OK(cudaMemPrefetchBatchAsync(to, sizes, 3, &(struct cudaMemLocation){
		cudaMemLocationTypeDevice, 0 }, &index, 1, 0, stream));
	TOLD(112 + 32, "copies", "driver_from_runtime", "default", "async", "bytes");
	TOLD(3, "copies", "driver_from_runtime", "default", "async", "calls");
	TOLD(1, "copies", "driver_from_runtime", "default", "async", "failures");
	TOLD(3, "copy_sides", "H2D", "pageable", "calls");
	TOLD(192 + 32, "copy_sides", "D2H", "pageable", "bytes");
}

static void test_volumes(void)
{
	struct cudaMemcpy3DPeerParms peer = { .extent = { 16, 4, 2 }, .dstDevice = 1 };
	struct cudaPitchedPtr a, b;

	OK(cudaMalloc3D(&a, (struct cudaExtent){ 16, 4, 2 }));
	EXPECT(a.pitch == 512);
	OK(cudaMemset3D(a, 5, (struct cudaExtent){ 16, 4, 2 }));
	TOLD(128, "copies", "runtime", "set", "sync", "bytes");
	TOLD(128, "copies", "driver_from_runtime", "set", "sync", "bytes");
	OK(cudaSetDevice(1));
	OK(cudaMalloc3D(&b, (struct cudaExtent){ 16, 4, 2 }));
	peer.srcPtr = a;
	peer.dstPtr = b;
	OK(cudaMemcpy3DPeer(&peer));
	TOLD(128, "copies", "driver_from_runtime", "P2P", "sync", "bytes");
	TOLD(4096, "devices", "0", "memory", "device", "live_bytes");
	TOLD(4096, "devices", "1", "memory", "device", "live_bytes");
	TOLD(128, "devices", "1", "copies_bytes");
}

static void test_green(void)
{
	CUdevResource all, groups[2], rest;
	CUdevResourceDesc description;
	CUcontext primary, context;
	unsigned int count = 2;
	CUdeviceptr address;
	CUgreenCtx green;
	CUstream stream;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&primary, 0));
	OK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
	OK(cuDevSmResourceSplitByCount(groups, &count, &all, &rest, 0, 16));
	EXPECT(count == 2 && groups[0].sm.smCount == 16);
	EXPECT(rest.sm.smCount == all.sm.smCount - 32);
	OK(cuDevResourceGenerateDesc(&description, groups, 1));
	OK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
	OK(cuCtxFromGreenCtx(&context, green));
	OK(cuCtxSetCurrent(context));
	OK(cuCtxGetDevResource(context, &all, CU_DEV_RESOURCE_TYPE_SM));
	EXPECT(all.sm.smCount == 16);
	OK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
	OK(cuMemAlloc(&address, 4096));
	OK(cuMemsetD8Async(address, 0, 4096, stream));
	OK(cuStreamWriteValue32(stream, address, 42, 0));
	OK(cuStreamWaitValue32(stream, address, 42, 0));
	FAILS(1, cuStreamWriteValue32(stream, address + 4096, 42, 0));
	EXPECT(*(int *)(uintptr_t)address == 42);
	FAILS(201, cuCtxDestroy(context));
	OK(cuGreenCtxDestroy(green));
	TOLD(1, "objects", "green_context", "destroyed");
	TOLD(1, "objects", "stream", "with_context");
	TOLD(4096, "memory", "device", "bytes_released_with_context");
	TOLD(0, "objects", "context", "created");
	TOLD(1, "objects", "primary_context", "live");
}

static void test_shared(void)
{
	CUmemAllocationProp properties = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUmemGenericAllocationHandle handle, again;
	CUmemPoolPtrExportData data;
	CUdeviceptr address, imported;
	CUmemoryPool pool, other;
	int fd;

	open_driver();
	OK(cuMemCreate(&handle, 2 << 20, &properties, 0));
	OK(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
					0));
	OK(cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd,
					  CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	close(fd);
	TOLD(2 << 20, "virtual", "physical_bytes");
	TOLD(2, "virtual", "physical_handles");
	OK(cuMemRelease(handle));
	TOLD(2 << 20, "virtual", "physical_bytes");
	OK(cuMemRelease(again));
	TOLD(0, "virtual", "physical_bytes");
	OK(cuDeviceGetMemPool(&pool, 0));
	OK(cuMemPoolExportToShareableHandle(&fd, pool,
					    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	OK(cuMemPoolImportFromShareableHandle(&other, (void *)(intptr_t)fd,
					      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	OK(cuMemAllocAsync(&address, 4096, NULL));
	OK(cuMemPoolExportPointer(&data, address));
	OK(cuMemPoolImportPointer(&imported, other, &data));
	EXPECT(imported != address);
	TOLD(4096, "memory", "imported", "live_bytes");
	TOLD(4096, "memory", "pool", "live_bytes");
	OK(cuMemFreeAsync(imported, NULL));
	TOLD(0, "memory", "imported", "live_count");
}

static void *other_thread(void *argument)
{
	CUcontext context, expected = argument;

	OK(cuCtxGetCurrent(&context));
	EXPECT(!context);
	OK(cudaFree(NULL));
	OK(cuCtxGetCurrent(&context));
	EXPECT(context == expected);
	return NULL;
}

/* The driver calls that the runtime makes for devices and contexts. */
static void test_runtime_contexts(void)
{
	CUcontext context;
	pthread_t thread;

	OK(cudaGetDeviceCount(&(int){ 0 }));
	TOLD(1, "driver", "cuInit", "from_runtime");
	TOLD(2, "driver", "cuDeviceGetUuid_v2", "from_runtime");
	TOLD(0, "objects", "primary_context", "created");
	OK(cudaSetDevice(1));
	TOLD(1, "driver", "cuDevicePrimaryCtxRetain", "from_runtime");
	TOLD(1, "driver", "cuCtxSetCurrent", "from_runtime");
	OK(cudaSetDevice(0));
	OK(cudaSetDevice(1));
	TOLD(2, "driver", "cuDevicePrimaryCtxRetain", "from_runtime");
	TOLD(3, "driver", "cuCtxSetCurrent", "from_runtime");
	OK(cudaSetDevice(0));
	OK(cuCtxGetCurrent(&context));
	EXPECT(!pthread_create(&thread, NULL, other_thread, context));
	EXPECT(!pthread_join(thread, NULL));
	TOLD(5, "driver", "cuCtxSetCurrent", "from_runtime");
}

/* One process, both runtimes: their calls are summed, and the driver calls are made by them. */
static void test_two_runtimes(void)
{
	void *library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
	cudaError_t (*allocate)(void **, size_t), (*synchronize)(void);
	void *address;

	EXPECT(library);
	allocate = (cudaError_t (*)(void **, size_t))dlsym(library, "cudaMalloc");
	synchronize = (cudaError_t (*)(void))dlsym(library, "cudaThreadSynchronize");
	EXPECT(allocate && synchronize && (void *)allocate != (void *)cudaMalloc);
	OK(cudaMalloc(&address, 1000));
	OK(allocate(&address, 2000));
	OK(synchronize());
	TOLD(2, "runtime", "cudaMalloc", "calls");
	TOLD(3000, "runtime", "cudaMalloc", "bytes");
	TOLD(2, "driver", "cuMemAlloc_v2", "from_runtime");
	TOLD(1, "runtime", "cudaThreadSynchronize", "calls");
	TOLD(1, "waits", "context", "calls");
}

const struct test family_tests[] = {
	{ "arrays", test_arrays, NULL, NULL },
	{ "batches", test_batches, NULL, NULL },
	{ "volumes", test_volumes, "CUDA_SIM_DEVICES", "2" },
	{ "green_contexts", test_green, NULL, NULL },
	{ "shared_handles", test_shared, NULL, NULL },
	{ "two_runtimes", test_two_runtimes, NULL, NULL },
	{ "runtime_contexts", test_runtime_contexts, "CUDA_SIM_DEVICES", "2" },
	{ NULL, NULL, NULL, NULL },
};
