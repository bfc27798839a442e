/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address ranges: an arena hands out addresses of one reserved range. A freed span is the next one
 * handed out for its size.
 */
#ifndef SIM_CUDA_ARENA_H
#define SIM_CUDA_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bin;

struct span {
	uint64_t address;
	uint64_t size;
	struct span *next;
};

struct arena {
	uint64_t base;
	uint64_t size;
	uint64_t used;		/* handed out so far from the start of the range */
	struct bin *bins;	/* freed spans, by size */
	struct span *spare;	/* records for reuse */
};

/* Reserves `size` bytes of address space, which get memory when they are written. */
bool arena__start(struct arena *arena, uint64_t size);
/* The same below 4 GiB. */
bool arena__start_low(struct arena *arena, uint64_t size);
/* A size rounded as the arena hands it out: multiples of 512 B, from 1 MiB on of 2 MiB. */
uint64_t arena__round(uint64_t size);
/* Returns an address for a rounded size, 0 if there is none. */
uint64_t arena__take(struct arena *arena, uint64_t size);
void arena__give(struct arena *arena, uint64_t address, uint64_t size);
/* Returns the memory behind the range to the system; its contents become zero. */
void arena__discard(uint64_t address, uint64_t size);

#endif
