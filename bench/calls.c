// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a call costs: calls KIND [CHUNKS]. Calls one function, or a pair, over
 * and over, and prints the nanoseconds of one call or pair: the 10th percentile
 * and the median of CHUNKS [4000] short stretches. A stretch is shorter than a
 * time slice, so that the low percentile knows nothing of other programs.
 *
 * KIND deep is an allocation and its free with 30 frames of callers. Frame
 * pointers are kept (bench.mk), so that they lead to the stack's beginning.
 *
 * How many calls are borne: calls KIND RATE SECONDS. Makes RATE of them a second,
 * evenly, or with 0 as many as it can, and prints their number and the seconds.
 */
#include "../sim/workloads/gpu.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define CALLS 500 /* in a stretch */
#define KERNELS 8
#define COPY_BYTES 64
#define DEPTH 30

struct bench {
	struct kernels kernels;
	CUstream stream;
	CUdeviceptr memory;
	char host[COPY_BYTES];
};

static void launch(struct bench *bench, int i)
{
	NEED(cuLaunchKernel(bench->kernels.handles[i % KERNELS], 1, 1, 1, 1, 1, 1, 0, bench->stream, NULL, NULL));
}

static void allocate(struct bench *bench, int i)
{
	CUdeviceptr memory;

	(void)bench;
	(void)i;
	NEED(cuMemAlloc_v2(&memory, 4096));
	NEED(cuMemFree_v2(memory));
}

/* So many frames above the call, as a program of some size has. */
__attribute__((noinline)) static void descend(struct bench *bench, int i, int depth)
{
	if (depth)
		descend(bench, i, depth - 1);
	else
		allocate(bench, i);
	__asm__ volatile("" ::: "memory"); /* no tail call: the frame stays */
}

static void allocate_deep(struct bench *bench, int i)
{
	descend(bench, i, DEPTH);
}

static void copy(struct bench *bench, int i)
{
	(void)i;
	NEED(cuMemcpyHtoD_v2(bench->memory, bench->host, COPY_BYTES));
}

static void wait_for_stream(struct bench *bench, int i)
{
	(void)i;
	NEED(cuStreamSynchronize(bench->stream));
}

static const struct kind {
	const char *name;
	void (*call)(struct bench *bench, int i);
} kinds[] = {{"launch", launch}, {"allocation", allocate}, {"deep", allocate_deep}, {"copy", copy}, {"wait", wait_for_stream}};

static double clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Of this process, from its start. */
static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct bench *bench, const struct kind *kind, size_t chunks)
{
	double *ns = must_allocate(chunks * sizeof(*ns));

	for (size_t chunk = 0; chunk < chunks; chunk++) {
		double began = clock_ns();

		for (int i = 0; i < CALLS; i++)
			kind->call(bench, i);
		ns[chunk] = (clock_ns() - began) / CALLS;
	}
	qsort(ns, chunks, sizeof(*ns), by_size);
	printf("%.1f %.1f\n", ns[chunks / 10], ns[chunks / 2]);
	free(ns);
}

/* Behind time it calls without a pause until it has caught up. */
static void pace(struct bench *bench, const struct kind *kind, double rate, double seconds)
{
	double began = clock_ns(), end = began + seconds * 1e9, now_ns = began;
	double step = rate > 0 ? 1e9 / rate : 0;
	unsigned long calls = 0;

	while (now_ns < end) {
		if (now_ns >= began + (double)calls * step)
			for (int i = 0; i < (rate > 0 ? 1 : KERNELS); i++)
				kind->call(bench, (int)(calls++ % KERNELS));
		now_ns = clock_ns();
	}
	printf("%lu %.6f %.6f\n", calls, (now_ns - began) / 1e9, cpu_seconds());
}

int main(int argc, char **argv)
{
	struct gpu gpu = gpu__open(API_DRIVER);
	struct bench bench = {.kernels = kernels__load(API_DRIVER, "kernel", KERNELS, 0)};
	long chunks = argc > 2 ? strtol(argv[2], NULL, 10) : 4000;
	double seconds = argc > 3 ? strtod(argv[3], NULL) : 0;

	gpu__enter(&gpu);
	NEED(cuStreamCreate(&bench.stream, 0));
	NEED(cuMemAlloc_v2(&bench.memory, COPY_BYTES));
	for (size_t i = 0; argc > 1 && chunks >= 0 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		if (seconds > 0)
			pace(&bench, &kinds[i], (double)chunks, seconds);
		else if (chunks)
			measure(&bench, &kinds[i], (size_t)chunks);
		return 0;
	}
	give_up("usage: calls launch|allocation|deep|copy|wait [CHUNKS | RATE SECONDS]");
}
