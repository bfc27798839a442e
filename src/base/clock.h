/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clocks that gpuprobe reads. BPF stamps all times with the kernel's CLOCK_BOOTTIME. A process
 * in a time namespace sees a shifted clock, in clock_gettime(2) and in /proc, so gpuprobe converts
 * every time that it keeps or compares to the kernel's clock.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "base/error.h"

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

/* Nanoseconds since boot by the kernel's clock, including suspend. */
uint64_t clock__boot_ns(void);

/*
 * Converts a CLOCK_BOOTTIME time as this process sees it, from /proc/PID/stat for example, to the
 * kernel's clock.
 */
uint64_t clock__of_kernel(uint64_t boot_ns);

/*
 * Measures how far this process's clock is ahead of the kernel's. Runs by itself before main; a
 * forked child that may be in another time namespace than its parent calls it again.
 */
void clock__find_kernels(void);

/*
 * Returns 0, or a negative errno with what to do in `err` if the offset to the kernel's clock is
 * unknown: times can then not be compared with BPF's.
 */
int clock__check(struct error *err);

/* Nanoseconds of CLOCK_MONOTONIC: for waits and durations, which exclude suspend. */
uint64_t clock__monotonic_ns(void);

/* CPU time of the calling thread in nanoseconds; load on the machine does not affect it. */
uint64_t clock__thread_ns(void);

/* Wall-clock time. */
struct timespec clock__wall(void);

/* Converts seconds to what libevent's timers take. */
struct timeval clock__timeval(double seconds);

#endif
