// SPDX-License-Identifier: BSD-2-Clause
/*
 * Loops of CUDA calls, on command: loops launch|sync|allocation.
 *
 * Prints "{}" when it is ready. For each line "STEPS WARM_UP" on its standard
 * input it does WARM_UP steps, then STEPS, and prints the seconds of the latter;
 * at the input's end it ends. nvcc builds it as CUDA C++ (nvcc -x cu), any C
 * compiler as C for the simulated CUDA.
 *
 * A step of `launch` is one launch of a kernel with nothing to do. Only the
 * launching is timed: a wait after each batch, outside the clock, keeps the
 * GPU's queue from filling up, for a launch that waits for room would hide
 * what a probe costs. A step of `sync` is a launch and the wait for it, one of
 * `allocation` takes and frees some small buffers, which are the cheapest ones.
 */
#include "../../tests/gpu/programs/case.h"

#define BATCH 256 /* launches; less than the GPU's queue holds */
#define THREADS 32
#define BUFFERS 8
#define BUFFER_BYTES ((size_t)64 << 10)

struct loop {
	cudaStream_t stream;
	void *held; /* keeps the driver's block of small buffers */
};

static void launch_one(struct loop *loop)
{
	unsigned int n = 0;
	void *arguments[] = {&loop->held, &n};
	dim3 grid = {1, 1, 1}, block = {THREADS, 1, 1};

	CHECK(cudaLaunchKernel(case_kernel(), grid, block, arguments, 0, loop->stream));
}

static double launches(struct loop *loop, unsigned long steps)
{
	double seconds = 0, began;

	while (steps) {
		unsigned long batch = steps < BATCH ? steps : BATCH;

		began = case_seconds();
		for (unsigned long i = 0; i < batch; i++)
			launch_one(loop);
		seconds += case_seconds() - began;
		CHECK(cudaStreamSynchronize(loop->stream));
		steps -= batch;
	}
	return seconds;
}

static double launches_with_waits(struct loop *loop, unsigned long steps)
{
	double began = case_seconds();

	for (unsigned long i = 0; i < steps; i++) {
		launch_one(loop);
		CHECK(cudaStreamSynchronize(loop->stream));
	}
	return case_seconds() - began;
}

static double allocations(struct loop *loop, unsigned long steps)
{
	double began = case_seconds();
	void *buffers[BUFFERS];

	(void)loop;
	for (unsigned long step = 0; step < steps; step++) {
		for (int i = 0; i < BUFFERS; i++)
			CHECK(cudaMalloc(&buffers[i], BUFFER_BYTES));
		for (int i = 0; i < BUFFERS; i++)
			CHECK(cudaFree(buffers[i]));
	}
	return case_seconds() - began;
}

static void serve(struct loop *loop, double (*run)(struct loop *loop, unsigned long steps))
{
	unsigned long steps, warm_up;
	char line[64];

	printf("{}\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && sscanf(line, "%lu %lu", &steps, &warm_up) == 2) {
		run(loop, warm_up);
		CHECK(cudaDeviceSynchronize());
		printf("%.9f\n", run(loop, steps));
		fflush(stdout);
		CHECK(cudaDeviceSynchronize());
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc == 2 ? argv[1] : "";
	struct loop loop = {NULL, NULL};

	CHECK(cudaStreamCreate(&loop.stream));
	CHECK(cudaMalloc(&loop.held, BUFFER_BYTES));
	if (!strcmp(kind, "launch")) {
		serve(&loop, launches);
	} else if (!strcmp(kind, "sync")) {
		serve(&loop, launches_with_waits);
	} else if (!strcmp(kind, "allocation")) {
		serve(&loop, allocations);
	} else {
		fprintf(stderr, "usage: %s launch|sync|allocation\n", argv[0]);
		return 2;
	}
	CHECK(cudaFree(loop.held));
	CHECK(cudaStreamDestroy(loop.stream));
	return 0;
}
