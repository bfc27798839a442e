/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread's calls and launches count as, kept by itself: nobody else writes there, so that counting needs no
 * look-up in a hash map and no atomic operation. What is in here is not in the maps `tallies` and `launches`,
 * which had the key when it was put here. A thread has a place, a number, from its first watched
 * call until it ends; without one, and where its own counters do not suffice, it counts in the maps.
 */
#ifndef GPUPROBE_THREAD_COUNTS_H
#define GPUPROBE_THREAD_COUNTS_H

#include "gpuprobe/state.h"

#define THREAD_COUNTER_SLOTS 1024 /* threads that have one at a time */
#define THREAD_TALLIES 32
#define THREAD_LAUNCHES 128

/* Without calls it is free. */
struct thread_tally {
	struct tally_key key;
	__u64 calls, bytes, ns;
};

/* Of the thread's process. Without launches it is free. */
struct thread_launch {
	__u64 handle;
	__u64 where; /* where_launched(), and above it how many of the kernel were seen: one in so many is looked at */
	__u64 launches;
};

#define WHERE_BITS 48

/* What there is in a launch_key beside slot and handle, in WHERE_BITS. */
static inline __u64 where_launched(__u32 generation, __u8 device, __u8 captured)
{
	return generation | (__u64)device << 32 | (__u64)captured << 40;
}

static inline __u8 device_launched(__u64 where)
{
	return (__u8)(where >> 32);
}

static inline int is_same_place(__u64 where, __u64 other)
{
	return !((where ^ other) << (64 - WHERE_BITS));
}

static inline struct launch_key launch_key_of(__u32 slot, __u64 handle, __u64 where)
{
	struct launch_key key = {.kernel = {.handle = handle, .slot = slot, .generation = (__u32)where}};

	key.device = device_launched(where);
	key.captured = (__u8)(where >> 40);
	return key;
}

struct thread_counts {
	__u32 slot; /* of its process */
	__u32 used; /* some thread has this place */
	__u64 pad;
	struct thread_tally tallies[THREAD_TALLIES];
	struct thread_launch launches[THREAD_LAUNCHES];
};

#endif
