/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A histogram of durations for percentiles: 32 buckets for each power of two, so that the middle of
 * a bucket is within 1.6 % of all its values.
 */
#ifndef OUTPUT_TRACE_HISTOGRAM_H
#define OUTPUT_TRACE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BITS 5 /* 2^5 buckets for each power of two */
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

struct trace_histogram {
	uint64_t count;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

void trace_histogram__add(struct trace_histogram *histogram, uint64_t value);

/*
 * The smallest value that at least `percent` of 100 of all values do not exceed, as the middle of
 * its bucket; 0 for an empty histogram.
 */
uint64_t trace_histogram__percentile(const struct trace_histogram *histogram, unsigned int percent);

#endif
