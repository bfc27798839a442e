/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counters of calls where threads keep some by themselves (struct thread_tallies): what the map has, what living
 * threads have, and what those had whose places were given to others.
 */
#ifndef COLLECT_TALLY_TABLE_H
#define COLLECT_TALLY_TABLE_H

#include "collect/reading.h"
#include "gpuprobe/account.h"

struct tally_table;

/* Empty; free with tally_table__free. NULL without memory. */
struct tally_table *tally_table__new(void);
void tally_table__free(struct tally_table *table);

/* A reading begins: what the map and living threads have is told anew. */
void tally_table__begin(struct tally_table *table);

/* Takes in a counter of the map. Returns 0 or -ENOMEM. */
int tally_table__add(struct tally_table *table, const struct tally_key *key, const struct tally *tally);

/*
 * Takes in what a thread has, which may be counting meanwhile: after the map, since a thread moves counts to it. With
 * `for_good` the next readings have them too: the thread has ended, and its place will be given to another.
 * Returns 0 or -ENOMEM.
 */
int tally_table__add_thread(struct tally_table *table, const struct thread_tallies *own, bool for_good);

/* Applies all counters to their processes (tally__apply), and forgets those of processes that are done. Returns 0 or -ENOMEM. */
int tally_table__apply(struct tally_table *table, const struct reading *reading);

#endif
