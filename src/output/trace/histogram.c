// SPDX-License-Identifier: BSD-2-Clause
// A histogram with a constant relative error, see histogram.h.
#include "output/trace/histogram.h"

#define PER_POWER (1u << HISTOGRAM_BITS)

/*
 * Small values have their own buckets. For larger ones the bits after the highest one select the
 * bucket.
 */
static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < PER_POWER)
		return (unsigned int)value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - HISTOGRAM_BITS;
	return ((shift + 1) << HISTOGRAM_BITS) + (unsigned int)(value >> shift) - PER_POWER;
}

static uint64_t middle_of(unsigned int bucket)
{
	unsigned int shift;
	uint64_t low;

	if (bucket < 2 * PER_POWER)
		return bucket;
	shift = (bucket >> HISTOGRAM_BITS) - 1;
	low = (uint64_t)(PER_POWER + (bucket & (PER_POWER - 1))) << shift;
	return low + (1ull << shift) / 2;
}

void trace_histogram__add(struct trace_histogram *histogram, uint64_t value)
{
	histogram->buckets[bucket_of(value)]++;
	histogram->count++;
}

uint64_t trace_histogram__percentile(const struct trace_histogram *histogram, unsigned int percent)
{
	/* The rank, rounded up; written so that count * percent cannot overflow. */
	uint64_t rank = histogram->count / 100 * percent +
			(histogram->count % 100 * percent + 99) / 100,
		 below = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS && rank; i++) {
		below += histogram->buckets[i];
		if (below >= rank)
			return middle_of(i);
	}
	return 0;
}
