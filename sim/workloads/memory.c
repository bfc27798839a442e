// SPDX-License-Identifier: BSD-2-Clause
/*
 * Allocations and frees of every kind by many threads; on request some are never freed, and some
 * frees are wrong.
 */
#include "gpu.h"

#include <stdio.h>

enum kind { KIND_DEVICE, KIND_MANAGED, KIND_HOST, KIND_POOL, KIND_PITCH };

/* In no allocated range: a free of it must fail. */
#define BOGUS 0x1234500ull

static struct {
	uint64_t threads, pairs, size, keep, fail_frees, double_frees, null_frees;
	double hold;
	int api, kind;
	bool random_sizes;
	struct gpu gpu;
} run = { .threads = 1, .pairs = 1000, .size = 4096 };

static int allocate_runtime(void **out, size_t size)
{
	size_t pitch;

	switch ((enum kind)run.kind) {
	case KIND_DEVICE:
		return (int)cudaMalloc(out, size);
	case KIND_MANAGED:
		return (int)cudaMallocManaged(out, size, cudaMemAttachGlobal);
	case KIND_HOST:
		return (int)cudaHostAlloc(out, size, cudaHostAllocDefault);
	case KIND_POOL:
		return (int)cudaMallocAsync(out, size, NULL);
	case KIND_PITCH:
		return (int)cudaMallocPitch(out, &pitch, size, 2);
	}
	return 1;
}

static int allocate_driver(void **out, size_t size)
{
	CUdeviceptr address = 0;
	size_t pitch;
	int result = 1;

	switch ((enum kind)run.kind) {
	case KIND_DEVICE:
		result = (int)cuMemAlloc(&address, size);
		break;
	case KIND_MANAGED:
		result = (int)cuMemAllocManaged(&address, size, CU_MEM_ATTACH_GLOBAL);
		break;
	case KIND_HOST:
		return (int)cuMemHostAlloc(out, size, 0);
	case KIND_POOL:
		result = (int)cuMemAllocAsync(&address, size, NULL);
		break;
	case KIND_PITCH:
		result = (int)cuMemAllocPitch(&address, &pitch, size, 2, 4);
		break;
	}
	*out = (void *)(uintptr_t)address;
	return result;
}

static int allocate(void **out, size_t size)
{
	return run.api == API_RUNTIME ? allocate_runtime(out, size) : allocate_driver(out, size);
}

static int release(void *address)
{
	CUdeviceptr device = (CUdeviceptr)(uintptr_t)address;

	if (run.kind == KIND_HOST)
		return run.api == API_RUNTIME ? (int)cudaFreeHost(address) :
						(int)cuMemFreeHost(address);
	if (run.kind == KIND_POOL)
		return run.api == API_RUNTIME ? (int)cudaFreeAsync(address, NULL) :
						(int)cuMemFreeAsync(device, NULL);
	return run.api == API_RUNTIME ? (int)cudaFree(address) : (int)cuMemFree(device);
}

static void expect_failure(int result, const char *what)
{
	if (!result)
		give_up("%s succeeded", what);
}

/* Sizes from 1 to --size in a pseudo-random order per thread. */
static size_t next_size(uint64_t *seed)
{
	if (!run.random_sizes)
		return run.size;
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return 1 + (*seed >> 33) % run.size;
}

static void run_thread(uint64_t index, void *failures)
{
	uint64_t seed = index + 1, failed = 0;
	void *address;

	gpu__enter(&run.gpu);
	for (uint64_t i = 0; i < run.keep; i++)
		failed += allocate(&address, next_size(&seed)) != 0;
	for (uint64_t i = 0; i < run.pairs; i++) {
		if (allocate(&address, next_size(&seed)))
			failed++;
		else
			failed += release(address) != 0;
	}
	for (uint64_t i = 0; i < run.fail_frees; i++)
		expect_failure(release((void *)(uintptr_t)(BOGUS + index * 4096)),
			       "a free of nothing");
	for (uint64_t i = 0; i < run.double_frees; i++) {
		NEED(allocate(&address, run.size));
		NEED(release(address));
		expect_failure(release(address), "a second free");
	}
	for (uint64_t i = 0; i < run.null_frees; i++)
		(void)release(NULL);
	__atomic_add_fetch((uint64_t *)failures, failed, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "threads", OPTION_NUMBER, &run.threads, NULL, "threads [1]" },
		{ "pairs", OPTION_NUMBER, &run.pairs, NULL,
		  "allocations and frees a thread [1000]" },
		{ "size", OPTION_NUMBER, &run.size, NULL, "bytes of an allocation [4K]" },
		{ "random-sizes", OPTION_FLAG, &run.random_sizes, NULL, "from 1 to --size" },
		{ "keep", OPTION_NUMBER, &run.keep, NULL, "more a thread, never freed [0]" },
		{ "kind", OPTION_CHOICE, &run.kind, "device|managed|host|pool|pitch", "[device]" },
		{ "api", OPTION_CHOICE, &run.api, API_CHOICES, "[runtime]" },
		{ "fail-frees", OPTION_NUMBER, &run.fail_frees, NULL,
		  "frees a thread of what was never allocated [0]" },
		{ "double-free", OPTION_NUMBER, &run.double_frees, NULL,
		  "second frees a thread; with --threads 1 only [0]" },
		{ "null-frees", OPTION_NUMBER, &run.null_frees, NULL,
		  "frees of NULL a thread [0]" },
		{ "hold", OPTION_SECONDS, &run.hold, NULL, "stay for so long at the end [0]" },
		{ 0 },
	};
	uint64_t failures = 0;

	monitor_options__parse(argc, argv, "Allocates and frees memory.", options);
	if (run.double_frees && run.threads > 1)
		give_up("--double-free with several threads would free another thread's memory");
	if (!run.size)
		give_up("--size must not be 0");
	run.gpu = gpu__open(run.api);
	run_threads(run.threads, run_thread, &failures);
	printf("%llu allocations kept, %llu calls failed\n",
	       (unsigned long long)(run.keep * run.threads), (unsigned long long)failures);
	fflush(stdout);
	sleep_seconds(run.hold);
	return 0;
}
