// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stands in for libnccl.so.2: ncclAllReduce launches a kernel and then waits for it in
 * cudaStreamSynchronize. With NCCL_SPIN it spins on a word of memory instead, until SIGUSR1, after
 * noting so in CUDA_SIM_HANG_LOG. ncclCommDestroy waits for an event of its own that was never
 * recorded, and destroys a stream of its own with work on it.
 */
#define _GNU_SOURCE
#include "cuda_api.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noipa))

int ncclCommInitRank(void **comm, int ranks, int rank);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation, void *comm,
		  cudaStream_t stream);
int ncclCommDestroy(void *comm);

static volatile sig_atomic_t peers_came;

static void come(int number)
{
	(void)number;
	peers_came = 1;
}

int ncclCommInitRank(void **comm, int ranks, int rank)
{
	static const char code[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
				   ".visible .entry ncclDevKernel_AllReduce()\n{\n\tret;\n}\n";
	cudaLibrary_t library;
	cudaKernel_t kernel;

	(void)ranks;
	(void)rank;
	if (getenv("NCCL_SPIN"))
		signal(SIGUSR1, come);
	if (cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0) ||
	    cudaLibraryGetKernel(&kernel, library, "ncclDevKernel_AllReduce"))
		return 1;
	*comm = (void *)kernel;
	return 0;
}

/* Writes the same line as the simulator. */
static void say_hanging(void)
{
	FILE *log = fopen(getenv("CUDA_SIM_HANG_LOG"), "a");

	fprintf(log, "%d ncclAllReduce\n", gettid());
	fclose(log);
}

static NOINLINE int wait_for_peers(cudaStream_t stream)
{
	int result;

	if (getenv("NCCL_SPIN")) {
		say_hanging();
		while (!peers_came)
			;
	}
	result = cudaStreamSynchronize(stream);
	__asm__ volatile("");
	return result;
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation, void *comm,
		  cudaStream_t stream)
{
	static const dim3 one = {1, 1, 1};
	int result;

	(void)from;
	(void)to;
	(void)count;
	(void)type;
	(void)operation;
	result = cudaLaunchKernel(comm, one, one, NULL, 0, stream) ? 1 : wait_for_peers(stream);
	__asm__ volatile("");
	return result;
}

int ncclCommDestroy(void *comm)
{
	static const dim3 one = {1, 1, 1};
	cudaStream_t stream;
	cudaEvent_t event;
	int result;

	if (cudaEventCreate(&event) || cudaStreamWaitEvent(NULL, event, 0))
		return 1;
	if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) ||
	    cudaLaunchKernel(comm, one, one, NULL, 0, stream))
		return 1;
	result = cudaStreamDestroy(stream) ? 1 : 0;
	__asm__ volatile("");
	return result;
}
