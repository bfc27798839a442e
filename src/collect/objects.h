/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams, events, contexts, modules, libraries and graphs: how many were created, have ended and
 * are live, from the counters and records of the BPF maps.
 */
#ifndef COLLECT_OBJECTS_H
#define COLLECT_OBJECTS_H

#include "collect/contexts.h"
#include "gpuprobe/state.h"
#include "model/model.h"

/*
 * Resets the process's totals to the part that outlasts a reading: objects deleted from the maps
 * because their context ended.
 */
void objects__reset(struct process *process);

/* Adds a counter of a function that creates or destroys objects. */
void objects__apply_tally(struct process *process, const struct tally_key *key,
			  const struct tally *tally);

/* Adds a counter of a graph or capture function, which may create or destroy graphs. */
void objects__apply_graph(struct process *process, const struct tally_key *key,
			  const struct tally *tally);

/* Adds an object that has a record: live, or ended with its context. Returns 0 or -ENOMEM. */
int objects__add(struct process *process, const struct contexts *contexts,
		 const struct object_key *key, const struct object_record *record);

struct bpf_map;

/*
 * Deletes an object from the map that ended with its context, and counts it as cleared. If the
 * handle has been reused meanwhile, the new object stays. Returns whether it is deleted.
 */
bool objects__clear_away(struct process *process, const struct contexts *contexts,
			 const struct bpf_map *map, const struct object_key *key);

#endif
