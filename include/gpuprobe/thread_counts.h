/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters of a thread's calls and launches that only the thread itself writes, so counting needs
 * no hash map lookup and no atomic operation. The maps `tallies` and `launches` do not include
 * these counts, but have entries for the same keys. A thread has a slot (a number) from its first
 * watched call until it ends. Without a slot, or when its counters are full, it counts in the
 * maps.
 */
#ifndef GPUPROBE_THREAD_COUNTS_H
#define GPUPROBE_THREAD_COUNTS_H

#include "gpuprobe/state.h"

#define THREAD_COUNTER_SLOTS 1024 /* threads with a slot at a time */
#define THREAD_TALLIES 32
#define THREAD_LAUNCHES 128

/* Free if it has no calls. */
struct thread_tally {
	struct tally_key key;
	__u64 calls, bytes, ns;
};

/* A kernel of the thread's process. Free if it has no launches. */
struct thread_launch {
	__u64 handle;
	__u64 where; /* where_launched(); above it, the kernel's launches seen, for sampling */
	__u64 launches;
};

#define WHERE_BITS 48

/* The fields of a launch_key other than slot and handle, in WHERE_BITS bits. */
static inline __u64 where_launched(__u32 generation, __u8 device, __u8 captured)
{
	return generation | (__u64)device << 32 | (__u64)captured << 40;
}

static inline __u8 device_launched(__u64 where)
{
	return (__u8)(where >> 32);
}

static inline int is_same_site(__u64 where, __u64 other)
{
	return !((where ^ other) << (64 - WHERE_BITS));
}

static inline struct launch_key launch_key_of(__u32 slot, __u64 handle, __u64 where)
{
	struct launch_key key = {
		.kernel = {.handle = handle, .slot = slot, .generation = (__u32)where}};

	key.device = device_launched(where);
	key.captured = (__u8)(where >> 40);
	return key;
}

struct thread_counts {
	__u32 slot; /* of its process */
	__u32 used; /* a thread has this slot */
	__u64 pad;
	struct thread_tally tallies[THREAD_TALLIES];
	struct thread_launch launches[THREAD_LAUNCHES];
};

#endif
