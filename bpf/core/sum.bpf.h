// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sums and products of sizes that watched programs choose: they saturate at ~0 and do not wrap
 * around.
 */
#ifndef BPF_CORE_SUM_BPF_H
#define BPF_CORE_SUM_BPF_H

#include "core/kernel.bpf.h"

#define LARGEST_SUM (~0ull)

static __always_inline u64 sum_of(u64 a, u64 b)
{
	return a > LARGEST_SUM - b ? LARGEST_SUM : a + b;
}

/* Both are usually small, which avoids the slow division. */
static __always_inline u64 product_of(u64 a, u64 b)
{
	u64 most;

	if (!((a | b) >> 32) || !b)
		return a * b;
	most = LARGEST_SUM / b;
	barrier_var(most); /* otherwise the compiler makes it a 128-bit product, which BPF lacks */
	return a > most ? LARGEST_SUM : a * b;
}

/* As sum_of, for a sum that other CPUs add to as well. */
static __always_inline void add_to_sum(u64 *sum, u64 more)
{
	u64 before = *(volatile u64 *)sum;

	if (before <= LARGEST_SUM - more)
		before = __sync_fetch_and_add(sum, more);
	if (before > LARGEST_SUM - more)
		*(volatile u64 *)sum = LARGEST_SUM;
}

#endif
