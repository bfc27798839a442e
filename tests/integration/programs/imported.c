// SPDX-License-Identifier: BSD-2-Clause
/*
 * imported FD N: opens, N times, the memory of PIECES pieces that another process shared through
 * FD. Two threads at once map it piece by piece and release it; the last time it stays mapped.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_api.h"

#define GRAIN (2ul << 20)
#define PIECES 64

static CUcontext context;
static CUmemGenericAllocationHandle handle;
static CUdeviceptr first, second;
static unsigned long turns;
static atomic_ulong begun, ended;

static void need(int result)
{
	if (result) {
		fprintf(stderr, "a CUDA call failed: %d\n", result);
		exit(1);
	}
}

static void map_at(CUdeviceptr address)
{
	for (size_t offset = 0; offset < PIECES * GRAIN; offset += GRAIN)
		need((int)cuMemMap(address + offset, GRAIN, offset, handle, 0));
}

static void *map_second(void *unused)
{
	(void)unused;
	need((int)cuCtxSetCurrent(context));
	for (unsigned long turn = 1; turn <= turns; turn++) {
		while (atomic_load(&begun) < turn)
			sched_yield();
		map_at(second);
		atomic_store(&ended, turn);
	}
	return NULL;
}

static void map_both(unsigned long turn, void *file)
{
	need((int)cuMemImportFromShareableHandle(&handle, file, 1));
	atomic_store(&begun, turn);
	map_at(first);
	while (atomic_load(&ended) < turn)
		sched_yield();
}

int main(int argc, char *argv[])
{
	void *file = (void *)(intptr_t)atoi(argv[argc - 2]);
	pthread_t thread;
	CUdevice device;

	turns = strtoul(argv[argc - 1], NULL, 10);
	need((int)cuInit(0));
	need((int)cuDeviceGet(&device, 0));
	need((int)cuDevicePrimaryCtxRetain(&context, device));
	need((int)cuCtxSetCurrent(context));
	need((int)cuMemAddressReserve(&first, PIECES * GRAIN, 0, 0, 0));
	need((int)cuMemAddressReserve(&second, PIECES * GRAIN, 0, 0, 0));
	if (pthread_create(&thread, NULL, map_second, NULL))
		return 1;
	for (unsigned long turn = 1; turn <= turns; turn++) {
		map_both(turn, file);
		if (turn == turns)
			break;
		need((int)cuMemUnmap(first, PIECES * GRAIN));
		need((int)cuMemUnmap(second, PIECES * GRAIN));
		need((int)cuMemRelease(handle));
	}
	pthread_join(thread, NULL);
	return 0;
}
