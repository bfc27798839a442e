// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums and products of sizes, which programs choose: what is too large is ~0, and does not begin at 0 again. */
#ifndef BPF_CORE_SUM_BPF_H
#define BPF_CORE_SUM_BPF_H

#include "core/kernel.bpf.h"

#define LARGEST_SUM (~0ull)

static __always_inline u64 sum_of(u64 a, u64 b)
{
	return a > LARGEST_SUM - b ? LARGEST_SUM : a + b;
}

/* Both are small as a rule: a division takes long. */
static __always_inline u64 product_of(u64 a, u64 b)
{
	u64 most;

	if (!((a | b) >> 32) || !b)
		return a * b;
	most = LARGEST_SUM / b;
	barrier_var(most); /* else the compiler takes it for a product of 128 bits, which there is none of */
	return a > most ? LARGEST_SUM : a * b;
}

/* Where others add as well. */
static __always_inline void add_to_sum(u64 *sum, u64 more)
{
	u64 before = *(volatile u64 *)sum;

	if (before <= LARGEST_SUM - more)
		before = __sync_fetch_and_add(sum, more);
	if (before > LARGEST_SUM - more)
		*(volatile u64 *)sum = LARGEST_SUM;
}

#endif
