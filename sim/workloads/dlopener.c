// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that does not link CUDA: it opens a libcuda or libcudart by its path and calls it
 * through dlsym.
 */
#define _GNU_SOURCE
#include "common.h"
#include "cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
	const char *library;
	uint64_t calls, size, keep;
	double hold, before;
} run = { .library = "libcuda.so.1", .calls = 100, .size = 4096, .keep = 1 };

/* The function of the opened library, with its declared type. */
#define FIND(library, name) ((__typeof__(name) *)find(library, #name))

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (!function)
		give_up("%s: no %s", run.library, name);
	return function;
}

static void use_driver(void *library)
{
	__typeof__(cuMemAlloc_v2) *allocate = FIND(library, cuMemAlloc_v2);
	__typeof__(cuMemFree_v2) *release = FIND(library, cuMemFree_v2);
	__typeof__(cuLaunchKernel) *launch = FIND(library, cuLaunchKernel);
	char *text = kernels_text("opened_kernel", 1, 0);
	char *name = kernel_name("opened_kernel", 0, 0);
	CUdeviceptr address;
	CUfunction function;
	CUcontext context;
	CUmodule module;

	NEED(FIND(library, cuInit)(0));
	NEED(FIND(library, cuDevicePrimaryCtxRetain)(&context, 0));
	NEED(FIND(library, cuCtxSetCurrent)(context));
	NEED(FIND(library, cuModuleLoadData)(&module, text));
	NEED(FIND(library, cuModuleGetFunction)(&function, module, name));
	for (uint64_t i = 0; i < run.calls; i++) {
		NEED(allocate(&address, run.size));
		NEED(launch(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
		NEED(release(address));
	}
	for (uint64_t i = 0; i < run.keep; i++)
		NEED(allocate(&address, run.size));
	NEED(FIND(library, cuCtxSynchronize)());
	free(text);
	free(name);
}

static void use_runtime(void *library)
{
	__typeof__(cudaMalloc) *allocate = FIND(library, cudaMalloc);
	__typeof__(cudaFree) *release = FIND(library, cudaFree);
	__typeof__(cudaLaunchKernel) *launch = FIND(library, cudaLaunchKernel);
	char *text = kernels_text("opened_kernel", 1, 0);
	char *name = kernel_name("opened_kernel", 0, 0);
	dim3 one = { 1, 1, 1 };
	cudaLibrary_t code;
	cudaKernel_t kernel;
	void *address;

	NEED(FIND(library, cudaLibraryLoadData)(&code, text, NULL, NULL, 0, NULL, NULL, 0));
	NEED(FIND(library, cudaLibraryGetKernel)(&kernel, code, name));
	for (uint64_t i = 0; i < run.calls; i++) {
		NEED(allocate(&address, run.size));
		NEED(launch(kernel, one, one, NULL, 0, NULL));
		NEED(release(address));
	}
	for (uint64_t i = 0; i < run.keep; i++)
		NEED(allocate(&address, run.size));
	NEED(FIND(library, cudaDeviceSynchronize)());
	free(text);
	free(name);
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "library", OPTION_TEXT, &run.library, NULL, "to open [libcuda.so.1]" },
		{ "calls", OPTION_NUMBER, &run.calls, NULL,
		  "allocations, launches and frees [100]" },
		{ "keep", OPTION_NUMBER, &run.keep, NULL, "allocations more, never freed [1]" },
		{ "bytes", OPTION_NUMBER, &run.size, NULL, "of an allocation [4K]" },
		{ "before", OPTION_SECONDS, &run.before, NULL, "wait so long before opening [0]" },
		{ "hold", OPTION_SECONDS, &run.hold, NULL, "stay for so long at the end [0]" },
		{ 0 },
	};
	void *library;

	monitor_options__parse(argc, argv, "Opens a CUDA library and calls it.", options);
	sleep_seconds(run.before);
	library = dlopen(run.library, RTLD_NOW);
	if (!library)
		give_up("%s", dlerror());
	/* libcudart loads libcuda, but does not export its functions. */
	if (dlsym(library, "cudaMalloc"))
		use_runtime(library);
	else
		use_driver(library);
	printf("%llu calls through %s\n", (unsigned long long)run.calls, run.library);
	fflush(stdout);
	sleep_seconds(run.hold);
	return 0;
}
