// SPDX-License-Identifier: BSD-2-Clause
/*
 * When each device works: intervals sorted by time, which neither overlap nor touch. When there are
 * too many, the older half goes into a sum: it is in the past, and no later work begins in it.
 */
#include "cuda/busy.h"
#include "cuda/driver.h"
#include "record/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INTERVALS 65536u

struct interval {
	uint64_t begin;
	uint64_t end;
};

static struct device {
	struct interval *intervals;
	size_t count;
	uint64_t left_out; /* older intervals, and the time in them */
	uint64_t left_out_ns;
} devices[MAX_DEVICES];

static struct interval *intervals_of(struct device *device)
{
	if (!device->intervals)
		device->intervals = malloc(MAX_INTERVALS * sizeof(*device->intervals));
	if (!device->intervals)
		sim_parse__refuse("the device clock", "malloc", "out of memory");
	return device->intervals;
}

static void leave_half_out(struct device *device)
{
	size_t half = device->count / 2;

	for (size_t i = 0; i < half; i++)
		device->left_out_ns += device->intervals[i].end - device->intervals[i].begin;
	device->left_out += half;
	device->count -= half;
	memmove(device->intervals, device->intervals + half,
		device->count * sizeof(*device->intervals));
}

/* The first interval that ends at `time` or later. */
static size_t find(const struct device *device, uint64_t time)
{
	size_t low = 0, high = device->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (device->intervals[middle].end < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Replaces the intervals from `first` up to `behind` with one. */
static void replace(struct device *device, size_t first, size_t behind, struct interval with)
{
	struct interval *intervals = device->intervals;

	memmove(intervals + first + 1, intervals + behind,
		(device->count - behind) * sizeof(*intervals));
	intervals[first] = with;
	device->count = device->count - (behind - first) + 1;
}

void busy__add(int number, uint64_t begin, uint64_t end)
{
	struct device *device = &devices[number];
	struct interval *intervals = intervals_of(device);
	size_t first, behind;

	if (device->count == MAX_INTERVALS)
		leave_half_out(device);
	first = find(device, begin);
	for (behind = first; behind < device->count && intervals[behind].begin <= end; behind++) {
		if (intervals[behind].begin < begin)
			begin = intervals[behind].begin;
		if (intervals[behind].end > end)
			end = intervals[behind].end;
	}
	replace(device, first, behind, (struct interval){ begin, end });
}

/* The part of the interval before `now`. */
static struct interval cut(struct interval interval, uint64_t now)
{
	if (interval.end > now)
		interval.end = now;
	return interval;
}

void busy__print(FILE *out, int number, uint64_t now)
{
	const struct device *device = &devices[number];
	uint64_t ns = device->left_out_ns;
	size_t count;

	for (count = 0; count < device->count && device->intervals[count].begin < now; count++)
		ns += cut(device->intervals[count], now).end - device->intervals[count].begin;
	fprintf(out,
		"\"busy\":{\"ns\":%" PRIu64 ",\"intervals\":%" PRIu64 ",\"left_out\":%" PRIu64
		",\"list\":[",
		ns, device->left_out + count, device->left_out);
	for (size_t i = 0; i < count; i++) {
		struct interval interval = cut(device->intervals[i], now);

		fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", i ? "," : "", interval.begin,
			interval.end);
	}
	fputs("]}", out);
}

void busy__forget(void)
{
	for (int i = 0; i < MAX_DEVICES; i++) {
		devices[i].count = 0;
		devices[i].left_out = 0;
		devices[i].left_out_ns = 0;
	}
}
