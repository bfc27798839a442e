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
void copy__note(const struct sim_call *call, CUmemorytype to_type, uint64_t to,
		CUmemorytype from_type, uint64_t from, uint64_t bytes);

#endif
