/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clocks that a test advances, in place of libc's: for the code under test and for the libraries
 * that it calls. The test never waits, and a machine that delays it by seconds changes nothing.
 */
#ifndef TESTS_FAKE_CLOCK_H
#define TESTS_FAKE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Time since the machine's start, set by the test. Another thread may read it. */
static _Atomic uint64_t fake_now_ns = 1000000ull * 1000000000ull;
/*
 * Fakes CLOCK_MONOTONIC as well, which the kernel and libc wait by: only if nothing under test
 * waits.
 */
static bool fake_monotonic;
/* If not NULL, called when CLOCK_MONOTONIC is read: the code under test is about to wait. */
static void (*before_wait)(void);
/* If not 0, the CPU time of the thread. */
static uint64_t fake_thread_ns;

/* 0: ask the kernel. */
static inline uint64_t fake_ns(clockid_t which)
{
	switch (which) {
	case CLOCK_BOOTTIME: return atomic_load(&fake_now_ns);
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_COARSE: return fake_monotonic ? atomic_load(&fake_now_ns) : 0;
	case CLOCK_THREAD_CPUTIME_ID: return fake_thread_ns;
	default: return 0;
	}
}

int clock_gettime(clockid_t which, struct timespec *now)
{
	uint64_t ns = fake_ns(which);

	if (which == CLOCK_MONOTONIC && before_wait)
		before_wait();
	if (!ns)
		return (int)syscall(SYS_clock_gettime, which, now);
	*now = (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
				 .tv_nsec = (long)(ns % 1000000000)};
	return 0;
}

static inline void pass_ns(uint64_t ns)
{
	atomic_fetch_add(&fake_now_ns, ns);
}

static inline void pass_ms(uint64_t ms)
{
	pass_ns(ms * 1000000);
}

#endif
