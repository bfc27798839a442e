/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory: allocations, reserved ranges, pools. */
#ifndef GPUPROBE_STATE_MEMORY_H
#define GPUPROBE_STATE_MEMORY_H

#include <linux/types.h>

/*
 * a process takes entries of the shared allocation map in steps of this many, see
 * bpf/process/share.bpf.h
 */
#define LIVE_STEP 1024

/*
 * The space distinguishes equal numbers: a handle of physical memory may be a small number, and a
 * reserved range may begin at the same address as mapped memory.
 */
enum space {
	SPACE_ADDRESS = 0, /* addressable memory, and imports */
	SPACE_REGISTERED,
	SPACE_ARRAY,
	SPACE_PHYSICAL,
	SPACE_RESERVED,
	SPACE_MAPPED,
	/* physical memory, keyed by the address of its last mapping, which is being unmapped */
	SPACE_ENDING,
};

/*
 * Memory that was live when an allocation failed and was freed soon afterwards stays in the map
 * for a while: a program that gives up, or that handles the error, frees what it held before
 * anybody can look.
 */
enum late_free {
	LATE_NOT = 0,
	LATE_MEMORY, /* of CUDA */
	LATE_TENSOR, /* of a framework's allocator */
};

/* How long after a failure frees are kept: longer than its report takes (cli/session/shortages). */
#define LATE_FREES_NS 12000000000ull
#define LATE_FREES 65536 /* of a process */

struct allocation_key {
	__u64 address; /* or a handle */
	__u16 slot;
	__u8 space; /* enum space */
	__u8 late;  /* enum late_free */
	__u8 pad[4];
};

struct allocation_record {
	__u64 size;
	__u64 start_ns;
	union {
		__u64 context;	/* the context it lives in and ends with; 0: none or unknown */
		__u64 pool;	/* MEMORY_POOL: see struct pool_key */
		__u64 handle;	/* MEMORY_MAPPED: handle of the physical memory */
		__u64 freed_ns; /* of a late free */
	};
	__u16 row;
	__u8 kind; /* enum memory_kind */
	__u8 device;
	/*
	 * Physical memory: handles and mappings; imports: times opened. LATE_TENSOR: struct
	 * tensor_record's weight
	 */
	__u32 references;
	__u64 stack; /* id of the allocation's stack; 0: not taken */
};

/*
 * Index to find the allocation that contains an address. An allocation of 2^level to 2^(level+1) -
 * 1 bytes is indexed by its level and by the number of the 2^level-byte block in which it begins.
 * Live allocations do not overlap, so at most one of a level begins in each block, and the one that
 * contains an address begins in the address's block or in one of the two before it. BPF checks each
 * hit against `allocations`.
 */
struct range_key {
	__u64 block;
	__u16 slot;
	__u8 level;
	__u8 pad[5];
};

struct range_record {
	__u64 address; /* start of the allocation, its key */
	__u64 size;
	__u8 space;
	__u8 kind; /* enum memory_kind */
	__u8 device;
	__u8 pad[5];
};

/*
 * The driver reserves pool memory in steps of 32 MiB (measured on driver 580, H200:
 * docs/gpu-results.md). POOL_STEPS rounds `bytes` up to that.
 */
#define POOL_STEP (32ull << 20)
#define POOL_STEPS(bytes) \
	((bytes) > ~0ull - POOL_STEP ? (bytes) : ((bytes) + POOL_STEP - 1) / POOL_STEP * POOL_STEP)

/*
 * A memory pool. A program that allocates from its device's pool need not know the handle, so a
 * device's first pool has handle 0 here. Once the program learns the real handle, it becomes an
 * alias.
 */
struct pool_key {
	__u64 handle;
	__u16 slot;
	__u8 device; /* with handle 0: the device; otherwise 0 */
	__u8 pad[5];
};

struct pool_record {
	__u64 handle; /* the program's handle; 0: unknown */
	__u64 used;   /* bytes in allocations that were seen */
	/* used bytes that the driver reported to the program, minus `used` at that time */
	__s64 beyond;
	__u64 reserved;
	__u64 threshold; /* release threshold: a wait trims the pool to this */
	__u64 waits;	 /* process_record.waits at the last look */
	__u8 device;
	__u8 alias;	/* stands for handle 0 of `device`; the other fields are unused */
	__u8 destroyed; /* destroyed, but alive until its last allocation is freed */
	__u8 estimated; /* `reserved` has changed since the driver last reported it */
	__s32 carries;	/* actual use is `used` plus this many times 2^64 */
};

/*
 * Bytes that the driver counts as used, by its own report to the program plus the changes since.
 * Saturates at 0 and ~0.
 */
static inline __u64 pool_record__used(const struct pool_record *pool)
{
	__u64 used = pool->used, beyond = (__u64)pool->beyond;

	if (pool->carries)
		return pool->carries > 0 ? ~0ull : 0;
	if (pool->beyond >= 0)
		return used > ~0ull - beyond ? ~0ull : used + beyond;
	return used > -beyond ? used + beyond : 0;
}

/* The value of `beyond` after the driver reported `told` bytes in use. */
static inline __s64 pool_record__beyond(const struct pool_record *pool, __u64 reported)
{
	__u64 more = reported > pool->used ? reported - pool->used : pool->used - reported,
	      most = ~0ull >> 1;

	if (more > most)
		more = most;
	return reported > pool->used ? (__s64)more : -(__s64)more;
}

#endif
