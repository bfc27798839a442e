/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over copies of one sort. */
#ifndef FINDING_COPY_SUM_H
#define FINDING_COPY_SUM_H

#include <stdint.h>

struct copy_sum {
	uint64_t calls, bytes;
	uint64_t ns; /* time inside the calls */
};

static inline void copy_sum__add(struct copy_sum *sum, uint64_t calls, uint64_t bytes, uint64_t ns)
{
	sum->calls += calls;
	sum->bytes += bytes;
	sum->ns += ns;
}

/* Bytes per second; 0: unknown. */
static inline double copy_sum__rate(const struct copy_sum *sum)
{
	return sum->ns ? (double)sum->bytes * 1e9 / (double)sum->ns : 0;
}

#endif
