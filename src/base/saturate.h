/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saturating arithmetic for amounts that a watched program influences: overflow gives UINT64_MAX,
 * and a negative result gives 0. Adding therefore never makes a sum smaller.
 */
#ifndef BASE_SATURATE_H
#define BASE_SATURATE_H

#include <stdint.h>

static inline uint64_t saturate__sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline void saturate__add(uint64_t *sum, uint64_t more)
{
	*sum = saturate__sum(*sum, more);
}

static inline uint64_t saturate__difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline uint64_t saturate__product(uint64_t a, uint64_t b)
{
	return b && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static inline uint64_t saturate__wide(__int128 amount)
{
	if (amount < 0)
		return 0;
	return amount > UINT64_MAX ? UINT64_MAX : (uint64_t)amount;
}

static inline uint64_t saturate__double(double amount)
{
	if (!(amount > 0))
		return 0;
	return amount >= (double)UINT64_MAX ? UINT64_MAX : (uint64_t)amount;
}

#endif
