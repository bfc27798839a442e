// SPDX-License-Identifier: BSD-2-Clause
// A program as nvcc makes it by default: the CUDA runtime linked in statically,
// kernels launched by <<<>>>. For tests/gpu/run.py, which knows these numbers.
#include <cstdio>

template <typename T> __global__ void add_one(T *values, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		values[i] += 1;
}

__global__ void scale(float *values, int n, float factor)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		values[i] *= factor;
}

int main()
{
	const int n = 1 << 20;
	float *a, *b, *leaked;

	if (cudaMalloc(&a, n * sizeof(*a)) || cudaMalloc(&b, n * sizeof(*b)) || cudaMalloc(&leaked, 4096))
		return 1;
	cudaMalloc(&leaked, (size_t)1 << 50); /* fails */
	cudaMemset(a, 0, n * sizeof(*a));
	for (int i = 0; i < 1000; i++) {
		add_one<float><<<n / 256, 256>>>(a, n);
		scale<<<n / 256, 256>>>(b, n, 2.0f);
	}
	cudaMemcpy(b, a, n * sizeof(*a), cudaMemcpyDeviceToDevice);
	if (cudaDeviceSynchronize())
		return 1;
	cudaFree(a);
	cudaFree(b);
	puts("done");
	return 0;
}
