// SPDX-License-Identifier: BSD-2-Clause
/*
 * A libcuda that does nothing and succeeds, whatever sizes are requested: a program may claim any.
 * Addresses are ascending numbers without memory behind them.
 */
#include <stddef.h>

typedef unsigned long long address;

static address next = 0x700000000000;

static int take(address *out)
{
	*out = __atomic_add_fetch(&next, 0x10000, __ATOMIC_RELAXED);
	return 0;
}

#define NOTHING(name, arguments) \
	__attribute__((noinline)) int name arguments \
	{ \
		__asm__ volatile("nop\n nop\n nop\n nop"); \
		return 0; \
	}
#define TAKES(name, arguments) \
	__attribute__((noinline)) int name arguments \
	{ \
		return take(out); \
	}

NOTHING(cuInit, (unsigned int flags))
NOTHING(cuCtxSynchronize, (void))
NOTHING(cuMemFree_v2, (address at))
NOTHING(cuMemFreeHost, (void *at))
NOTHING(cuMemcpyHtoD_v2, (address to, const void *from, size_t size))
NOTHING(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t size, void *stream))
NOTHING(cuMemsetD32_v2, (address to, unsigned int value, size_t count))
NOTHING(cuMemsetD2D8_v2,
	(address to, size_t pitch, unsigned char value, size_t width, size_t height))
NOTHING(cuMemMap,
	(address at, size_t size, size_t offset, address handle, unsigned long long flags))
NOTHING(cuMemUnmap, (address at, size_t size))
TAKES(cuMemAlloc_v2, (address * out, size_t size))
TAKES(cuMemAllocManaged, (address * out, size_t size, unsigned int flags))
TAKES(cuMemAllocHost_v2, (address * out, size_t size))
TAKES(cuMemAllocAsync, (address * out, size_t size, void *stream))
TAKES(cuMemAllocFromPoolAsync, (address * out, size_t size, void *pool, void *stream))
TAKES(cuMemAddressReserve,
      (address * out, size_t size, size_t align, address hint, unsigned long long flags))
TAKES(cuMemCreate, (address * out, size_t size, const void *properties, unsigned long long flags))
NOTHING(cuMemFreeAsync, (address at, void *stream))
