/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The failures of one process, by function, code and whether they were sampled. A program could
 * invent codes without end, so the first FAILURES_MAX keys get an entry for the process's life, and
 * all others share one more. So no count ever moves between entries, and all entries add up to all
 * failures.
 */
#ifndef MODEL_FAILURES_H
#define MODEL_FAILURES_H

#include "gpuprobe/state.h"
#include "model/model.h"

#define FAILURES_MAX 256 /* some fifty functions with five codes each: real programs have a few */
#define FAILURES_REST "other"

/* A reading begins: empties the list, but keeps which keys have entries. */
void failures__begin(struct process *process);

/*
 * Adds one failure counter from the maps; its row is in the API table. Returns 0, or -ENOMEM with
 * the process unchanged.
 */
int failures__add(struct process *process, const struct failure_key *key,
		  const struct failure_record *record);

/* Adds failures without further details. */
void failures__add_rest(struct process *process, uint64_t count);

/*
 * All failures have been added: sorts them, most first, the shared entry last. Returns 0 or
 * -ENOMEM.
 */
int failures__finish(struct process *process);

#endif
