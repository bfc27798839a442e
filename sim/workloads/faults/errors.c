// SPDX-License-Identifier: BSD-2-Clause
// Faults in error handling. CUDA_SIM_FAIL decides which calls fail.
#include "faults.h"

#include <unistd.h>

#define BATCH (256u << 10)
#define LAST_STEPS 3

/* No call succeeds, and the program retries forever. The twin runs without failures. */
static void cuda_unavailable(struct run *run)
{
	void *memory;
	int devices;

	run->end = now() + run->seconds;
	while (cudaGetDeviceCount(&devices) && run__goes_on(run)) {
		if (cudaMalloc(&memory, BATCH))
			run->calls++;
		usleep(2000);
	}
	if (run->calls)
		return;
	run__open(run, 0);
	while (run__goes_on(run))
		run__step(run);
	run__close(run);
}

/*
 * A copy fails now and then, and the program does not check; fixed: it handles the error and
 * repeats the copy.
 */
static void unchecked_errors(struct run *run)
{
	void *device = device_memory(BATCH), *host = pinned_memory(BATCH);

	while (run__goes_on(run)) {
		while (cudaMemcpyAsync(device, host, BATCH, cudaMemcpyHostToDevice, run->stream)) {
			run->calls++;
			if (!run->fixed)
				break;
			cudaGetLastError();
		}
		run__step(run);
	}
	NEED(cudaFree(device));
	NEED(cudaFreeHost(host));
	run__close(run);
}

/*
 * After some launch everything fails. The program checks, retries, and gives up. The twin runs
 * without failures.
 */
static void sticky_error(struct run *run)
{
	void *buffer = device_memory(BATCH);
	int failed = 0;

	while (run__goes_on(run) && failed < LAST_STEPS) {
		dim3 one = { 1, 1, 1 };

		if (cudaLaunchKernel(run->kernels.handles[0], one, one, NULL, 0, run->stream) ||
		    cudaStreamSynchronize(run->stream)) {
			cudaGetLastError();
			run->calls++;
			failed++;
		}
	}
	if (cudaFree(buffer)) {
		cudaGetLastError();
		run->calls++;
	}
	if (!failed)
		run__close(run);
}

/* Frees the same memory again in each step and discards the error; fixed: it does not. */
static void error_storm(struct run *run)
{
	void *freed = device_memory(BATCH);

	NEED(cudaFree(freed));
	while (run__goes_on(run)) {
		if (!run->fixed && cudaFree(freed)) {
			cudaGetLastError();
			run->calls++;
		}
		run__step(run);
	}
	run__close(run);
}

const struct fault error_faults[] = {
	{ "cuda-unavailable", cuda_unavailable,
	  "no call succeeds, for want of a device; the twin is not told to fail", true,
	  .environment = "CUDA_SIM_FAIL=cuInit:*=100" },
	{ "unchecked-errors", unchecked_errors,
	  "copies that fail unnoticed; fixed: done again", false,
	  .environment = "CUDA_SIM_FAIL=cuMemcpyHtoDAsync_v2:%200=1" },
	{ "sticky-error", sticky_error,
	  "everything fails from some launch on; the twin is not told to", false,
	  .environment = "CUDA_SIM_FAIL=cuLaunchKernel:201+=700,cuMemFree_v2:*=700" },
	{ "error-storm", error_storm,
	  "a buffer freed again each step; fixed: once", false, NULL, NULL, NULL },
	{ 0 },
};
