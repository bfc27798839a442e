/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time that threads are blocked in calls: which calls wait, and where their time counts. Waits
 * are kept by scope; synchronous copies and frees wait too.
 */
#ifndef COLLECT_TALLY_WAITS_H
#define COLLECT_TALLY_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/api.h"
#include "gpuprobe/state.h"
#include "model/model.h"

/* Adds one counter to the waits of its process and device, if its function waits. */
void tally_waits__add(struct process *process, struct device_totals *device,
		      const struct tally_key *key, const struct tally *tally,
		      const struct function_desc *function);

/* Whether the thread is blocked during calls of the function. */
bool tally_waits__is_wait(uint16_t row);

/* The time counted so far in calls on a device, for functions with tally_waits__is_wait. */
uint64_t tally_waits__waited(const struct process *process, uint16_t row, uint8_t device);

/* As tally__add_open, but to the waits, for functions with tally_waits__is_wait. */
int tally_waits__add_open(struct process *process, uint16_t row, uint8_t device, uint64_t calls,
			  uint64_t ns);

#endif
