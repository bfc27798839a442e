// SPDX-License-Identifier: BSD-2-Clause
// Returns the heap's free memory; see heap.h.
#include "base/heap.h"

#include <malloc.h>

#include "base/clock.h"

#define LARGE (256 << 10)
#define MUCH ((size_t)8 << 20)
#define REST_NS (2 * NS_PER_S)

void heap__settle(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE);
	mallopt(M_TRIM_THRESHOLD, LARGE);
}

void heap__give_back(uint64_t *last_ns, uint64_t now_ns)
{
	if (now_ns - *last_ns < REST_NS || mallinfo2().fordblks < MUCH)
		return;
	malloc_trim(0);
	*last_ns = now_ns;
}
