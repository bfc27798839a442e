/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams, events, contexts, modules and libraries: how many came, went and
 * are there, from the counters and the records of the BPF maps.
 */
#ifndef COLLECT_OBJECTS_H
#define COLLECT_OBJECTS_H

#include "collect/contexts.h"
#include "gpuprobe/state.h"
#include "model/model.h"

/* Sets the totals of the process to what outlasts a reading. */
void objects__reset(struct process *process);

/* Adds a counter of a function that makes or ends objects. */
void objects__apply_tally(struct process *process, const struct tally_key *key, const struct tally *tally);

/* Adds a counter of a function of graphs or captures, which may make or end graphs. */
void objects__apply_graph(struct process *process, const struct tally_key *key, const struct tally *tally);

/* Adds an object that is on record: live, or gone with its context. Returns 0 or -ENOMEM. */
int objects__add(struct process *process, const struct contexts *contexts, const struct object_key *key,
		 const struct object_record *record);

struct bpf_map;

/*
 * Deletes from the map an object that went with its context, and counts it as
 * cleared; one that has taken its handle meanwhile is left there.
 */
void objects__clear_away(struct process *process, const struct contexts *contexts, const struct bpf_map *map,
			 const struct object_key *key);

#endif
