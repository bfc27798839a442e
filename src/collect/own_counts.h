/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads count by themselves (gpuprobe/thread_counts.h), added to what the maps
 * `tallies` and `launches` have.
 */
#ifndef COLLECT_OWN_COUNTS_H
#define COLLECT_OWN_COUNTS_H

#include <stdint.h>

#include "base/error.h"
#include "collect/reading.h"

struct count_table;
struct gpuprobe_bpf;
struct own_counts;

/* Of an object that outlives it. Returns 0 or -ENOMEM with a message. */
int own_counts__new(const struct gpuprobe_bpf *skeleton, struct own_counts **out, struct error *err);
void own_counts__free(struct own_counts *counts);

/*
 * Between these two what BPF shares with userspace is within reach, and what is below may be called, but for the
 * tables. Returns 0 or a negative errno; to unmap what is not mapped is allowed.
 */
int own_counts__map(struct own_counts *counts);
void own_counts__unmap(struct own_counts *counts);

/* The tables of the maps `tallies` and `launches` with what threads keep of them. */
struct count_table *own_counts__tallies(const struct own_counts *counts);
struct count_table *own_counts__launches(const struct own_counts *counts);

/* Adds what threads keep, once the map has been read into the table. Returns 0 or -ENOMEM. */
int own_counts__add_tallies(const struct own_counts *counts);
int own_counts__add_launches(const struct own_counts *counts);

/* The thread with the place `number` has ended: the tables keep what it had. Returns 0 or -ENOMEM. */
int own_counts__keep(const struct own_counts *counts, uint32_t number);

/* The place `number` is free. */
void own_counts__give_back(const struct own_counts *counts, uint32_t number);

/* Forgets the counters of processes that are done with in this reading, and gives their places free. */
void own_counts__release(struct reading *reading);

#endif
