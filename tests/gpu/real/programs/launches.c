// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nothing but launches of an empty kernel: the worst case for the cost of watching. Takes the same
 * options as steady.py, launches SECONDS [--held] [--times FILE], and prints READY and a line of
 * JSON as steady.py does. A step is 250 launches and a wait for them, so that the GPU's queue never
 * fills up.
 *
 * nvcc builds it as CUDA C++ (nvcc -x cu), any C compiler as C for the simulated CUDA.
 */
#include "../../programs/case.h"

#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#define LAUNCHES 250
#define WARM_UP_STEPS 100
#define MOST_STEPS (16u << 20)

static volatile sig_atomic_t over;

static void on_signal(int number)
{
	(void)number;
	over = 1;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void one_step(void)
{
	void *values = NULL;
	unsigned int n = 0;
	void *arguments[] = {&values, &n};
	dim3 grid = {1, 1, 1}, block = {32, 1, 1};

	for (int i = 0; i < LAUNCHES; i++)
		CHECK(cudaLaunchKernel(case_kernel(), grid, block, arguments, 0, NULL));
	CHECK(cudaStreamSynchronize(NULL));
}

static void write_times(const char *path, const int64_t *times, size_t count)
{
	FILE *file = path ? fopen(path, "w") : NULL;

	if (file) {
		fwrite(times, sizeof(*times), count, file);
		fclose(file);
	}
}

/* Returns how many times were taken: one at the start and one per step. */
static size_t run(int64_t *times, double seconds)
{
	size_t count = 0;

	times[count++] = now_ns();
	while (!over && count < MOST_STEPS &&
	       (double)(times[count - 1] - times[0]) < seconds * 1e9) {
		one_step();
		times[count++] = now_ns();
	}
	return count;
}

int main(int argc, char **argv)
{
	int64_t *times = (int64_t *)malloc(MOST_STEPS * sizeof(*times));
	const char *path = NULL;
	double seconds = 0;
	bool held = false;
	char line[16];
	size_t count;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--held"))
			held = true;
		else if (!strcmp(argv[i], "--times") && i + 1 < argc)
			path = argv[++i];
		else
			seconds = strtod(argv[i], NULL);
	}
	if (!times || seconds <= 0)
		return 2;
	signal(SIGTERM, on_signal);
	for (int i = 0; i < WARM_UP_STEPS; i++)
		one_step();
	printf("READY\n");
	fflush(stdout);
	if (held && !fgets(line, sizeof(line), stdin))
		return 1;
	count = run(times, seconds);
	write_times(path, times, count);
	seconds = (double)(times[count - 1] - times[0]) / 1e9;
	printf("{\"pid\": %d, \"steps\": %zu, \"units\": %d, \"seconds\": %.6f}\n", getpid(),
	       count - 1, LAUNCHES, seconds);
	free(times);
	return 0;
}
