/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an argument is at function entry: parses the locations of functions.tsv ("rdi", "rdi:rsi",
 * "sp+8", "sp+8[24]", "xmm0") into numbers.
 */
#ifndef API_ARG_LOCATION_H
#define API_ARG_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprobe/function.h"

struct arg_location {
	uint8_t first;	/* 0 to 5 or LOCATION_STACK + n, as in function.h; LOCATION_NONE for xmm */
	uint8_t second; /* the other register of a pair, or LOCATION_NONE */
	uint8_t vector; /* number of the xmm register, or LOCATION_NONE */
	uint8_t bytes;	/* M of sp+N[M]; 0 for anything else */
};

/* Returns 0, or -EINVAL if the text is not a location. */
int arg_location__parse(const char *text, struct arg_location *location);

/* Whether `location` can hold an argument of `size` bytes. */
bool arg_location__fits(const struct arg_location *location, int size);

/* Whether two locations share a register or a stack slot. */
bool arg_location__overlap(const struct arg_location *a, const struct arg_location *b);

/*
 * Returns an argument's location, `size` bytes, as function.h's LOCATION_*. For a structure on the
 * stack this is its first slot; LOCATION_NONE if the argument is not in a single slot.
 */
uint8_t arg_location__encode(const struct arg_location *location, int size);

#endif
