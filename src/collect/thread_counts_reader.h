/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads count by themselves (gpuprobe/thread_counts.h), added to what the maps
 * `tallies` and `launches` have.
 */
#ifndef COLLECT_THREAD_COUNTS_READER_H
#define COLLECT_THREAD_COUNTS_READER_H

#include <stdint.h>

#include "base/error.h"
#include "collect/reading.h"

struct count_table;
struct gpuprobe_bpf;
struct thread_counts_reader;

/* Of an object that outlives it. Returns 0 or -ENOMEM with a message. */
int thread_counts_reader__new(const struct gpuprobe_bpf *skeleton, struct thread_counts_reader **out, struct error *err);
void thread_counts_reader__free(struct thread_counts_reader *counts);

/*
 * Between these two what BPF shares with userspace is within reach, and what is below may be called, but for the
 * tables. Returns 0 or a negative errno; to unmap what is not mapped is allowed.
 */
int thread_counts_reader__map(struct thread_counts_reader *counts);
void thread_counts_reader__unmap(struct thread_counts_reader *counts);

/* The tables of the maps `tallies` and `launches` with what threads keep of them. */
struct count_table *thread_counts_reader__tallies(const struct thread_counts_reader *counts);
struct count_table *thread_counts_reader__launches(const struct thread_counts_reader *counts);

/* Adds what threads keep, once the map has been read into the table. Returns 0 or -ENOMEM. */
int thread_counts_reader__add_tallies(const struct thread_counts_reader *counts);
int thread_counts_reader__add_launches(const struct thread_counts_reader *counts);

/* The thread with the place `number` has ended: the tables keep what it had. Returns 0 or -ENOMEM. */
int thread_counts_reader__keep(const struct thread_counts_reader *counts, uint32_t number);

/* The place `number` is free. */
void thread_counts_reader__give_back(const struct thread_counts_reader *counts, uint32_t number);

/* Forgets the counters of processes that are done with in this reading, and gives their places free. */
void thread_counts_reader__release(struct reading *reading);

#endif
