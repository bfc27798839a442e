// SPDX-License-Identifier: BSD-2-Clause
// A program that contains functions of the runtime, which do nothing, and needs no loader:
// static-pie programs have none.
#include <stdio.h>

#define FUNCTION(name) \
	__asm__(".text\n.globl " name "\n.type " name ", @function\n" name \
		": push %rbp\n pop %rbp\n xor %eax, %eax\n ret\n" \
		".size " name ", . - " name "\n")

FUNCTION("cudaMalloc");
FUNCTION("cudaFree");
FUNCTION("cudaLaunchKernel");
FUNCTION("cudaDeviceSynchronize");

int cudaMalloc(void **address, unsigned long size);
int cudaFree(void *address);
int cudaDeviceSynchronize(void);

int main(void)
{
	void *address;

	for (unsigned long i = 1; i <= 5; i++) {
		address = (void *)(4096 * i);
		if (cudaMalloc(&address, 4096) || cudaDeviceSynchronize() || cudaFree(address))
			return 1;
	}
	return 0;
}
