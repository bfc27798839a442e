/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code that the case studies share. Each has one loop, written in two ways: with a fault (before)
 * and without (after).
 *
 *     PROGRAM before|after|both STEPS ROUNDS
 *
 * prints {"before": [seconds of each round], "after": [...]}; `both` alternates. nvcc builds them
 * as CUDA C++ (nvcc -x cu), any C compiler as C for the simulated CUDA, whose kernels compute
 * nothing.
 */
#ifndef CASE_H
#define CASE_H

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "cuda_api.h"
#endif

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CASE_BLOCK 256
#define CASE_WARM_UP 3 /* steps before the first round of each way */
#define CASE_MOST_ROUNDS 64

/* Ends the program with the failed call's name and the reason. */
#define CHECK(call) case_check((call), #call)

static inline void case_check(cudaError_t result, const char *call)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(result));
	exit(1);
}

static inline double case_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A kernel that reads and writes each of `n` values. */
#ifdef __CUDACC__
extern "C" __global__ void scale(float *values, unsigned int n)
{
	unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		values[i] *= 1.0009765625f;
}

static inline const void *case_kernel(void)
{
	return (const void *)scale;
}
#else
static inline const void *case_kernel(void)
{
	static const char text[] =
		".version 7.0\n.target sm_75\n.address_size 64\n"
		".visible .entry scale(.param .u64 values, .param .u32 n)\n{\n\tret;\n}\n";
	static cudaKernel_t kernel;
	cudaLibrary_t library;

	if (!kernel) {
		CHECK(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
		CHECK(cudaLibraryGetKernel(&kernel, library, "scale"));
	}
	return (const void *)kernel;
}
#endif

static inline void case_launch(void *values, size_t bytes, cudaStream_t stream)
{
	unsigned int n = (unsigned int)(bytes / sizeof(float));
	void *arguments[] = {&values, &n};
	dim3 grid = {(n + CASE_BLOCK - 1) / CASE_BLOCK, 1, 1}, block = {CASE_BLOCK, 1, 1};

	CHECK(cudaLaunchKernel(case_kernel(), grid, block, arguments, 0, stream));
}

/*
 * `run` does `steps` steps, faulty or fixed. It prepares what is needed once before its clock
 * starts.
 */
static inline double case_round(double (*run)(bool fixed, unsigned int steps), bool fixed,
				unsigned int steps)
{
	double seconds = run(fixed, steps);

	CHECK(cudaDeviceSynchronize());
	return seconds;
}

static inline void case_print(const char *way, const double *seconds, unsigned int rounds,
			      const char *end)
{
	printf("\"%s\": [", way);
	for (unsigned int i = 0; i < rounds; i++)
		printf("%s%.6f", i ? ", " : "", seconds[i]);
	printf("]%s", end);
}

static inline int case_main(int argc, char **argv, double (*run)(bool fixed, unsigned int steps))
{
	const char *way = argc == 4 ? argv[1] : "";
	unsigned int steps = argc == 4 ? (unsigned int)strtoul(argv[2], NULL, 10) : 0;
	unsigned int rounds = argc == 4 ? (unsigned int)strtoul(argv[3], NULL, 10) : 0;
	bool before = !strcmp(way, "before") || !strcmp(way, "both");
	bool after = !strcmp(way, "after") || !strcmp(way, "both");
	double seconds[2][CASE_MOST_ROUNDS];

	if ((!before && !after) || !steps || !rounds || rounds > CASE_MOST_ROUNDS) {
		fprintf(stderr, "usage: %s before|after|both STEPS ROUNDS\n", argv[0]);
		return 2;
	}
	if (before)
		case_round(run, false, CASE_WARM_UP);
	if (after)
		case_round(run, true, CASE_WARM_UP);
	for (unsigned int i = 0; i < rounds; i++) {
		if (before)
			seconds[0][i] = case_round(run, false, steps);
		if (after)
			seconds[1][i] = case_round(run, true, steps);
	}
	printf("{");
	case_print("before", seconds[0], before ? rounds : 0, ", ");
	case_print("after", seconds[1], after ? rounds : 0, "}\n");
	return 0;
}

#endif
