/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Streams and events: what is in flight, captured, or waits for another stream. */
#ifndef GPUPROBE_STATE_STREAMS_H
#define GPUPROBE_STATE_STREAMS_H

#include "gpuprobe/function.h"

#define SEGMENTS 8 /* stretches between waits that a stream tells apart */

/*
 * Asynchronous copies of a stream that no wait has covered yet.
 *
 * Each wait and each event record raises its process's epoch when it begins.
 * Copies are summed in segments by the epoch of their issue; a wait that began
 * with epoch E proves, when it ends, that everything of an earlier epoch is
 * done. So a stream needs no record per copy, whatever is in flight. When all
 * segments are in use, the latest takes on the new epoch: its copies are then
 * held to be in flight rather too long than too short.
 */
struct stream_key {
	__u64 stream; /* STREAM_LEGACY and STREAM_PER_THREAD stand for the special ones */
	__u64 scope;  /* of a special stream: its context, or its thread */
	__u32 slot;
	__u32 pad;
};

/*
 * A capture in progress. Which streams take part is said by the map `capturing`
 * (struct stream_key to the capture's number), of which entries of captures
 * that have ended mean nothing.
 */
struct capture_key {
	__u64 id;
	__u32 slot;
	__u32 pad;
};

struct capture_record {
	__u64 kernels; /* nodes so far */
	__u64 start_ns;
	__u64 context;		  /* with which it ends */
	__u64 into;		  /* the graph that it extends; 0: a new one */
	struct stream_key origin; /* the stream that began it; 0 where that was not seen */
	__u64 unknown;		  /* not all of its launches were seen */
};

#define STREAM_LEGACY 1
#define STREAM_PER_THREAD 2
/* In keys of struct stream_orders and in proofs alone */
#define STREAM_CONTEXT 3      /* all streams of the context `scope` */
#define STREAM_BLOCKING 4     /* those that the legacy default stream of the context waits for */
#define STREAM_LEGACY_ALONE 5 /* the legacy default stream without these */

struct stream_segment {
	__u64 epoch; /* 0: never used */
	__u64 after; /* other streams' work of epochs below this was issued before the latest of its copies */
	__u32 calls[COPY_KINDS];
	__u32 pad;
	__u64 oldest_ns[COPY_KINDS];
	__u64 bytes[COPY_KINDS];
};

struct stream_record {
	__u32 lock;	  /* taken by compare and swap: BPF spin locks are not for tracing programs */
	__u32 head;	  /* the segment in use is segments[head % SEGMENTS] */
	__u64 covered;	  /* segments of an epoch below this are done */
	__u64 covered_ns; /* the end of the wait that told so; written before it */
	__u64 context;
	__u8 device;
	__u8 blocking; /* the legacy default stream waits for it, and it for that; 0 also where its making was not seen */
	__u8 pad[6];
	/* With a profile: epochs of the latest work, plus 1, and of the latest event record or host function */
	__u64 worked, recorded;
	/*
	 * That of the latest work that is no copy or set, plus 1, the bytes of the copies and sets since the stream was last known to be
	 * done, when the latest of all was noted, and since when the device has had nothing else; 0: never
	 */
	__u64 heavy, light_bytes, worked_ns, alone_ns;
	struct stream_segment segments[SEGMENTS];
};

struct event_key {
	__u64 event;
	__u32 slot;
	__u32 pad;
};

struct event_record {
	struct stream_key stream;
	__u64 epoch;
	__u64 start_ns; /* of the call that recorded it */
};

/*
 * What a stream was told to wait for, by an event of another one: as soon as its own work of epochs up to `epoch` is
 * done, so is the other stream's of epochs below `before`. The wait keeps that, whatever becomes of the event. What
 * a blocking stream waits for the legacy default stream of the context waits for as well, STREAM_BLOCKING, and a wait
 * for the context for what is of another one, STREAM_CONTEXT. An order that has been followed is free; when all are in use, the latest for
 * the same stream takes on the new one, which is then held to be done rather too late than too early.
 */
#define STREAM_ORDERS 32
#define PROCESS_ORDERS 1024 /* struct stream_orders that a process has at most */

struct stream_order {
	__u64 stream, scope; /* the other stream, as in stream_key */
	__u64 before;
	__u64 epoch; /* 0: free */
};

struct stream_orders {
	__u32 lock; /* as a stream's */
	__u32 pad;
	struct stream_order orders[STREAM_ORDERS];
};

/* process_record.orders: what a wait for a stream may prove of others. Where it is 0 nothing of that is looked at. */
#define ORDERS_EVENTS 1	   /* some stream waits for another's event */
#define ORDERS_LEGACY 2	   /* the legacy default stream has had copies, or an order */
#define ORDERS_BLOCKING 4  /* a blocking stream has had copies */
#define ORDERS_ELSEWHERE 8 /* some event is OBJECT_ELSEWHERE */

#endif
