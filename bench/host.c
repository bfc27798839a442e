// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures what following threads costs them in gpuprobe diagnose. Prints the nanoseconds of one
 * turn: the 10th percentile of stretches of about 50 ms, which other programs affect least; for
 * `compute` in the thread's CPU time.
 *
 *   host compute N   N stretches of the same work, about 100 us, with a launch each time: the
 *                    thread is followed
 *   host switch N    two threads on one CPU pass a byte to each other, two switches a turn, with a
 *                    launch in every thousandth: both are followed, as submitter and as its waker
 *   host bystander N the same without CUDA: no thread is followed
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda_api.h"

#define WORK 20000
#define LAUNCH_EVERY 1000
#define COMPUTED 500 /* turns of a stretch: five samples of it on average */
#define PASSED 8000
/*
 * gpuprobe ignores the first two seconds of a process, then it must find the threads and those they
 * wait for
 */
#define SETTLE_SECONDS 5

static CUfunction kernel;
static int there[2], back[2];
static volatile double kept;

static void need(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	exit(1);
}

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void start_cuda(void)
{
	static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry "
				   "turn()\n{\n\tret;\n}\n";
	CUcontext context;
	CUmodule module;

	need((int)cuInit(0), "cuInit");
	need((int)cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
	need((int)cuCtxSetCurrent(context), "cuCtxSetCurrent");
	need((int)cuModuleLoadData(&module, text), "cuModuleLoadData");
	need((int)cuModuleGetFunction(&kernel, module, "turn"), "cuModuleGetFunction");
}

static void launch(void)
{
	need((int)cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
}

static void compute(void)
{
	double sum = 0;

	for (int i = 0; i < WORK; i++)
		sum += 1 / (sum + i);
	kept = sum;
	launch();
}

static void pass(int from, int to)
{
	char byte = 0;

	need(read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1, "a byte that is passed on");
}

static void *run_other(void *argument)
{
	for (;;)
		pass(there[0], back[1]);
	return argument;
}

static void start_other(void)
{
	pthread_t other;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((unsigned int)sched_getcpu(), &one);
	need(sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back), "pipes");
	need(pthread_create(&other, NULL, run_other, NULL), "pthread_create");
}

static void turn_around(bool launches, unsigned long number)
{
	char byte = 0;

	need(write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1,
	     "a byte that comes back");
	if (launches && number % LAUNCH_EVERY == 0)
		launch();
}

static int compare(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* Measures the nanoseconds of a turn in each stretch; returns their 10th percentile. */
static double measure(bool computes, bool cuda, unsigned long stretches)
{
	clockid_t clock = computes ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	double *taken = calloc(stretches, sizeof(*taken)), low;
	unsigned long turns = computes ? COMPUTED : PASSED;

	need(!taken, "memory");
	for (unsigned long i = 0; i < stretches; i++) {
		double began = now(clock);

		for (unsigned long number = 0; number < turns; number++)
			computes ? compute() : turn_around(cuda, number);
		taken[i] = (now(clock) - began) / (double)turns;
	}
	qsort(taken, stretches, sizeof(*taken), compare);
	low = taken[stretches / 10];
	free(taken);
	return low;
}

int main(int argc, char **argv)
{
	const char *way = argc > 2 ? argv[1] : "";
	unsigned long stretches = argc > 2 ? strtoul(argv[2], NULL, 10) : 0, number = 0;
	bool computes = !strcmp(way, "compute"), cuda = strcmp(way, "bystander") != 0;
	double settled;

	if (!stretches) {
		fprintf(stderr, "usage: host compute|switch|bystander N\n");
		return 2;
	}
	if (cuda)
		start_cuda();
	if (!computes)
		start_other();
	settled = now(CLOCK_MONOTONIC) + SETTLE_SECONDS * 1e9;
	for (; cuda && now(CLOCK_MONOTONIC) < settled; number++)
		computes ? compute() : turn_around(true, number);
	printf("%.1f\n", measure(computes, cuda, stretches));
	return 0;
}
