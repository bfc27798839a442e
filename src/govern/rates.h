/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the number of calls of each thread (gpuprobe/rate.h). */
#ifndef GOVERN_RATES_H
#define GOVERN_RATES_H

#include <stddef.h>

#include "base/error.h"
#include "gpuprobe/rate.h"

struct gpuprobe_bpf;
struct rates;

/*
 * For an object loaded with object_options.rates, which must outlive it. Returns 0 or a negative
 * errno.
 */
int rates__new(const struct gpuprobe_bpf *skeleton, struct rates **out, struct error *err);
void rates__free(struct rates *rates);

/*
 * Copies the counters of all threads, at most `capacity`, and frees the slots of ended threads,
 * which are reported for the last time. Returns the number copied.
 */
size_t rates__read(struct rates *rates, struct thread_rate *out, size_t capacity);

#endif
