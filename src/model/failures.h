/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The failures of one process, told apart by function, code and whether they are of a sample. A program may make codes up
 * without end: the first FAILURES_MAX that are met have an entry each for its life, all others are summed up in one
 * more. So no count ever goes to another entry or back, and all entries add up to all failures.
 */
#ifndef MODEL_FAILURES_H
#define MODEL_FAILURES_H

#include "gpuprobe/state.h"
#include "model/model.h"

#define FAILURES_MAX 256 /* some fifty functions with five codes each: programs have a few */
#define FAILURES_REST "other"

/* A reading begins: the list is empty, and which failures have entries stays known. */
void failures__begin(struct process *process);

/* What the maps have of one; its row is of the API table. Returns 0, or -ENOMEM with the process as it was. */
int failures__add(struct process *process, const struct failure_key *key, const struct failure_record *record);

/* Failures of which nothing is known but that they were. */
void failures__add_rest(struct process *process, uint64_t count);

/* All have been added: brings them in order, most first, what has no entries of its own last. Returns 0 or -ENOMEM. */
int failures__finish(struct process *process);

#endif
