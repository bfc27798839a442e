// SPDX-License-Identifier: BSD-2-Clause
/*
 * Shuts down NCCL (nccl_stand_in.c), which destroys a stream with work on it. With an argument the
 * program does the same with a stream of its own.
 */
#include "cuda_api.h"

#define NOINLINE __attribute__((noinline, noipa))

int ncclCommInitRank(void **comm, int ranks, int rank);
int ncclCommDestroy(void *comm);

static NOINLINE int drop_own_stream(void *kernel)
{
	static const dim3 one = {1, 1, 1};
	cudaStream_t stream;
	int result;

	if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) ||
	    cudaLaunchKernel(kernel, one, one, NULL, 0, stream))
		return 1;
	result = cudaStreamDestroy(stream) ? 1 : 0;
	__asm__ volatile("");
	return result;
}

int main(int argc, char **argv)
{
	void *comm;

	(void)argv;
	if (ncclCommInitRank(&comm, 1, 0) || (argc > 1 && drop_own_stream(comm)))
		return 1;
	return ncclCommDestroy(comm);
}
