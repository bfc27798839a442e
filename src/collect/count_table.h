/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of a BPF map where threads keep some by themselves (struct thread_counts): what the map has, what living
 * threads have, and what those had whose places were given to others. Told anew in each reading, in this order:
 * a thread moves counts to the map, so that what is read of the map first may be too little for a
 * moment, but is never counted twice. A sum never falls: the most that was read is what was counted at least.
 */
#ifndef COLLECT_COUNT_TABLE_H
#define COLLECT_COUNT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpuprobe/state.h"

struct count_table;

enum count_from {
	COUNT_MAP,
	COUNT_LIVING, /* a thread that may go on */
	COUNT_ENDED,  /* the next readings have it too: the thread's place will be another's */
	COUNT_ROOM,   /* nothing: that the counter can be added later without memory */
	COUNT_SOURCES = COUNT_ROOM,
};

/* For keys of `key_size` bytes, at most sizeof(struct launch_key). Free with count_table__free. NULL without memory. */
struct count_table *count_table__new(size_t key_size);
void count_table__free(struct count_table *table);

/* A reading begins: forgets what the map and living threads have. */
void count_table__begin(struct count_table *table);

/* Adds a counter. Returns 0 or -ENOMEM. */
int count_table__add(struct count_table *table, enum count_from from, const void *key, const struct tally *tally);

/* Drops the counters of which `is_done` says so. */
void count_table__drop(struct count_table *table, bool (*is_done)(const void *key, void *arg), void *arg);

/*
 * Calls `fn` for each counter with its sum; `living` says whether a living thread has a part of it. `fn` returns 1 where
 * the counter is done, 0, or a negative errno, which ends it. Returns 0 or that errno.
 */
int count_table__each(struct count_table *table,
		      int (*fn)(const void *key, const struct tally *sum, bool living, void *arg), void *arg);

#endif
