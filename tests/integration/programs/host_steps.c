// SPDX-License-Identifier: BSD-2-Clause
/*
 * A loop of steps without Python: it computes, launches, and waits for a lock that another thread
 * holds while computing. Its last line prints, in seconds and for the time in the loop only: the
 * CPU time of the loop's thread, in total and in normalise(), and how long it waited for the lock.
 *
 *   host_steps SECONDS
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cuda_api.h"

#define NOT_INLINE __attribute__((noinline, noclone))

static CUcontext context;
static CUfunction kernel;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool stop;
static volatile double kept;
static double computed, waited;

static void need(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	_exit(1);
}

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static NOT_INLINE double normalise(long count)
{
	double sum = 0;

	for (long i = 0; i < count; i++)
		sum += 1 / (sum + (double)i);
	return sum;
}

static NOT_INLINE void hold(void)
{
	pthread_mutex_lock(&lock);
	kept = normalise(2000000);
	pthread_mutex_unlock(&lock);
	usleep(500);
}

static void *run_other(void *argument)
{
	while (!stop)
		hold();
	return argument;
}

static NOT_INLINE void take(void)
{
	double began = now(CLOCK_MONOTONIC);

	pthread_mutex_lock(&lock);
	waited += now(CLOCK_MONOTONIC) - began;
	pthread_mutex_unlock(&lock);
}

static NOT_INLINE void step(void)
{
	double began = now(CLOCK_THREAD_CPUTIME_ID);

	kept = normalise(1000000);
	computed += now(CLOCK_THREAD_CPUTIME_ID) - began;
	for (int i = 0; i < 20; i++)
		need((int)cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
		     "cuLaunchKernel");
	need((int)cuCtxSynchronize(), "cuCtxSynchronize");
	take();
}

static void start(void)
{
	static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry "
				   "step()\n{\n\tret;\n}\n";
	CUmodule module;

	need((int)cuInit(0), "cuInit");
	need((int)cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
	need((int)cuCtxSetCurrent(context), "cuCtxSetCurrent");
	need((int)cuModuleLoadData(&module, text), "cuModuleLoadData");
	need((int)cuModuleGetFunction(&kernel, module, "step"), "cuModuleGetFunction");
}

/* On a busy machine gpuprobe follows late: the file of HOST_ENOUGH says that it knows enough. */
static bool is_over(double until)
{
	const char *enough = getenv("HOST_ENOUGH");
	double late = now(CLOCK_MONOTONIC) - until;

	return late >= 0 && (!enough || !access(enough, F_OK) || late >= 60);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, until, cpu;
	pthread_t other;

	start();
	need(pthread_create(&other, NULL, run_other, NULL), "pthread_create");
	until = now(CLOCK_MONOTONIC) + seconds;
	cpu = now(CLOCK_THREAD_CPUTIME_ID);
	while (!is_over(until))
		step();
	cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
	stop = true;
	pthread_join(other, NULL);
	printf("cpu %.6f computed %.6f waited %.6f\n", cpu, computed, waited);
	return 0;
}
