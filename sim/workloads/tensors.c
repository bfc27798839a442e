// SPDX-License-Identifier: BSD-2-Clause
// tensors KEEP CHURN [BYTES]: makes KEEP tensors that stay and CHURN that are freed soon, BYTES
// [1000] each, by the stand-in for PyTorch's allocator. Prints its counts.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "c10/allocator.h"

static __attribute__((noinline)) void keep(unsigned long count, size_t bytes)
{
	for (unsigned long i = 0; i < count; i++)
		c10_allocate(bytes, 0, 0);
}

static __attribute__((noinline)) void churn(unsigned long count, size_t bytes)
{
	for (unsigned long i = 0; i < count; i++)
		c10_free(c10_allocate(bytes, 0, 0));
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000;
	struct c10_counts counts;

	if (argc < 3) {
		fputs("usage: tensors KEEP CHURN [BYTES]\n", stderr);
		return 2;
	}
	keep(strtoul(argv[1], NULL, 10), bytes);
	churn(strtoul(argv[2], NULL, 10), bytes);
	c10_count(&counts);
	printf("%" PRIu64 " tensors made, %" PRIu64 " bytes, %" PRIu64 " live, %" PRIu64 " bytes\n",
	       counts.allocations, counts.bytes, counts.live, counts.live_bytes);
	return 0;
}
