// SPDX-License-Identifier: BSD-2-Clause
/*
 * A training as recordings meet it: sites SECONDS. Each step of 20 ms launches 200 kernels, each
 * once, from 50 places in the program, four from each. It also allocates, copies, frees and waits.
 * The program prints the number of launches.
 */
#include "../sim/workloads/gpu.h"

#include <stdio.h>
#include <time.h>

#define KERNELS 200
#define STEP_NS 20000000
#define COPY_BYTES 4096

struct training {
	struct kernels kernels;
	unsigned long launches;
};

static void launch(struct training *training, int kernel)
{
	NEED(cuLaunchKernel(training->kernels.handles[kernel], 1, 1, 1, 1, 1, 1, 0, NULL, NULL,
			    NULL));
	training->launches++;
}

/* The places 10 to 59: a function each, so that they are apart in symbols and stacks. */
#define PLACE(number) \
	__attribute__((noinline)) static void place_##number(struct training *t) \
	{ \
		for (int i = 0; i < 4; i++) \
			launch(t, 4 * ((number)-10) + i); \
		__asm__ volatile("" ::: "memory"); /* no tail call */ \
	}
#define TEN(F, tens) \
	F(tens##0) \
	F(tens##1) \
	F(tens##2) F(tens##3) F(tens##4) F(tens##5) F(tens##6) F(tens##7) F(tens##8) F(tens##9)
#define ALL(F) TEN(F, 1) TEN(F, 2) TEN(F, 3) TEN(F, 4) TEN(F, 5)
#define NAME(number) place_##number,

ALL(PLACE)

static void (*const places[])(struct training *training) = {ALL(NAME)};

static void step(struct training *training)
{
	char host[COPY_BYTES] = "";
	CUdeviceptr memory;

	NEED(cuMemAlloc_v2(&memory, COPY_BYTES));
	NEED(cuMemcpyHtoD_v2(memory, host, COPY_BYTES));
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		places[i](training);
	NEED(cuStreamSynchronize(NULL));
	NEED(cuMemFree_v2(memory));
}

static double clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
	struct gpu gpu = gpu__open(API_DRIVER);
	struct training training = {.kernels = kernels__load(API_DRIVER, "kernel", KERNELS, 0)};
	double end = clock_ns() + (argc > 1 ? atof(argv[1]) : 1) * 1e9;
	struct timespec pause = {.tv_nsec = STEP_NS};

	(void)gpu;
	while (clock_ns() < end) {
		step(&training);
		nanosleep(&pause, NULL);
	}
	printf("%lu\n", training.launches);
	kernels__unload(&training.kernels);
	return 0;
}
