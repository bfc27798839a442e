/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device clock: when the work of each stream begins and ends. It is computed when the work is submitted; nothing runs
 * meanwhile. All that the work depends on was submitted before it, so its times are known. Times are in ns of
 * CLOCK_MONOTONIC. Call these only where driver.clock is set.
 */
#ifndef SIM_CUDA_CLOCK_H
#define SIM_CUDA_CLOCK_H

#include "cuda/driver.h"

#include <stdio.h>

/* Reads CUDA_SIM_CLOCK, and sets driver.clock if there is one. */
void clock__start(void);
/* In a forked child: no device has worked. */
void clock__child(void);

/*
 * Puts work of so many ns on the stream, and returns when it will have ended. Blocks while the stream holds as much as it
 * takes.
 */
uint64_t clock__work(struct CUstream_st *stream, uint64_t ns);
/*
 * The time at which all is done that the stream's next work would have to wait for, and that is not before `earliest`:
 * what an event marks. Later work of the stream does not begin before it.
 */
uint64_t clock__mark(struct CUstream_st *stream, uint64_t earliest);
/* No later work of the context, on whatever stream, begins before that time. */
void clock__hold(struct CUctx_st *context, uint64_t until);
/* Waits for that time as the context's flags say: spinning, yielding or asleep. */
void clock__wait(uint64_t until, unsigned int flags);

/* The calling thread's default stream in that context. */
struct CUstream_st *clock__thread_stream(struct CUctx_st *context);
/* The stream goes: frees what the clock has of it. Its work stays. */
void clock__forget(struct CUstream_st *stream);

/* Writes the member `busy` of a device in the truth file. */
void clock__describe(FILE *out, int device);

#endif
