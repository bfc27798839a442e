// SPDX-License-Identifier: BSD-2-Clause
// A program whose last kernel writes where there is no memory. It lives on for some seconds.
#include <cstdio>
#include <unistd.h>

#define LAUNCHES 20
#define AFTERWARDS 6 // seconds

__global__ void healthy(int *memory)
{
	memory[threadIdx.x] = 1;
}

__global__ void out_of_bounds(int *memory)
{
	memory[(threadIdx.x + 1) * (1ll << 40)] = 1;
}

int main(void)
{
	int *memory;

	if (cudaMalloc(&memory, 4096))
		return 1;
	for (int i = 0; i < LAUNCHES; i++) {
		healthy<<<1, 32>>>(memory);
		cudaDeviceSynchronize();
		usleep(50000);
	}
	out_of_bounds<<<1, 32>>>(memory);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	fflush(stdout);
	sleep(AFTERWARDS);
	return 0;
}
