/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory: allocations, reserved ranges, pools. */
#ifndef GPUPROBE_STATE_MEMORY_H
#define GPUPROBE_STATE_MEMORY_H

#include <linux/types.h>

#define LIVE_STEP 1024 /* so many allocations at a time a process takes of the room for all, see bpf/process/share.bpf.h */

/*
 * Addresses and handles are told apart by space: a handle of physical memory
 * may be a small number, a reserved range begins where memory is mapped.
 */
enum space {
	SPACE_ADDRESS = 0, /* memory that programs address, and imports */
	SPACE_REGISTERED,
	SPACE_ARRAY,
	SPACE_PHYSICAL,
	SPACE_RESERVED,
	SPACE_MAPPED,
	SPACE_ENDING, /* physical memory whose last mapping, by its address, is being undone */
};

struct allocation_key {
	__u64 address; /* or handle */
	__u16 slot;
	__u8 space; /* enum space */
	__u8 pad[5];
};

struct allocation_record {
	__u64 size;
	__u64 start_ns;
	union {
		__u64 context; /* in which it lives, and with which it goes; 0: in none, or not known */
		__u64 pool;    /* of MEMORY_POOL, see struct pool_key */
		__u64 handle;  /* of MEMORY_MAPPED: the physical memory's */
	};
	__u16 row;
	__u8 kind; /* enum memory_kind */
	__u8 device;
	__u32 references; /* of physical memory: handles and mappings; of imports: how often opened */
	__u64 stack;	  /* id of where it was made; 0: not taken */
};

/*
 * Where an address lies. An allocation of 2^level to 2^(level+1) - 1 bytes is
 * found by its level and the number of the block of 2^level bytes in which it
 * begins. Live allocations do not overlap, so only one of that level begins in
 * a block, and one that holds an address begins in the address's block or in
 * one of the two before. BPF checks what it finds against `allocations`.
 */
struct range_key {
	__u64 block;
	__u16 slot;
	__u8 level;
	__u8 pad[5];
};

struct range_record {
	__u64 address; /* where it begins: the allocation's key */
	__u64 size;
	__u8 space;
	__u8 kind; /* enum memory_kind */
	__u8 device;
	__u8 pad[5];
};

/*
 * The driver reserves for a pool in steps of 32 MiB (measured on driver 580,
 * H200: docs/gpu-results.md). What `bytes` take is that, rounded up.
 */
#define POOL_STEP (32ull << 20)
#define POOL_STEPS(bytes) ((bytes) > ~0ull - POOL_STEP ? (bytes) : ((bytes) + POOL_STEP - 1) / POOL_STEP * POOL_STEP)

/*
 * A memory pool. A program that allocates from its device's pool need not know
 * the handle, so a device's first pool has handle 0 here; once its handle is
 * told, that is an alias.
 */
struct pool_key {
	__u64 handle;
	__u16 slot;
	__u8 device; /* of handle 0; else 0 */
	__u8 pad[5];
};

struct pool_record {
	__u64 handle; /* as the program knows it; 0: not known */
	__u64 used;   /* by allocations that were seen */
	__s64 beyond; /* what the program was told to be used, less `used` then */
	__u64 reserved;
	__u64 threshold; /* down to which a wait lets it fall */
	__u64 waits;	 /* the process's, when last looked at */
	__u8 device;
	__u8 alias;	/* stands for handle 0 of `device`; nothing else here counts */
	__u8 destroyed; /* lives until its last allocation is freed */
	__u8 estimated; /* `reserved` has changed since the program was told */
	__s32 carries;	/* by so many times 2^64 is more used than `used` says */
};

/* The bytes that the driver holds to be in use, as it has said to the program: ~0 where it is more, 0 where it would be less. */
static inline __u64 pool_record__used(const struct pool_record *pool)
{
	__u64 used = pool->used, beyond = (__u64)pool->beyond;

	if (pool->carries)
		return pool->carries > 0 ? ~0ull : 0;
	if (pool->beyond >= 0)
		return used > ~0ull - beyond ? ~0ull : used + beyond;
	return used > -beyond ? used + beyond : 0;
}

/* The value of `beyond` once the driver has said that so much is used. */
static inline __s64 pool_record__beyond(const struct pool_record *pool, __u64 reported)
{
	__u64 more = reported > pool->used ? reported - pool->used : pool->used - reported, most = ~0ull >> 1;

	if (more > most)
		more = most;
	return reported > pool->used ? (__s64)more : -(__s64)more;
}

#endif
