/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files about copies and memsets. */
#ifndef SIM_CUDA_COPY_H
#define SIM_CUDA_COPY_H

#include "cuda/memory.h"

/* Moves bytes between any two addresses; those of the simulation must be allocated. */
int copy__move(uint64_t to, uint64_t from, size_t size);
/* A copy that waits for the default stream; copy__later for an asynchronous one. */
int copy__now(struct sim_call *call, uint64_t to, uint64_t from, size_t size,
	      enum sim_copy_kind kind);
int copy__later(struct sim_call *call, uint64_t to, uint64_t from, size_t size,
		enum sim_copy_kind kind, CUstream stream);
/*
 * Submits an asynchronous copy or memset to its stream. If call->captured is set afterwards, it
 * went into a graph and must not be executed now.
 */
int copy__begin(struct sim_call *call, CUstream handle, CUgraphNodeType type);
/*
 * Records the types of the two sides of an executed copy; unified ones are classified by their
 * address.
 */
void copy__note(struct sim_call *call, CUmemorytype to_type, uint64_t to,
		CUmemorytype from_type, uint64_t from, uint64_t bytes);
/* The same with the sides that the kind implies. */
void copy__note_kind(struct sim_call *call, uint64_t to, uint64_t from, size_t size,
		     enum sim_copy_kind kind);

/* copy3d.c: a block of rows; for each side its start, and the distances between rows and planes. */
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
/* Moves the bytes and records the sides. */
int box__move(struct sim_call *call, const struct box *box);
uint64_t box__bytes(const struct box *box);

/* array.c: fills in an array as a side, from (x in bytes, y, z) on; false if it is no array. */
bool array__side(CUarray array, size_t x, size_t y, size_t z, struct side *out);
/* The size of one of its elements in bytes, 0 if it is no array. */
size_t array__element(CUarray array);

#endif
