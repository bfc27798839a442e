/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Gates: work of a stream that other processes end, such as a collective. The device clock cannot
 * compute its end. Waits for the stream, or for an event after the gate, last until it is open.
 * Gates of one source open in the order of their numbers.
 */
#ifndef SIM_CUDA_GATE_H
#define SIM_CUDA_GATE_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_GATES 8 /* sources that one stream can have at a time; further ones are ignored */

struct gate {
	bool (*open)(void *source, uint64_t number);
	void *source;
	uint64_t number;
};

struct gates {
	unsigned int count;
	struct gate gates[SIM_GATES];
};

/* Adds a gate, in place of an earlier one of its source. */
void gates__add(struct gates *gates, const struct gate *gate);
/* Adds all of `more`. */
void gates__join(struct gates *gates, const struct gates *more);
/* Whether all are open; forgets those that are. */
bool gates__open(struct gates *gates);
/* Sleeps until they are. */
void gates__wait(struct gates *gates);

#endif
