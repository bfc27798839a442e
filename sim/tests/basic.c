// SPDX-License-Identifier: BSD-2-Clause
/* The basics: addresses, handles, results, waits. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_before_init(void)
{
	CUdeviceptr address;

	FAILS(3, cuMemAlloc(&address, 1));
	OK(cuInit(0));
	FAILS(201, cuMemAlloc(&address, 1));
	FAILS(101, cuDeviceGet(&(CUdevice){ 0 }, 7));
}

static void test_addresses(void)
{
	CUdeviceptr a, b, c;

	open_driver();
	FAILS(1, cuMemAlloc(&a, 0));
	OK(cuMemAlloc(&a, 1000));
	OK(cuMemAlloc(&b, 1000));
	EXPECT(a != b && a % 512 == 0);
	OK(cuMemFree(a));
	OK(cuMemFree(b));
	OK(cuMemAlloc(&c, 900));
	EXPECT(c == b);				/* last in, first out */
	OK(cuMemAlloc(&c, 1000));
	EXPECT(c == a);
	OK(cuMemFree(c));
	FAILS(1, cuMemFree(c));
	FAILS(1, cuMemFree(b + 512));
	FAILS(1, cuMemFree(0x1000));
	OK(cuMemFree(0));
	FAILS(1, cuMemFreeHost((void *)(uintptr_t)b));
}

static void test_contents(void)
{
	char out[100], in[100] = "";
	CUdeviceptr a, b;

	open_driver();
	memset(out, 7, sizeof(out));
	OK(cuMemAlloc(&a, 100));
	OK(cuMemAllocManaged(&b, 100, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemcpyHtoD(a, out, 100));
	OK(cuMemcpyDtoD(b, a, 100));
	OK(cuMemcpy((uintptr_t)in, b, 100));
	EXPECT(!memcmp(in, out, 100));
	EXPECT(*(char *)(uintptr_t)b == 7);
	OK(cuMemsetD32(a, 0x01020304, 25));
	OK(cuMemcpyDtoH(in, a + 4, 4));
	EXPECT(in[0] == 4 && in[3] == 1);
	FAILS(1, cuMemcpyHtoD(a, out, 101));
	FAILS(1, cuMemcpyDtoH(in, a + 1, 100));
	FAILS(1, cuMemsetD8(a, 0, 101));
	OK(cuMemFree(a));
	FAILS(1, cuMemcpyHtoD(a, out, 1));
	FAILS(1, cuMemcpy((uintptr_t)in, a, 1));
	OK(cuMemcpyHtoD(a, out, 0));
}

/* With 64 MiB the addresses are used up many times over, so that spans are merged and cut. */
static void test_limit(void)
{
	size_t available, total;
	CUdeviceptr address[64], big;

	open_driver();
	FAILS(2, cuMemAlloc(&big, 65 << 20));
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 60; i++)
			OK(cuMemAlloc(&address[i],
				      1000000 + (size_t)(round * 60 + i) * 512 % 70000));
		FAILS(2, cuMemAlloc(&big, 16 << 20));
		for (int i = 0; i < 60; i++)
			OK(cuMemFree(address[i]));
	}
	OK(cuMemGetInfo(&available, &total));
	EXPECT(available == 64 << 20 && total == 64 << 20);
	OK(cuMemAlloc(&big, 64 << 20));
	FAILS(2, cuMemAlloc(&address[0], 1));
}

static void test_context_takes_all(void)
{
	CUcontext context = open_driver();
	CUdeviceptr address;
	CUmodule module;
	size_t available, total;

	OK(cuMemAlloc(&address, 1 << 20));
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuCtxDestroy_v2(context));
	FAILS(201, cuMemFree(address));
	open_driver();
	OK(cuMemGetInfo(&available, &total));
	EXPECT(available == total);
	FAILS(1, cuMemFree(address));
	FAILS(400, cuModuleUnload(module));
}

static const char *name_of(const void *handle)
{
	return *(const char *const *)((const char *)handle + 8);
}

static void test_modules(void)
{
	CUfunction first, second, again;
	CUdeviceptr address;
	CUmodule module;
	size_t size;

	open_driver();
	FAILS(218, cuModuleLoadData(&module, "no PTX"));
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&first, module, "first"));
	OK(cuModuleGetFunction(&second, module, "second"));
	FAILS(500, cuModuleGetFunction(&again, module, "no"));
	FAILS(500, cuModuleGetFunction(&again, module, "neither"));
	EXPECT(!strcmp(name_of(first), "first") && !strcmp(name_of(second), "second"));
	OK(cuModuleGetGlobal(&address, &size, module, "table"));
	EXPECT(size == 64 && address);
	OK(cuModuleGetGlobal(&address, &size, module, "number"));
	EXPECT(size == 4);
	OK(cuModuleUnload(module));
	FAILS(400, cuModuleUnload(module));
	FAILS(400, cuLaunchKernel(first, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&again, module, "first"));
	EXPECT(again == second);		/* the same handle, another name */
	EXPECT(!strcmp(name_of(again), "first"));
}

static void test_libraries(void)
{
	CUkernel kernels[2];
	CUlibrary library;
	CUfunction function;
	const char *name;
	unsigned int count;

	open_driver();
	OK(cuLibraryLoadData(&library, two_kernels, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernelCount(&count, library));
	EXPECT(count == 2);
	OK(cuLibraryEnumerateKernels(kernels, 2, library));
	OK(cuKernelGetFunction(&function, kernels[1]));
	EXPECT((void *)function != (void *)kernels[1]);
	OK(cuFuncGetName(&name, function));
	EXPECT(!strcmp(name, "second") && !strcmp(name_of(function), "second"));
	OK(cuLaunchKernel((CUfunction)kernels[0], 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cuLibraryUnload(library));
	FAILS(400, cuKernelGetName(&name, kernels[0]));
}

static void test_launch_errors(void)
{
	CUfunction function;
	CUmodule module;
	CUstream stream;

	open_driver();
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&function, module, "first"));
	FAILS(400, cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	FAILS(1, cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	FAILS(1, cuLaunchKernel(function, 1, 1, 1, 1024, 2, 1, 0, NULL, NULL, NULL));
	OK(cuStreamCreate(&stream, 0));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	OK(cuStreamDestroy(stream));
	FAILS(400, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	FAILS(400, cuStreamDestroy(stream));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, NULL));
}

static void test_capture(void)
{
	CUstream stream, other;
	CUfunction function;
	CUgraphExec exec;
	CUmodule module;
	CUgraph graph;
	CUevent event;
	size_t count = 0;

	open_driver();
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&function, module, "first"));
	OK(cuStreamCreate(&stream, 0));
	OK(cuStreamCreate(&other, 0));
	OK(cuEventCreate(&event, 0));
	FAILS(401, cuStreamEndCapture(stream, &graph));
	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	OK(cuEventRecord(event, stream));
	OK(cuStreamWaitEvent(other, event, 0));
	OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
	FAILS(900, cuStreamSynchronize(stream));
	FAILS(903, cuStreamEndCapture(other, &graph));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphGetNodes(graph, NULL, &count));
	EXPECT(count == 2);
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphExecDestroy(exec));
	FAILS(1, cuGraphLaunch(exec, stream));
	OK(cuStreamSynchronize(other));
}

/* Work takes 50 ms here. */
static void test_waits(void)
{
	CUstream stream, idle;
	CUdeviceptr address;
	CUevent event;
	double start;

	open_driver();
	OK(cuMemAlloc(&address, 4096));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&idle, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&event, 0));
	start = seconds();
	OK(cuMemsetD8Async(address, 1, 4096, stream));
	OK(cuEventRecord(event, stream));
	FAILS(600, cuStreamQuery(stream));
	FAILS(600, cuEventQuery(event));
	OK(cuStreamQuery(idle));
	OK(cuStreamSynchronize(idle));
	OK(cuStreamSynchronize(NULL));
	EXPECT(seconds() - start < 0.04);
	OK(cuEventSynchronize(event));
	EXPECT(seconds() - start >= 0.05);
	OK(cuStreamQuery(stream));
	OK(cuMemsetD8Async(address, 1, 4096, stream));
	OK(cuCtxSynchronize());
	EXPECT(seconds() - start >= 0.1);
}

static void test_pools(void)
{
	CUmemPoolProps properties = {
		.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 }, .maxSize = 8192,
	};
	CUdeviceptr a, b;
	CUmemoryPool pool;
	uint64_t used;

	open_driver();
	OK(cuMemPoolCreate(&pool, &properties));
	OK(cuMemAllocFromPoolAsync(&a, 4096, pool, NULL));
	OK(cuMemAllocFromPoolAsync(&b, 4096, pool, NULL));
	FAILS(2, cuMemAllocFromPoolAsync(&a, 1, pool, NULL));
	OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
	EXPECT(used == 8192);
	OK(cuMemFreeAsync(b, NULL));
	FAILS(1, cuMemFreeAsync(b, NULL));
	OK(cuMemAllocAsync(&b, 100, NULL));
	OK(cuMemFree(b));
	OK(cuMemAlloc(&b, 100));
	FAILS(1, cuMemFreeAsync(b, NULL));
}

static void test_virtual(void)
{
	CUmemAllocationProp properties = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
	};
	CUmemGenericAllocationHandle handles[2];
	size_t unit, available, total;
	CUdeviceptr range;

	open_driver();
	OK(cuMemGetAllocationGranularity(&unit, &properties, 0));
	OK(cuMemAddressReserve(&range, 4 * unit, 0, 0, 0));
	FAILS(1, cuMemCreate(&handles[0], unit + 1, &properties, 0));
	for (int i = 0; i < 2; i++) {
		OK(cuMemCreate(&handles[i], unit, &properties, 0));
		OK(cuMemMap(range + (CUdeviceptr)i * unit, unit, 0, handles[i], 0));
	}
	FAILS(1, cuMemMap(range, unit, 0, handles[0], 0));
	OK(cuMemsetD8(range, 1, 2 * unit));	/* across both mappings */
	FAILS(1, cuMemsetD8(range, 1, 2 * unit + 1));
	FAILS(1, cuMemAddressFree(range, 4 * unit));
	OK(cuMemRelease(handles[0]));
	FAILS(1, cuMemRelease(handles[0]));
	OK(cuMemGetInfo(&available, &total));
	EXPECT(total - available == 2 * unit);
	OK(cuMemUnmap(range, 2 * unit));
	OK(cuMemGetInfo(&available, &total));
	EXPECT(total - available == unit);
	OK(cuMemRelease(handles[1]));
	OK(cuMemAddressFree(range, 4 * unit));
	FAILS(1, cuMemAddressFree(range, 4 * unit));
}

static void test_arrays_and_ipc(void)
{
	CUDA_ARRAY_DESCRIPTOR descriptor = { 16, 2, CU_AD_FORMAT_FLOAT, 1 };
	char in[8] = "", out[8] = "abcdefg";
	CUipcMemHandle handle;
	CUdeviceptr a, b;
	CUarray array;

	open_driver();
	OK(cuArrayCreate(&array, &descriptor));
	OK(cuMemcpyHtoA(array, 120, out, 8));
	FAILS(1, cuMemcpyHtoA(array, 121, out, 8));
	OK(cuMemcpyAtoH(in, array, 120, 8));
	EXPECT(!strcmp(in, out));
	OK(cuArrayDestroy(array));
	FAILS(400, cuArrayDestroy(array));
	OK(cuMemAlloc(&a, 4096));
	OK(cuIpcGetMemHandle(&handle, a));
	OK(cuIpcOpenMemHandle(&b, handle, 1));
	EXPECT(b && b != a);
	OK(cuIpcCloseMemHandle(b));
	FAILS(1, cuIpcCloseMemHandle(b));
}

static void test_names(void)
{
	const char *text;
	void *function;

	OK(cuGetErrorName(2, &text));
	EXPECT(!strcmp(text, "CUDA_ERROR_OUT_OF_MEMORY"));
	OK(cuGetErrorString(2, &text));
	EXPECT(!strcmp(text, "out of memory"));
	FAILS(1, cuGetErrorName(12345, &text));
	EXPECT(!strcmp(cudaGetErrorName(700), "cudaErrorIllegalAddress"));
	EXPECT(!strcmp(cudaGetErrorString(700), "illegal address"));
	OK(cuGetProcAddress("cuMemAlloc", &function, 13000, 0, NULL));
	EXPECT(function == (void *)cuMemAlloc_v2);
	OK(cuGetProcAddress("cuLaunchKernel", &function, 13000, 2, NULL));
	EXPECT(function == (void *)cuLaunchKernel_ptsz);
	OK(cuGetProcAddress("cuMemcpyHtoD", &function, 13000, 2, NULL));
	EXPECT(function == (void *)cuMemcpyHtoD_v2_ptds);
	OK(cuGetProcAddress("cuCtxCreate", &function, 11000, 0, NULL));
	EXPECT(function != (void *)cuCtxCreate_v4);
	FAILS(500, cuGetProcAddress("cuNo", &function, 13000, 0, NULL));
}

static void test_runtime(void)
{
	void *address = &address;
	size_t available, total;

	OK(cudaMalloc(&address, 0));
	EXPECT(!address);
	OK(cudaFree(NULL));
	OK(cudaFreeHost(NULL));
	FAILS(2, cudaMalloc(&address, 1ull << 50));
	FAILS(2, cudaPeekAtLastError());
	FAILS(2, cudaGetLastError());
	OK(cudaGetLastError());
	FAILS(98, cudaLaunchKernel(&address, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, NULL));
	FAILS(101, cudaSetDevice(3));
	OK(cudaMallocHost(&address, 100));
	FAILS(1, cudaFree(address));
	OK(cudaMalloc(&address, 4096));
	OK(cudaDeviceReset());
	OK(cudaMemGetInfo(&available, &total));
	EXPECT(available == total);
}

/* cuMemAlloc_v2:2 and cudaMalloc:3=46 fail here. */
static void test_faults(void)
{
	CUdeviceptr address;
	void *pointer;

	open_driver();
	OK(cuMemAlloc(&address, 1));
	FAILS(2, cuMemAlloc(&address, 1));
	OK(cudaMalloc(&pointer, 1));
	OK(cudaMalloc(&pointer, 1));
	FAILS(46, cudaMalloc(&pointer, 1));
	OK(cudaMalloc(&pointer, 1));
	OK(cuCtxSynchronize());
	FAILS(700, cuCtxSynchronize());
	FAILS(700, cuCtxSynchronize());
}

/* CU_CTX_SCHED_YIELD, CU_CTX_SCHED_BLOCKING_SYNC */
#define SCHED_YIELD 2u
#define SCHED_BLOCKING 4u

/* A call in another thread, which hangs. */
struct hanging {
	CUcontext context;
	int (*call)(CUcontext context);
	pid_t tid;
	bool ended;
};

static void *hang(void *argument)
{
	struct hanging *hanging = argument;

	OK(cuCtxSetCurrent(hanging->context));
	__atomic_store_n(&hanging->tid, gettid(), __ATOMIC_RELEASE);
	OK(hanging->call(hanging->context));
	__atomic_store_n(&hanging->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static int wait_blocking(CUcontext context)
{
	(void)context;
	OK(cuCtxSetFlags(SCHED_BLOCKING));
	OK(cuCtxSynchronize());			/* the second one hangs */
	return (int)cuCtxSynchronize();
}

static int allocate(CUcontext context)
{
	CUdeviceptr address;

	(void)context;
	return (int)cuMemAlloc(&address, 100);
}

static int query(CUcontext context)
{
	(void)context;
	return (int)cuStreamQuery(NULL) || (int)cuStreamQuery(NULL);
}

/* The system call that a thread is in, or -1 if it runs. */
static long system_call(pid_t tid)
{
	char path[64], text[32] = "";
	FILE *in;
	size_t size;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	in = fopen(path, "re");
	EXPECT(in);
	size = fread(text, 1, sizeof(text) - 1, in);
	fclose(in);
	return size && text[0] != 'r' ? strtol(text, NULL, 10) : -1;
}

/* cuCtxSynchronize=flags:2,cuMemAlloc_v2=futex,cuStreamQuery=spin */
static void test_hangs(void)
{
	struct hanging calls[] = {
		{ .call = wait_blocking }, { .call = allocate }, { .call = query },
	};
	pthread_t threads[3];
	struct timespec used = { 0 };
	clockid_t clock;

	for (int i = 0; i < 3; i++) {
		calls[i].context = i ? calls[0].context : open_driver();
		EXPECT(!pthread_create(&threads[i], NULL, hang, &calls[i]));
		while (!__atomic_load_n(&calls[i].tid, __ATOMIC_ACQUIRE))
			usleep(1000);
	}
	while (system_call(calls[0].tid) != SYS_poll || system_call(calls[1].tid) != SYS_futex)
		usleep(1000);
	EXPECT(!pthread_getcpuclockid(threads[2], &clock));
	for (; used.tv_nsec < 20000000 && !used.tv_sec; usleep(1000))
		EXPECT(!clock_gettime(clock, &used));
	for (int i = 0; i < 3; i++)
		EXPECT(!__atomic_load_n(&calls[i].ended, __ATOMIC_ACQUIRE));
	kill(getpid(), SIGUSR1);
	for (int i = 0; i < 3; i++)
		EXPECT(!pthread_join(threads[i], NULL) && calls[i].ended);
	OK(cuCtxSynchronize());
	TOLD(1, "driver", "cuMemAlloc_v2", "calls");
}

/* The longest launch while the thread's call is in progress. */
static long longest_launch(CUfunction function, const bool *ended)
{
	struct timespec from, to;
	long longest = 0, ns;

	while (!__atomic_load_n(ended, __ATOMIC_ACQUIRE)) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
		clock_gettime(CLOCK_MONOTONIC, &to);
		ns = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
		longest = ns > longest ? ns : longest;
	}
	return longest;
}

/*
 * CUDA_SIM_LOCK=cuMemAlloc_v2: a launch waits while another thread allocates, which takes 100 ms.
 */
static void test_lock(void)
{
	struct hanging allocation = { .call = allocate, .context = open_driver() };
	CUfunction function;
	pthread_t thread;
	CUmodule module;

	/* The libraries have already read the environment, so execute again. */
	if (!getenv("CUDA_SIM_LATENCY")) {
		setenv("CUDA_SIM_LATENCY", "cuMemAlloc_v2=100ms", 1);
		execl("/proc/self/exe", "selftest", "lock", NULL);
	}
	OK(cuModuleLoadData(&module, two_kernels));
	OK(cuModuleGetFunction(&function, module, "first"));
	EXPECT(!pthread_create(&thread, NULL, hang, &allocation));
	EXPECT(longest_launch(function, &allocation.ended) > 50000000);
	EXPECT(!pthread_join(thread, NULL));
}

/* cudaSetDeviceFlags sets the flags of the context, whether that exists already or not. */
static void test_flags(void)
{
	unsigned int flags;
	int active;

	OK(cudaSetDeviceFlags(SCHED_YIELD));
	OK(cudaFree(NULL));
	OK(cuCtxGetFlags(&flags));
	EXPECT(flags == SCHED_YIELD);
	OK(cudaSetDeviceFlags(SCHED_BLOCKING));
	OK(cuCtxGetFlags(&flags));
	EXPECT(flags == SCHED_BLOCKING);
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EXPECT(flags == SCHED_BLOCKING && active);
}

/* A child of a process that uses CUDA cannot use it; a child of one that does not, can. */
static void test_fork(void)
{
	CUdeviceptr address;
	int status;

	if (!fork()) {
		open_driver();
		_exit(cuMemAlloc(&address, 1) != CUDA_SUCCESS);
	}
	EXPECT(wait(&status) > 0 && !status);
	open_driver();
	if (!fork())
		_exit(cuMemAlloc(&address, 1) != 3 || cuInit(0) != 3);
	EXPECT(wait(&status) > 0 && !status);
}

const struct test basic_tests[] = {
	{ "before_init", test_before_init, NULL, NULL },
	{ "addresses", test_addresses, NULL, NULL },
	{ "contents", test_contents, NULL, NULL },
	{ "limit", test_limit, "CUDA_SIM_MEMORY", "64M" },
	{ "context_takes_all", test_context_takes_all, NULL, NULL },
	{ "modules", test_modules, NULL, NULL },
	{ "libraries", test_libraries, NULL, NULL },
	{ "launch_errors", test_launch_errors, NULL, NULL },
	{ "capture", test_capture, NULL, NULL },
	{ "waits", test_waits, "CUDA_SIM_ASYNC", "50ms" },
	{ "pools", test_pools, NULL, NULL },
	{ "virtual", test_virtual, NULL, NULL },
	{ "arrays_and_ipc", test_arrays_and_ipc, NULL, NULL },
	{ "names", test_names, NULL, NULL },
	{ "runtime", test_runtime, NULL, NULL },
	{ "faults", test_faults, "CUDA_SIM_FAIL",
	  "cuMemAlloc_v2:2,cudaMalloc:3=46,cuCtxSynchronize:2+=700" },
	{ "hangs", test_hangs, "CUDA_SIM_HANG",
	  "cuCtxSynchronize=flags:2,cuMemAlloc_v2=futex,cuStreamQuery=spin" },
	{ "lock", test_lock, "CUDA_SIM_LOCK", "cuMemAlloc_v2" },
	{ "flags", test_flags, NULL, NULL },
	{ "fork", test_fork, NULL, NULL },
	{ NULL, NULL, NULL, NULL },
};
