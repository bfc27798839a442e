// SPDX-License-Identifier: BSD-2-Clause
/*
 * A libcuda of the functions that the simulated one leaves out: those of the first CUDA versions,
 * with 32-bit addresses and sizes, and the array copies. They do nothing but succeed;
 * test_argument_places.py calls them with arguments that it knows.
 */
#include <stddef.h>

#define NOTHING(name) \
	int name(void); \
	int name(void) \
	{ \
		return 0; \
	}

/* A libcuda is recognised by this function. */
NOTHING(cuInit)
NOTHING(cuMemAlloc_v2)

NOTHING(cuMemFree)
NOTHING(cuMemFreeHost)
NOTHING(cuLaunch)
NOTHING(cuLaunchGrid)
NOTHING(cuLaunchGridAsync)
NOTHING(cuMemcpyHtoD)
NOTHING(cuMemcpyDtoH)
NOTHING(cuMemcpyDtoD)
NOTHING(cuMemcpyHtoDAsync)
NOTHING(cuMemcpyDtoHAsync)
NOTHING(cuMemcpyDtoDAsync)
NOTHING(cuMemcpyAtoA)
NOTHING(cuMemcpyAtoA_v2)
NOTHING(cuMemcpyAtoA_v2_ptds)
NOTHING(cuMemcpyAtoD)
NOTHING(cuMemcpyAtoD_v2)
NOTHING(cuMemcpyAtoD_v2_ptds)
NOTHING(cuMemcpyDtoA)
NOTHING(cuMemcpyDtoA_v2)
NOTHING(cuMemcpyDtoA_v2_ptds)
NOTHING(cuMemcpyAtoH)
NOTHING(cuMemcpyAtoH_v2)
NOTHING(cuMemcpyAtoH_v2_ptds)
NOTHING(cuMemcpyAtoHAsync)
NOTHING(cuMemcpyAtoHAsync_v2)
NOTHING(cuMemcpyAtoHAsync_v2_ptsz)
NOTHING(cuMemcpyHtoA)
NOTHING(cuMemcpyHtoA_v2)
NOTHING(cuMemcpyHtoA_v2_ptds)
NOTHING(cuMemcpyHtoAAsync)
NOTHING(cuMemcpyHtoAAsync_v2)
NOTHING(cuMemcpyHtoAAsync_v2_ptsz)
NOTHING(cuMemsetD8)
NOTHING(cuMemsetD16)
NOTHING(cuMemsetD32)
NOTHING(cuMemsetD2D8)
NOTHING(cuMemsetD2D16)
NOTHING(cuMemsetD2D32)

static unsigned int next = 0x10000;

/* The memory after a 32-bit result must not be taken for its upper half. */
int cuMemAlloc(unsigned int *out, unsigned int size);
int cuMemAlloc(unsigned int *out, unsigned int size)
{
	*out = next;
	next += size;
	return 0;
}

int cuMemAllocPitch(unsigned int *out, unsigned int *pitch, unsigned int width,
		    unsigned int height);
int cuMemAllocPitch(unsigned int *out, unsigned int *pitch, unsigned int width, unsigned int height)
{
	*pitch = (width + 255) & ~255u;
	*out = next;
	next += *pitch * height;
	return 0;
}

/* Host memory has always had pointers. */
int cuMemAllocHost(void **out, unsigned int size);
int cuMemAllocHost(void **out, unsigned int size)
{
	*out = (void *)(0x7000000000ul + next);
	next += size;
	return 0;
}
