/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Launches of graphs by size, read into the model; and what the BPF programs
 * keep of captures and graphs, cleared of what has gone.
 */
#ifndef COLLECT_GRAPHS_H
#define COLLECT_GRAPHS_H

#include <stdbool.h>

struct collector;
struct process;

/* With `reap` also deletes what ended processes have. Returns 0 or a negative errno. */
int graphs__read(struct collector *collector, bool reap);

/* Brings the process's list of graph launches by size into its order, most launches first. */
void graphs__sort_runs(struct process *process);

#endif
