/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One device by either API: the workloads that support both pass `api` and call these functions.
 * Included only by workloads that link CUDA.
 */
#ifndef WORKLOADS_GPU_H
#define WORKLOADS_GPU_H

#include "common.h"
#include "cuda_api.h"

#include <stdlib.h>

struct gpu {
	enum api api;
	CUcontext context;		/* for the driver API */
};

/* Kernels of one module or library. */
struct kernels {
	enum api api;
	CUmodule module;
	cudaLibrary_t library;
	uint64_t count;
	void **handles;			/* CUfunction or cudaKernel_t */
};

static inline struct gpu gpu__open(enum api api)
{
	struct gpu gpu = { .api = api };

	if (api == API_RUNTIME) {
		NEED(cudaSetDevice(0));
		return gpu;
	}
	NEED(cuInit(0));
	NEED(cuDevicePrimaryCtxRetain(&gpu.context, 0));
	NEED(cuCtxSetCurrent(gpu.context));
	return gpu;
}

/* Call first in each further thread. */
static inline void gpu__enter(const struct gpu *gpu)
{
	if (gpu->api == API_DRIVER)
		NEED(cuCtxSetCurrent(gpu->context));
}

static inline void gpu__synchronize(const struct gpu *gpu)
{
	if (gpu->api == API_RUNTIME)
		NEED(cudaDeviceSynchronize());
	else
		NEED(cuCtxSynchronize());
}

static inline struct kernels kernels__load(enum api api, const char *prefix, uint64_t count,
					   size_t length)
{
	struct kernels kernels = { .api = api, .count = count };
	char *text = kernels_text(prefix, count, length);

	kernels.handles = must_allocate(count * sizeof(*kernels.handles));
	if (api == API_RUNTIME)
		NEED(cudaLibraryLoadData(&kernels.library, text, NULL, NULL, 0, NULL, NULL, 0));
	else
		NEED(cuModuleLoadData(&kernels.module, text));
	free(text);
	for (uint64_t i = 0; i < count; i++) {
		char *name = kernel_name(prefix, i, length);

		if (api == API_RUNTIME)
			NEED(cudaLibraryGetKernel((cudaKernel_t *)&kernels.handles[i],
						  kernels.library, name));
		else
			NEED(cuModuleGetFunction((CUfunction *)&kernels.handles[i],
						 kernels.module, name));
		free(name);
	}
	return kernels;
}

static inline void kernels__unload(struct kernels *kernels)
{
	if (kernels->api == API_RUNTIME)
		NEED(cudaLibraryUnload(kernels->library));
	else
		NEED(cuModuleUnload(kernels->module));
	free(kernels->handles);
}

/* Launches one block of one thread; returns the result of the call. */
static inline int launch_once(enum api api, void *handle, void *stream)
{
	dim3 one = { 1, 1, 1 };

	if (api == API_RUNTIME)
		return (int)cudaLaunchKernel(handle, one, one, NULL, 0, stream);
	return (int)cuLaunchKernel(handle, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

#endif
