/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One reading of the BPF maps, as the files that each read some of them see
 * it. What has no use any more is deleted on the way; what ended processes have,
 * at the end of a reading that has succeeded (ended_keys.h).
 */
#ifndef COLLECT_READING_H
#define COLLECT_READING_H

#include "collect/private.h"

struct bpf_map;

struct reading {
	struct collector *collector;
	const struct bpf_map *map; /* being read */
	bool with_lists;
	bool reap;
	unsigned int name_tries;
};

/* Whether the process is done, and what the maps have of it goes with this reading. */
static inline bool reading__dooms(const struct reading *reading, const struct process *process)
{
	return reading->reap && process->ended;
}

/* Whether the process's lists of addresses are made anew in this reading. */
static inline bool reading__lists(const struct reading *reading, const struct process *process)
{
	return process->slot != NO_PROCESS && (reading->with_lists || reading__dooms(reading, process));
}

/* Has a key of the map that is being read deleted once that is done. Returns 0 or -ENOMEM. */
int reading__doom(struct reading *reading, const void *key);

/* Makes sure that the next reading__doom does not fail: before what would be done twice else. Returns 0 or -ENOMEM. */
int reading__make_room(struct reading *reading);

/* Has a key of the map that is being read deleted with all that its process has, if that is done. Returns 0 or -ENOMEM. */
int reading__end(struct reading *reading, const struct process *process, const void *key);

/* Calls `fn` with the reading for each entry, and deletes what that doomed. Returns 0 or a negative errno. */
int reading__map(struct reading *reading, struct bpf_map *map, map_entry_fn fn);

/* Deletes what has been doomed since: for those who look at the entries once more after reading__map. */
void reading__delete_doomed(struct reading *reading);

#endif
