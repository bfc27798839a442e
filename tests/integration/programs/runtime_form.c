// SPDX-License-Identifier: BSD-2-Clause
/*
 * A CUDA runtime of the few functions by which test_runtime_versions.py finds out which form of a
 * function gpuprobe reads; all do nothing but succeed. With OLD it has the functions that CUDA 13
 * removed. With PROGRAM it is a program that contains the runtime, makes the test's calls itself,
 * and ends once the file named by its argument exists.
 */
#include <stddef.h>
#include <unistd.h>

#define NOTHING(name) \
	__attribute__((noipa)) int name(const void *, const void *, const size_t *, size_t, \
					void *, size_t *, size_t, unsigned long, unsigned long); \
	int name(const void *a, const void *b, const size_t *c, size_t d, void *e, size_t *f, \
		 size_t g, unsigned long h, unsigned long i) \
	{ \
		(void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i; \
		return 0; \
	}

/* A libcudart is recognised by this function. */
NOTHING(cudaMalloc)
NOTHING(cudaLaunchKernel)

NOTHING(cudaMemcpyBatchAsync)

__attribute__((noipa)) int cudaStreamSynchronize(unsigned long stream);
int cudaStreamSynchronize(unsigned long stream)
{
	(void)stream;
	return 0;
}

#ifdef OLD
NOTHING(cudaThreadExit)
NOTHING(cudaThreadSynchronize)
#endif

#ifdef PROGRAM
int main(int argc, char **argv)
{
	/* On the stack: constants would be on a page that has not been touched yet. */
	size_t sizes[] = {100, 20, 3};

	for (int i = 0; i < 4; i++)
		cudaMemcpyBatchAsync(NULL, NULL, sizes, 3, NULL, NULL, 0,
				     OLD_FORM ? 0x6000 : 0x5000, OLD_FORM ? 0x5000 : 0x6000);
	cudaStreamSynchronize(0x5000);
	cudaMemcpyBatchAsync(NULL, NULL, sizes, 2, NULL, NULL, 0, OLD_FORM ? 0x6000 : 0x7000,
			     OLD_FORM ? 0x7000 : 0x6000);
	while (argc > 1 && access(argv[1], F_OK))
		usleep(10000);
	return 0;
}
#endif
