// SPDX-License-Identifier: BSD-2-Clause
/*
 * Load with a result that can be checked: threads that copy to the device, launch, copy back and
 * compare, and allocate and free. It runs until its standard input closes, then prints "right N",
 * for N launches, and exits with 0. Any mistake makes it exit with 1. It answers a line on its
 * standard input with the line "alive".
 *
 *   steady THREADS [MICROSECONDS between rounds]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda_api.h"

#define SIZE 4096
#define THREADS_MAX 64

static CUcontext context;
static CUfunction kernel;
static atomic_bool stop;
static atomic_ulong launches;
static useconds_t pause_us;

static void need(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	_exit(1);
}

static void start(void)
{
	static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry "
				   "steady()\n{\n\tret;\n}\n";
	CUmodule module;

	need((int)cuInit(0), "cuInit");
	need((int)cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
	need((int)cuCtxSetCurrent(context), "cuCtxSetCurrent");
	need((int)cuModuleLoadData(&module, text), "cuModuleLoadData");
	need((int)cuModuleGetFunction(&kernel, module, "steady"), "cuModuleGetFunction");
}

static void round_trip(unsigned char *sent, unsigned char *back, unsigned char seed)
{
	CUdeviceptr address;

	for (int i = 0; i < SIZE; i++)
		sent[i] = (unsigned char)(seed + i);
	memset(back, 0, SIZE);
	need((int)cuMemAlloc(&address, SIZE), "cuMemAlloc");
	need((int)cuMemcpyHtoD(address, sent, SIZE), "cuMemcpyHtoD");
	need((int)cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
	need((int)cuCtxSynchronize(), "cuCtxSynchronize");
	need((int)cuMemcpyDtoH(back, address, SIZE), "cuMemcpyDtoH");
	need((int)cuMemFree(address), "cuMemFree");
	need(memcmp(sent, back, SIZE), "what came back differs");
}

static void *work(void *unused)
{
	unsigned char sent[SIZE], back[SIZE];

	(void)unused;
	need((int)cuCtxSetCurrent(context), "cuCtxSetCurrent");
	for (unsigned char seed = 0; !atomic_load(&stop); seed++) {
		round_trip(sent, back, seed);
		atomic_fetch_add(&launches, 1);
		if (pause_us)
			usleep(pause_us);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t threads[THREADS_MAX];
	char line[64];

	if (count < 1 || count > THREADS_MAX) {
		fputs("usage: steady THREADS [MICROSECONDS]\n", stderr);
		return 2;
	}
	pause_us = argc > 2 ? (useconds_t)atoi(argv[2]) : 0;
	start();
	for (int i = 0; i < count; i++)
		need(pthread_create(&threads[i], NULL, work, NULL), "pthread_create");
	while (fgets(line, sizeof(line), stdin)) {
		puts("alive");
		fflush(stdout);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < count; i++)
		need(pthread_join(threads[i], NULL), "pthread_join");
	printf("right %lu\n", atomic_load(&launches));
	return 0;
}
