/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one counter of the BPF maps means for its process: the rules by which
 * calls, failures and bytes of a function add up to the totals that reports
 * show.
 */
#ifndef COLLECT_TALLY_H
#define COLLECT_TALLY_H

#include "gpuprobe/state.h"
#include "model/model.h"

/* Sets the totals that tally__apply adds to back to 0. */
void tally__reset(struct process *process);

/* Adds one counter to its process's totals. Returns 0 or -ENOMEM. */
int tally__apply(struct process *process, const struct tally_key *key, const struct tally *tally);

/*
 * Adds calls that were not seen to those of a function that tally__apply has listed. Failures are not the
 * function's, but those of launches of graphs are launches. Returns 0 or -ENOMEM.
 */
int tally__apply_missed(struct process *process, struct function_totals *function, const struct tally *missed);

/* Whether time inside calls of the function is time that its thread is blocked. */
bool tally__is_wait(uint16_t row);

/* That time on a device as it is counted by now, if tally__is_wait. */
uint64_t tally__waited(const struct process *process, uint16_t row, uint8_t device);

/*
 * Adds calls in progress to the function's own, and to waits, if tally__is_wait, their number and `ns` that are not
 * counted. Return 0 or -ENOMEM.
 */
int tally__add_open(struct process *process, uint16_t row, uint8_t device, uint64_t calls, uint64_t ns);
int tally__add_open_wait(struct process *process, uint16_t row, uint8_t device, uint64_t calls, uint64_t ns);

/* Computes what follows from all counters of the process together. */
void tally__finish(struct process *process);

#endif
