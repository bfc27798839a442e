/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The device clock: when the work of each stream begins and ends. Times are computed at submission;
 * nothing runs meanwhile. Everything that the work depends on was submitted before it, so its times
 * are known. Times are in ns of CLOCK_MONOTONIC. Call these functions only if driver.clock is set.
 */
#ifndef SIM_CUDA_CLOCK_H
#define SIM_CUDA_CLOCK_H

#include "cuda/driver.h"

#include <stdio.h>

/* Reads CUDA_SIM_CLOCK, and sets driver.clock if it is set. */
void clock__start(void);
/* Call in a forked child: its devices have never worked. */
void clock__child(void);

/*
 * Submits work of `ns` ns to the stream, and returns when it will end. Blocks while the stream's
 * queue is full.
 */
uint64_t clock__work(struct CUstream_st *stream, uint64_t ns);
/*
 * The time at which everything is done that the stream's next work would have to wait for, but not
 * before `earliest`: the time that an event marks. Later work of the stream does not begin before
 * it.
 */
uint64_t clock__mark(struct CUstream_st *stream, uint64_t earliest);
/* No later work of the context, on any stream, begins before `until`. */
void clock__hold(struct CUctx_st *context, uint64_t until);
/* Waits until that time as the context's flags say: spinning, yielding or asleep. */
void clock__wait(uint64_t until, unsigned int flags);

/* The calling thread's default stream in that context. */
struct CUstream_st *clock__thread_stream(struct CUctx_st *context);
/* Frees the clock's data of a stream that is destroyed. Its work stays. */
void clock__forget(struct CUstream_st *stream);

/* Writes a device's member `busy` of the truth file. */
void clock__describe(FILE *out, int device);

#endif
