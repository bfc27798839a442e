/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Adds counters of the BPF maps to their process's totals: the rules by which calls, failures and
 * bytes of a function add up to what reports show.
 */
#ifndef COLLECT_TALLY_H
#define COLLECT_TALLY_H

#include "gpuprobe/state.h"
#include "model/model.h"

/* Resets the totals that tally__apply adds to. */
void tally__reset(struct process *process);

/* Adds one counter to its process's totals. Returns 0 or -ENOMEM. */
int tally__apply(struct process *process, const struct tally_key *key, const struct tally *tally);

/*
 * Adds missed calls to a function that tally__apply has listed. Failures are not added to the
 * function, but failed launches of graphs count as launches. Returns 0 or -ENOMEM.
 */
int tally__apply_missed(struct process *process, struct function_totals *function,
			const struct tally *missed);

/*
 * Adds the number of calls in progress, and the `ns` in them that are not counted yet, to the
 * function. Returns 0 or -ENOMEM.
 */
int tally__add_open(struct process *process, uint16_t row, uint8_t device, uint64_t calls,
		    uint64_t ns);

/* Computes the totals that depend on all counters of the process. */
void tally__finish(struct process *process);

#endif
