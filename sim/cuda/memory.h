/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of the simulated devices and the data on every allocation. */
#ifndef SIM_CUDA_MEMORY_H
#define SIM_CUDA_MEMORY_H

#include "cuda/driver.h"

#include <stdio.h>

enum memory_kind {
	MEMORY_DEVICE,
	MEMORY_MANAGED,
	MEMORY_HOST,
	MEMORY_POOL,
	MEMORY_PHYSICAL,	/* cuMemCreate; has no address */
	MEMORY_ARRAY,
	MEMORY_IMPORTED,	/* from another process, opened by its IPC handle */
	MEMORY_REGISTERED,	/* the program's own memory, pinned */
	MEMORY_MAPPED,		/* a physical allocation in a reserved range */
	MEMORY_GLOBAL,		/* a module's variable */
	MEMORY_GRAPH,		/* for a graph's allocation node: addresses without memory */
	MEMORY_KINDS,
};

#define KIND(kind) (1u << (kind))

/* An allocation; look-ups fill in a copy. */
struct block {
	uint64_t address;
	uint64_t size;
	uint64_t span;			/* of addresses that it occupies */
	enum memory_kind kind;
	int device;
	bool touched;			/* has bytes that were written by a copy */
	bool low;			/* its address must fit in 32 bits */
	bool from_pool;			/* imported by a pool, and freed like its own memory */
	bool ran;			/* graph's: allocated by its latest run, not freed since */
	unsigned int flags;
	uint64_t id;
	struct CUctx_st *context;
	struct CUmemPoolHandle_st *pool;
	struct physical *physical;
	struct block *next;
};

bool memory__start(void);
/* Call in a forked child: it owns nothing. */
void memory__forget(void);
void virtual__forget(void);

/* show.c: what the simulated NVML sees: that there is a context, and the memory used since then. */
void show__context(int device);
void show__used(int device, uint64_t bytes);
/* Memory of objects, which comes on top of it and which no allocation has. */
void show__objects(int device, uint64_t bytes);
void show__forget(void);

/* Allocates for the current context; `like` gives kind, size, flags and pool. */
int memory__allocate(const struct block *like, uint64_t *address);
/* Frees the allocation that begins at the address, if it is of one of the kinds. */
int memory__free(uint64_t address, unsigned int kinds, struct block *freed);
/* Marks a graph's allocation as made again by a run. */
void memory__run(uint64_t address);
/* Registers memory that already has its address: registered, mapped. */
int memory__adopt(const struct block *block);
/* Finds the allocation that contains the address. */
bool memory__find(uint64_t address, struct block *found);
/* Whether the whole range is in allocations that a device can reach; records a write. */
bool memory__covers(uint64_t address, uint64_t size, bool write);
/* Whether the address is in a range that only the simulation hands out. */
bool memory__is_ours(uint64_t address);
/*
 * Charges or returns memory of a device that has no address: from cuMemCreate, or from another
 * process. `device`: -1 for host memory.
 */
int memory__charge(enum memory_kind kind, int device, uint64_t size);
void memory__uncharge(enum memory_kind kind, int device, uint64_t size);
/* Reserves addresses in the range for reservations. */
uint64_t memory__reserve(uint64_t size);
void memory__unreserve(uint64_t address, uint64_t size);

uint64_t memory__used(int device);
void memory__release_all(struct CUctx_st *context);
/* Totals of all allocations of a kind on a device, and of their ends. */
struct memory_totals {
	uint64_t allocations;
	uint64_t frees;
	uint64_t bytes_allocated;
	uint64_t bytes_freed;
	uint64_t released;		/* with their context */
	uint64_t bytes_released;
};

/* `device`: -1 for the sum over all devices and memory on no device. */
struct memory_totals memory__totals(int device, enum memory_kind kind);
const char *memory__kind_name(enum memory_kind kind);
/* Write members of the truth file. */
void memory__describe_live(FILE *out);
void virtual__describe(FILE *out);

/* virtual.c: the physical allocation of a handle, to share it; NULL if the handle is invalid. */
struct physical *physical__get(CUmemGenericAllocationHandle handle, uint64_t *size, int *device);
/* Add a handle for an allocation of this process, or of another one. Return 0 or an error. */
int physical__retain(CUmemGenericAllocationHandle handle);
int physical__import(uint64_t size, int device, CUmemGenericAllocationHandle *out);

/* Makes a pool release its unused memory beyond `keep` bytes. */
void memory__trim_pool(struct CUmemPoolHandle_st *pool, uint64_t keep);
/* Destroys the pool with the last of its allocations. */
void memory__doom_pool(struct CUmemPoolHandle_st *pool);

#endif
