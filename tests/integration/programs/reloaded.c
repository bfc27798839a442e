// SPDX-License-Identifier: BSD-2-Clause
/*
 * A libcuda that can be unloaded; the simulated one stays loaded. Its memory is nothing but
 * addresses.
 */
#include <stddef.h>

static unsigned long long next = 0x7f0000000000;

int cuInit(unsigned int flags);
int cuMemAlloc_v2(unsigned long long *address, size_t size);
int cuMemFree_v2(unsigned long long address);

int cuInit(unsigned int flags)
{
	return (int)flags;
}

int cuMemAlloc_v2(unsigned long long *address, size_t size)
{
	*address = next;
	next += size;
	return 0;
}

int cuMemFree_v2(unsigned long long address)
{
	return address >= next;
}
