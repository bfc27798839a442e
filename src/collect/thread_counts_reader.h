/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds the counters that threads keep themselves (gpuprobe/thread_counts.h) to those in the maps
 * `tallies` and `launches`.
 */
#ifndef COLLECT_THREAD_COUNTS_READER_H
#define COLLECT_THREAD_COUNTS_READER_H

#include <stdint.h>

#include "base/error.h"
#include "collect/reading.h"

struct count_table;
struct gpuprobe_bpf;
struct thread_counts_reader;

/* For a BPF object that outlives *out. Returns 0 or -ENOMEM with a message. */
int thread_counts_reader__new(const struct gpuprobe_bpf *skeleton,
			      struct thread_counts_reader **out, struct error *err);
void thread_counts_reader__free(struct thread_counts_reader *counts);

/*
 * Map and unmap the memory that BPF shares with userspace. The functions below need it mapped,
 * except those that return tables. thread_counts_reader__map returns 0 or a negative errno.
 * Unmapping what is not mapped is ok.
 */
int thread_counts_reader__map(struct thread_counts_reader *counts);
void thread_counts_reader__unmap(struct thread_counts_reader *counts);

/* The tables that sum up the maps `tallies` and `launches` and the threads' parts of them. */
struct count_table *thread_counts_reader__tallies(const struct thread_counts_reader *counts);
struct count_table *thread_counts_reader__launches(const struct thread_counts_reader *counts);

/* Add the threads' counters, after the map has been read into the table. Return 0 or -ENOMEM. */
int thread_counts_reader__add_tallies(const struct thread_counts_reader *counts);
int thread_counts_reader__add_launches(const struct thread_counts_reader *counts);

/*
 * The thread in counter slot `number` has ended: the tables keep its counts. Returns 0 or -ENOMEM.
 */
int thread_counts_reader__keep(const struct thread_counts_reader *counts, uint32_t number);

/* Clears and frees the counter slot `number`. */
void thread_counts_reader__give_back(const struct thread_counts_reader *counts, uint32_t number);

/* Drops the counters of processes that this reading reaps, and frees their counter slots. */
void thread_counts_reader__release(struct reading *reading);

#endif
