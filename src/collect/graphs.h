/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launches of graphs by size, read into the model; and what the BPF programs
 * keep of captures and graphs, cleared of what has gone.
 */
#ifndef COLLECT_GRAPHS_H
#define COLLECT_GRAPHS_H

#include "collect/reading.h"

/* Empties the processes' lists of launches by size, before the map is read into them. Returns 0. */
int graphs__begin_runs(struct reading *reading);

/* Adds the launches of one size to the process's list (reading_step.take). */
int graphs__take_run(struct reading *reading, struct process *process, const void *key, const void *value);

/* Brings all lists into their order. Returns 0. */
int graphs__finish_runs(struct reading *reading);

/* Brings the process's list of graph launches by size into its order, most launches first. */
void graphs__sort_runs(struct process *process);

/*
 * A capture that no call can end any more is deleted: its context has gone, and its streams with
 * it. `process` may be NULL.
 */
int graphs__take_capture(struct reading *reading, struct process *process, const void *key, const void *value);

/* Deletes a capture, and counts it out as BPF programs do that delete one. */
void graphs__delete_capture(struct reading *reading, const void *key);

/*
 * Nodes are deleted once their graph has gone; nodes that an executable graph leaves out, once that
 * graph has. `process` may be NULL.
 */
int graphs__take_node(struct reading *reading, struct process *process, const void *key, const void *value);
int graphs__take_disabled(struct reading *reading, struct process *process, const void *key, const void *value);

#endif
