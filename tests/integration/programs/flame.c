// SPDX-License-Identifier: BSD-2-Clause
/*
 * Driver calls from known functions, the same number in every run:
 *
 *   keep:   100 allocations of 1000 bytes through grow
 *   spare:   50 of 2000 bytes through grow, of which 45 are freed
 *   pinned:   3 of host memory
 *   first:  200 launches of alpha
 *   second:  77 launches of alpha, 300 of beta
 *   slow:     5 waits for the context
 *   quick:   40 waits for a stream
 *
 * Failures are ignored. With an argument, the program waits for a line on stdin before it ends. It
 * writes the duration of the waits for the context, in nanoseconds, as measured around its calls,
 * to the file that the variable WAITED names.
 *
 * With the argument `turns` it makes 40 steps of 64 launches of alpha instead: half by left, half
 * by right.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_api.h"

#define OWN __attribute__((noinline, noclone))

static CUfunction alpha, beta;
/* Work after a call keeps the compiler from making it a tail call. */
static volatile unsigned long done;

static void need(int result)
{
	if (result)
		exit(1);
}

OWN static CUdeviceptr grow(size_t size)
{
	CUdeviceptr address = 0;

	cuMemAlloc(&address, size);
	done++;
	return address;
}

OWN static void keep(void)
{
	for (int i = 0; i < 100; i++)
		grow(1000);
	done++;
}

OWN static void spare(void)
{
	for (int i = 0; i < 50; i++) {
		CUdeviceptr address = grow(2000);

		if (i >= 5 && address)
			need((int)cuMemFree(address));
	}
	done++;
}

OWN static void pinned(void)
{
	void *address;

	for (int i = 0; i < 3; i++)
		cuMemAllocHost(&address, 1 << 20);
	done++;
}

OWN static void launch(CUfunction kernel)
{
	cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	done++;
}

OWN static void first(void)
{
	for (int i = 0; i < 200; i++)
		launch(alpha);
	done++;
}

OWN static void second(void)
{
	for (int i = 0; i < 77; i++)
		launch(alpha);
	for (int i = 0; i < 300; i++)
		launch(beta);
	done++;
}

OWN static void left(void)
{
	for (int i = 0; i < 32; i++)
		launch(alpha);
	done++;
}

OWN static void right(void)
{
	for (int i = 0; i < 32; i++)
		launch(alpha);
	done++;
}

static void take_turns(void)
{
	for (int step = 0; step < 40; step++) {
		left();
		right();
	}
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void tell_waited(uint64_t ns)
{
	FILE *out = getenv("WAITED") ? fopen(getenv("WAITED"), "w") : NULL;

	if (!out)
		return;
	fprintf(out, "%llu", (unsigned long long)ns);
	need(fclose(out));
}

OWN static void slow(void)
{
	uint64_t waited = 0;

	for (int i = 0; i < 5; i++) {
		uint64_t begin = now_ns();

		cuCtxSynchronize();
		waited += now_ns() - begin;
	}
	tell_waited(waited);
	done++;
}

OWN static void quick(void)
{
	for (int i = 0; i < 40; i++)
		cuStreamSynchronize(NULL);
	done++;
}

static void start(void)
{
	static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
				   ".visible .entry _Z5alphaPf()\n{\n\tret;\n}\n"
				   ".visible .entry beta()\n{\n\tret;\n}\n";
	CUcontext context;
	CUmodule module;

	need((int)cuInit(0));
	need((int)cuDevicePrimaryCtxRetain(&context, 0));
	need((int)cuCtxSetCurrent(context));
	need((int)cuModuleLoadData(&module, text));
	need((int)cuModuleGetFunction(&alpha, module, "_Z5alphaPf"));
	need((int)cuModuleGetFunction(&beta, module, "beta"));
}

int main(int argc, char **argv)
{
	start();
	if (argc > 1 && !strcmp(argv[1], "turns")) {
		take_turns();
		return 0;
	}
	keep();
	spare();
	pinned();
	first();
	second();
	slow();
	quick();
	puts("done");
	fflush(stdout);
	if (argc > 1)
		getchar();
	return 0;
}
