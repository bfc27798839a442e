/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Differences that are 0 instead of negative, computed without a branch: in a sum of several, the
 * verifier would follow each branch anew for each way through the ones before.
 */
#ifndef GPUPROBE_POSITIVE_H
#define GPUPROBE_POSITIVE_H

#include <linux/types.h>

/* `a` - `b`, or 0 if `b` is more. Both are below 2^63, as times and sums of times are. */
static inline __u64 positive_difference(__u64 a, __u64 b)
{
	__u64 negative = (a - b) >> 63;

	__asm__("" : "+r"(negative)); /* keeps the compiler from making a branch */
	return (a - b) & (negative - 1);
}

#endif
