/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clocks gpuprobe reads. BPF stamps everything with the kernel's CLOCK_BOOTTIME. A process in a time namespace is
 * shown another one, by clock_gettime(2) and by /proc: all times that are kept or compared are the kernel's.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "base/error.h"

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

/* Nanoseconds since boot, time asleep included, by the kernel's clock. */
uint64_t clock__boot_ns(void);

/* The kernel's time for a time of CLOCK_BOOTTIME as this process is shown it, /proc/PID/stat's with it. */
uint64_t clock__of_kernel(uint64_t boot_ns);

/*
 * Finds out by how much this process's clock is ahead of the kernel's. Before main that is done by itself; again by who
 * has been forked and may be in another time namespace than its parent.
 */
void clock__find_kernels(void);

/* 0, or a negative errno with what to do in `err`: the kernel's clock is not known, no time may be compared with BPF's. */
int clock__check(struct error *err);

/* What the calling thread has run, in nanoseconds: a busy machine makes no difference. */
uint64_t clock__thread_ns(void);

/* The time of day. */
struct timespec clock__wall(void);

/* A time that timers take. */
struct timeval clock__timeval(double seconds);

#endif
