/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of a BPF map for which threads keep parts of their own (struct thread_counts). A sum has
 * three sources: the map, living threads, and ended threads whose counter slots have been reused.
 *
 * Each reading adds the map first, then the threads. Threads move counts to the map, so a sum may
 * be too low for a moment, but nothing is counted twice. A sum never decreases: the highest value
 * read so far is a lower bound of the count.
 */
#ifndef COLLECT_COUNT_TABLE_H
#define COLLECT_COUNT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpuprobe/state.h"

struct count_table;

enum count_from {
	COUNT_MAP,
	COUNT_LIVING, /* a thread that may continue to count */
	/* stays in all later readings, because the thread's counter slot will be reused */
	COUNT_ENDED,
	/* adds nothing, but makes room, so that adding the counter later cannot fail */
	COUNT_ROOM,
	COUNT_SOURCES = COUNT_ROOM,
};

/*
 * For keys of `key_size` bytes, at most sizeof(struct launch_key). Free with count_table__free.
 * NULL without memory.
 */
struct count_table *count_table__new(size_t key_size);
void count_table__free(struct count_table *table);

/* Begins a reading: clears the counts of the map and of living threads. */
void count_table__begin(struct count_table *table);

/* Adds a counter. Returns 0 or -ENOMEM. */
int count_table__add(struct count_table *table, enum count_from from, const void *key,
		     const struct tally *tally);

/* Drops the counters for which `is_done` returns true. */
void count_table__drop(struct count_table *table, bool (*is_done)(const void *key, void *arg),
		       void *arg);

/*
 * Calls `fn` for each counter with its sum. `living`: a living thread has a part of it. `fn`
 * returns 1 if the counter is done and is to be dropped, 0 if not, or a negative errno, which stops
 * the walk. Returns 0 or that errno.
 */
int count_table__each(struct count_table *table,
		      int (*fn)(const void *key, const struct tally *sum, bool living, void *arg),
		      void *arg);

#endif
