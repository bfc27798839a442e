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
	__u64 died_ns;				     /* when it last went, with all that lived in it; its handle may have come back since */
	__u64 died_epoch;			     /* copies of an earlier epoch went with it, done or not */
	__u64 blocking_covered, blocking_covered_ns; /* as `covered`, of its blocking streams alone */
	/*
	 * With a profile: epochs before which work is done as well, though no wait was for it. All of it, since a free
	 * blocked, or an event follows it; what blocking streams were given, since the legacy default stream comes
	 * after that; what the latter was given, since they come after that.
	 */
	__u64 all_epoch, blocking_epoch, legacy_epoch;
	__u8 device;
	__u8 dying; /* the call that ends it has not returned: died_ns may be taken back */
	__u8 pad[2];
	__u32 attached; /* references beside that of its maker */
};

/* A device as its process numbers it. */
struct device_key {
	__u16 slot;
	__u8 device;
	__u8 pad;
};

#define UUID_SIZE 16

struct device_record {
	__u64 primary; /* the primary context; 0: not known */
	__u64 pool;    /* that it allocates from now, see struct pool_key */
	__u32 retains; /* references to it that were seen taken, less those given back */
	__u8 has_uuid;
	__u8 pad[3];
	__u8 uuid[UUID_SIZE];
};

/* Streams, events, modules and libraries that live. */
struct object_key {
	__u64 handle;
	__u16 slot;
	__u8 kind; /* enum object_kind */
	__u8 pad[5];
};

#define OBJECT_NON_BLOCKING 0x01 /* a stream that does not wait for the legacy default stream */
#define OBJECT_ELSEWHERE 0x02	 /* an event that other processes, or graphs, may record */
#define OBJECT_RECORDED 0x04	 /* with a profile: an event that has been recorded */

struct object_record {
	__u64 context;
	__u64 start_ns;
	__u16 row;
	__u8 device;
	__u8 flags; /* OBJECT_* */
	__u32 pad;
	/* With a profile: of an event that has never been recorded */
	__u32 waits;
	__u32 queries;
};

/* With a profile: copies to an allocation of pinned memory, the latest of which was on that stream. */
struct target_key {
	__u64 address; /* the allocation's */
	__u32 slot;
	__u32 pad;
};

struct target_record {
	struct stream_key stream;
	__u64 epoch;	    /* as stream_record.worked */
	__u64 calls, bytes; /* since all were covered last */
};

#endif
