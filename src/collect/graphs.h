/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads graph launches by size into the model, and deletes BPF's records of captures and graphs
 * that no longer exist.
 */
#ifndef COLLECT_GRAPHS_H
#define COLLECT_GRAPHS_H

#include "collect/reading.h"

/* Empties the processes' lists of launches by size, before the map is read into them. Returns 0. */
int graphs__begin_runs(struct reading *reading);

/* Adds the launches of one size to the process's list (reading_step.take). */
int graphs__take_run(struct reading *reading, struct process *process, const void *key,
		     const void *value);

/* Sorts all lists. Returns 0. */
int graphs__finish_runs(struct reading *reading);

/* Sorts the process's list of graph launches by size, most launches first. */
void graphs__sort_runs(struct process *process);

/*
 * Deletes a capture that no call can end any more: its context has ended, and its streams with it.
 * `process` may be NULL.
 */
int graphs__take_capture(struct reading *reading, struct process *process, const void *key,
			 const void *value);

/*
 * Deletes a capture and lowers the process's count of captures, like BPF programs that delete one.
 */
void graphs__delete_capture(struct reading *reading, const void *key);

/*
 * Delete a node once its graph is gone, and a disabled node once its executable graph is gone.
 * `process` may be NULL.
 */
int graphs__take_node(struct reading *reading, struct process *process, const void *key,
		      const void *value);
int graphs__take_disabled(struct reading *reading, struct process *process, const void *key,
			  const void *value);

#endif
