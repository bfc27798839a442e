/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of the simulated devices and what is known of every allocation.
 */
#ifndef SIM_CUDA_MEMORY_H
#define SIM_CUDA_MEMORY_H

#include "cuda/driver.h"

#include <stdio.h>

enum memory_kind {
	MEMORY_DEVICE,
	MEMORY_MANAGED,
	MEMORY_HOST,
	MEMORY_POOL,
	MEMORY_PHYSICAL,	/* cuMemCreate; has no address of its own */
	MEMORY_ARRAY,
	MEMORY_IMPORTED,	/* another process's, opened by its IPC handle */
	MEMORY_REGISTERED,	/* the program's own memory, pinned */
	MEMORY_MAPPED,		/* a physical allocation in a reserved range */
	MEMORY_GLOBAL,		/* a module's variable */
	MEMORY_GRAPH,		/* of a graph's allocation node: addresses without memory */
	MEMORY_KINDS,
};

#define KIND(kind) (1u << (kind))

/* An allocation; the copy that a look-up fills in. */
struct block {
	uint64_t address;
	uint64_t size;
	uint64_t span;			/* of addresses that it holds */
	enum memory_kind kind;
	int device;
	bool touched;			/* holds bytes that were written through a copy */
	bool low;			/* its address must fit in 32 bits */
	bool from_pool;			/* imported by a pool, and freed like its own */
	bool ran;			/* of a graph's: there since its latest run, until it is freed */
	unsigned int flags;
	uint64_t id;
	struct CUctx_st *context;
	struct CUmemPoolHandle_st *pool;
	struct physical *physical;
	struct block *next;
};

bool memory__start(void);
/* In a forked child: nothing is its own. */
void memory__forget(void);
void virtual__forget(void);

/* show.c: what the simulated NVML learns: that there is a context, and what is used since. */
void show__context(int device);
void show__used(int device, uint64_t bytes);
void show__forget(void);

/* Allocates for the current context; `like` gives kind, size, flags and pool. */
int memory__allocate(const struct block *like, uint64_t *address);
/* Frees the allocation that begins at the address and is of one of the kinds. */
int memory__free(uint64_t address, unsigned int kinds, struct block *freed);
/* A graph that runs allocates there, as each time. */
void memory__run(uint64_t address);
/* Makes memory known that has its address already: registered, mapped. */
int memory__adopt(const struct block *block);
/* The allocation that the address lies in. */
bool memory__find(uint64_t address, struct block *found);
/* Whether all of the range lies in allocations that a device can reach; notes a write. */
bool memory__covers(uint64_t address, uint64_t size, bool write);
/* Whether the address lies in a range that only the simulation hands out. */
bool memory__is_ours(uint64_t address);
/*
 * Takes or gives back memory of a device without an address: of cuMemCreate, or
 * another process's. `device`: -1 for host memory.
 */
int memory__charge(enum memory_kind kind, int device, uint64_t size);
void memory__uncharge(enum memory_kind kind, int device, uint64_t size);
/* Addresses in the range that is kept for reservations. */
uint64_t memory__reserve(uint64_t size);
void memory__unreserve(uint64_t address, uint64_t size);

uint64_t memory__used(int device);
void memory__release_all(struct CUctx_st *context);
/* What was ever allocated of a kind on a device, and what became of it. */
struct memory_totals {
	uint64_t allocations;
	uint64_t frees;
	uint64_t bytes_allocated;
	uint64_t bytes_freed;
	uint64_t released;		/* with their context */
	uint64_t bytes_released;
};

/* `device`: -1 for the sum of all, and of what is on none. */
struct memory_totals memory__totals(int device, enum memory_kind kind);
const char *memory__kind_name(enum memory_kind kind);
/* Write members of the truth file. */
void memory__describe_live(FILE *out);
void virtual__describe(FILE *out);

/* virtual.c: a physical allocation to share: NULL if the handle is of none. */
struct physical *physical__get(CUmemGenericAllocationHandle handle, uint64_t *size, int *device);
/* One more handle of this process's own; another process's allocation. 0 or an error. */
int physical__retain(CUmemGenericAllocationHandle handle);
int physical__import(uint64_t size, int device, CUmemGenericAllocationHandle *out);

/* A pool lets go of all that it holds beyond `keep` bytes and does not use. */
void memory__trim_pool(struct CUmemPoolHandle_st *pool, uint64_t keep);
/* The pool goes with the last of its allocations. */
void memory__doom_pool(struct CUmemPoolHandle_st *pool);

#endif
