// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program with the runtime linked statically, as nvcc links it: no libcudart
 * is mapped, and the runtime's functions are local symbols of the program.
 */
#include "common.h"
#include "cuda_api.h"

#include <stdio.h>
#include <stdlib.h>

static struct {
	uint64_t launches, pairs, keep, size;
	double hold;
} run = { .launches = 100, .pairs = 100, .keep = 1, .size = 4096 };

static void allocate(void)
{
	void *address;

	for (uint64_t i = 0; i < run.pairs; i++) {
		NEED(cudaMalloc(&address, run.size));
		NEED(cudaMemset(address, 0, run.size));
		NEED(cudaFree(address));
	}
	for (uint64_t i = 0; i < run.keep; i++)
		NEED(cudaMalloc(&address, run.size));
}

static void launch(void)
{
	char *text = kernels_text("static_kernel", 1, 0);
	char *name = kernel_name("static_kernel", 0, 0);
	dim3 one = { 1, 1, 1 };
	cudaLibrary_t library;
	cudaKernel_t kernel;

	NEED(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
	NEED(cudaLibraryGetKernel(&kernel, library, name));
	for (uint64_t i = 0; i < run.launches; i++)
		NEED(cudaLaunchKernel((const void *)kernel, one, one, NULL, 0, NULL));
	NEED(cudaDeviceSynchronize());
	free(text);
	free(name);
}

int main(int argc, char **argv)
{
	const struct workload_option options[] = {
		{ "launches", OPTION_NUMBER, &run.launches, NULL, "[100]" },
		{ "pairs", OPTION_NUMBER, &run.pairs, NULL, "allocations and frees [100]" },
		{ "keep", OPTION_NUMBER, &run.keep, NULL, "allocations more, never freed [1]" },
		{ "bytes", OPTION_NUMBER, &run.size, NULL, "of an allocation [4K]" },
		{ "hold", OPTION_SECONDS, &run.hold, NULL, "stay for so long at the end [0]" },
		{ 0 },
	};

	monitor_options__parse(argc, argv, "Uses a statically linked runtime.", options);
	allocate();
	launch();
	printf("%llu launches\n", (unsigned long long)run.launches);
	fflush(stdout);
	sleep_seconds(run.hold);
	return 0;
}
