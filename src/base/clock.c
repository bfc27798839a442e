// SPDX-License-Identifier: BSD-2-Clause
// Reads the system's clocks, see clock.h.
#include "base/clock.h"

#include <math.h>

uint64_t clock__boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t clock__thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

struct timespec clock__wall(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now;
}

struct timeval clock__timeval(double seconds)
{
	double whole = floor(seconds);

	return (struct timeval){.tv_sec = (time_t)whole, .tv_usec = (suseconds_t)((seconds - whole) * 1e6)};
}
