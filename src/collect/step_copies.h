/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Consistent copies of the records of steps (gpuprobe/steps.h), which BPF changes while threads
 * submit work.
 */
#ifndef COLLECT_STEP_COPIES_H
#define COLLECT_STEP_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/steps.h"

/* The latest submissions, oldest first: those from `from` to `to`. */
struct step_history {
	uint64_t codes[STEP_HISTORY];
	uint32_t stamps[STEP_HISTORY];
	uint64_t from, to;
};

/* A consistent copy without the history; false if the thread kept changing it. */
bool step_copies__record(const struct step_record *shared, struct step_record *copy);

/*
 * Copies the submissions since number `from` that the record still has, without those that are
 * overwritten or left out meanwhile.
 */
void step_copies__history(const struct step_record *shared, uint64_t from,
			  struct step_history *history);

/*
 * Completes a stamp, which has the lower bits of a time. The time may be a little later than
 * `now_ns`, the latest time known when the copy of the history began, because the thread continues
 * meanwhile.
 */
uint64_t step_copies__time(uint32_t stamp, uint64_t now_ns);

#endif
