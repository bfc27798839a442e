/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contexts, devices, and the objects that live in them. */
#ifndef GPUPROBE_STATE_CONTEXTS_H
#define GPUPROBE_STATE_CONTEXTS_H

#include "gpuprobe/state/streams.h"

struct context_key {
	__u64 context;
	__u32 slot;
	__u32 pad;
};

struct context_record {
	__u64 covered; /* see stream_record */
	__u64 covered_ns;
	/*
	 * when the context last ended, with everything in it; its handle may have been reused since
	 */
	__u64 died_ns;
	__u64 died_epoch; /* copies of an earlier epoch ended with it, finished or not */
	/* as `covered`, for its blocking streams only */
	__u64 blocking_covered, blocking_covered_ns;
	/*
	 * Profile only: work of earlier epochs is finished although no wait covered it.
	 * `all_epoch`: all work of the context, because a free blocked or an event follows that
	 * work. `blocking_epoch`: work of blocking streams, because later work on the legacy
	 * default stream waits for it. `legacy_epoch`: work of the legacy default stream, because
	 * later work on blocking streams waits for it.
	 */
	__u64 all_epoch, blocking_epoch, legacy_epoch;
	__u8 device;
	__u8 dying; /* the call that ends it has not returned: died_ns may be restored */
	__u8 pad[2];
	__u32 attached; /* references other than its maker's */
};

/* A device, by its number in the process. */
struct device_key {
	__u16 slot;
	__u8 device;
	__u8 pad;
};

#define UUID_SIZE 16

struct device_record {
	__u64 primary; /* the primary context; 0: unknown */
	__u64 pool;    /* the pool it currently allocates from, see struct pool_key */
	/* references to the primary context that were seen taken, minus those released */
	__u32 retains;
	__u8 has_uuid;
	__u8 pad[3];
	__u8 uuid[UUID_SIZE];
};

/* Live streams, events, modules and libraries. */
struct object_key {
	__u64 handle;
	__u16 slot;
	__u8 kind; /* enum object_kind */
	__u8 pad[5];
};

/* a stream that does not synchronize with the legacy default stream */
#define OBJECT_NON_BLOCKING 0x01
#define OBJECT_ELSEWHERE 0x02 /* an event that other processes or graphs may record */
#define OBJECT_RECORDED 0x04  /* profile only: the event has been recorded */

struct object_record {
	__u64 context;
	__u64 start_ns;
	__u16 row;
	__u8 device;
	__u8 flags; /* OBJECT_* */
	__u32 pad;
	/* Profile only: calls on an event that was never recorded */
	__u32 waits;
	__u32 queries;
	__u64 stack; /* id of the stack of the call that created it; 0: not taken */
};

/* A process's events have their stacks taken from this many live objects on. */
#define OBJECTS_UNTRACED 64

/* Stacks taken a second (2^30 ns), at most, of a process's calls that create objects. */
#define OBJECT_STACKS 1000

/*
 * Profile only: a pinned allocation that is the target of copies; the stream is that of the latest
 * copy.
 */
struct target_key {
	__u64 address; /* start of the allocation */
	__u32 slot;
	__u32 pad;
};

struct target_record {
	struct stream_key stream;
	__u64 epoch;	    /* as stream_record.worked */
	__u64 calls, bytes; /* since a wait last covered all of them */
};

#endif
