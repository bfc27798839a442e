/* SPDX-License-Identifier: BSD-2-Clause */
/* The clocks gpuprobe reads: BPF stamps everything with CLOCK_BOOTTIME. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull

/* Nanoseconds since boot, time asleep included. */
uint64_t clock__boot_ns(void);

/* What the calling thread has run, in nanoseconds: a busy machine makes no difference. */
uint64_t clock__thread_ns(void);

/* The time of day. */
struct timespec clock__wall(void);

/* A time that timers take. */
struct timeval clock__timeval(double seconds);

#endif
