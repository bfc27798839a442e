/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files about copies and memsets share.
 */
#ifndef SIM_CUDA_COPY_H
#define SIM_CUDA_COPY_H

#include "cuda/memory.h"

/* Moves bytes between any two addresses; those of the simulation must be allocated. */
int copy__move(uint64_t to, uint64_t from, size_t size);
/* A copy that waits for the default stream; of an asynchronous one, copy__later. */
int copy__now(struct sim_call *call, uint64_t to, uint64_t from, size_t size,
	      enum sim_copy_kind kind);
int copy__later(struct sim_call *call, uint64_t to, uint64_t from, size_t size,
		enum sim_copy_kind kind, CUstream stream);
/*
 * Puts an asynchronous copy or memset on its stream. call->captured tells then
 * that it went into a graph and must not be done now.
 */
int copy__begin(struct sim_call *call, CUstream handle, CUgraphNodeType type);
/* Notes what the two sides of an executed copy were; unified ones by their address. */
void copy__note(struct sim_call *call, CUmemorytype to_type, uint64_t to,
		CUmemorytype from_type, uint64_t from, uint64_t bytes);
/* The same with the sides that the kind says. */
void copy__note_kind(struct sim_call *call, uint64_t to, uint64_t from, size_t size,
		     enum sim_copy_kind kind);

/* copy3d.c: a block of rows; of each side where it begins and how far rows and planes are. */
struct side {
	CUmemorytype type;
	uint64_t address;
	size_t pitch;
	size_t height;
};

struct box {
	struct side to;
	struct side from;
	size_t width;		/* in bytes */
	size_t height;
	size_t depth;
};

int box__check(const struct box *box);
/* Moves the bytes and notes the sides. */
int box__move(struct sim_call *call, const struct box *box);
uint64_t box__bytes(const struct box *box);

/* array.c: the side that an array is, from (x in bytes, y, z) on; false if it is no array. */
bool array__side(CUarray array, size_t x, size_t y, size_t z, struct side *out);
/* The size of one of its elements, 0 if it is no array. */
size_t array__element(CUarray array);

#endif
