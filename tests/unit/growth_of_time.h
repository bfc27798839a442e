/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How the time of some work grows with its size. With sixteen times as much it may take 128 times
 * as long, since caches run out, and other load on the processor may make them run out early (four
 * times as much has taken 14 times as long). A quadratic algorithm would take 256 times as long.
 * The measure is the thread's CPU time, the best of several tries: other load can only make a try
 * slower. So the first large try that is fast enough decides, and a busy machine gets more tries to
 * show one.
 */
#ifndef TESTS_GROWTH_OF_TIME_H
#define TESTS_GROWTH_OF_TIME_H

#include <malloc.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

#define MS 1000000ull
#define TRIES 3
#define TRIES_OF_LARGE 20
#define GROWTH 16
#define GROWTH_MAX 128
/*
 * If the smaller run is faster than this, the result reflects a busy machine's caches more than the
 * code.
 */
#define TOO_QUICK (MS / 4)

/* Sanitizers need extra time and memory. */
#ifdef GPUPROBE_SANITIZED
#define SLOWER 10
#else
#define SLOWER 1
#endif

typedef void (*work_fn)(size_t size);

static inline uint64_t spent(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

/* Ends a hanging test by its CPU time: on a busy machine others may delay a test that is fine. */
static inline void end_after_running_s(time_t seconds)
{
	const struct itimerval once = {.it_value.tv_sec = seconds};

	assert_int_equal(setitimer(ITIMER_PROF, &once, NULL), 0);
}

static inline uint64_t time_of_once(work_fn work, size_t size)
{
	uint64_t begin = spent();

	work(size);
	return spent() - begin;
}

/* The best of up to `tries` times, or the first that is below `enough`. */
static inline uint64_t best_time_of(work_fn work, size_t size, int tries, uint64_t enough)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < tries && best >= enough; i++) {
		uint64_t took = time_of_once(work, size);

		best = took < best ? took : best;
	}
	return best;
}

static inline uint64_t time_of_small(work_fn work, size_t size)
{
	return best_time_of(work, size, TRIES, 0);
}

/* For GROWTH times the work that took `small`. */
static inline uint64_t assert_no_square(uint64_t small, work_fn work, size_t size)
{
	uint64_t bound = GROWTH_MAX * (small > TOO_QUICK ? small : TOO_QUICK);
	uint64_t large = best_time_of(work, size, TRIES_OF_LARGE, bound);

	if (large >= bound)
		fail_msg("%.1f ms, %d times as much in %.1f ms", (double)small / MS, GROWTH,
			 (double)large / MS);
	return large;
}

/* Compares `size` with GROWTH times as much. */
static inline void assert_linear(const char *what, work_fn work, size_t size)
{
	uint64_t small, large;

	/*
	 * Memory returned to the kernel comes back with page faults, whose cost depends on the
	 * machine.
	 */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	small = time_of_small(work, size);
	print_message("%s: %zu in %.1f ms", what, size, (double)small / MS);
	large = assert_no_square(small, work, GROWTH * size);
	print_message(", %zu in %.1f ms\n", GROWTH * size, (double)large / MS);
}

static inline size_t resident_bytes(void)
{
	unsigned long pages = 0;
	FILE *in;

	malloc_trim(0);
	in = fopen("/proc/self/statm", "re");

	assert_non_null(in);
	assert_int_equal(fscanf(in, "%*u %lu", &pages), 1);
	fclose(in);
	return pages * 4096;
}

#endif
