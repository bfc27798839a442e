/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads how many calls each thread makes (gpuprobe/rate.h). */
#ifndef GOVERN_RATES_H
#define GOVERN_RATES_H

#include <stddef.h>

#include "base/error.h"
#include "gpuprobe/rate.h"

struct gpuprobe_bpf;
struct rates;

/* Of an object that was loaded with object_options.rates, and outlives it. Returns 0 or a negative errno. */
int rates__new(const struct gpuprobe_bpf *skeleton, struct rates **out, struct error *err);
void rates__free(struct rates *rates);

/*
 * Copies the counters of all threads, at most `capacity`, and gives the places of those free that have ended:
 * these are told for the last time. Returns how many it has copied.
 */
size_t rates__read(struct rates *rates, struct thread_rate *out, size_t capacity);

#endif
