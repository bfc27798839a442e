/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Streams and events: work in flight, captures, and waits between streams. */
#ifndef GPUPROBE_STATE_STREAMS_H
#define GPUPROBE_STATE_STREAMS_H

#include "gpuprobe/function.h"

#define SEGMENTS 8 /* segments per stream: copies issued between waits, kept apart by epoch */

/*
 * A stream's asynchronous copies that no wait has covered yet.
 *
 * Each wait and each event record raises its process's epoch when it begins. Copies are summed in
 * segments by the epoch of their issue. When a wait that began with epoch E ends, all its work of
 * earlier epochs is done. So a stream needs no record per copy, however many are in flight. When
 * all segments are in use, the latest one takes the new epoch: its copies then count as in flight
 * for too long rather than too short.
 */
struct stream_key {
	__u64 stream; /* STREAM_LEGACY and STREAM_PER_THREAD stand for the special streams */
	__u64 scope;  /* special stream: its context or thread */
	__u32 slot;
	__u32 pad;
};

/*
 * A capture in progress. The map `capturing` (struct stream_key to capture number) holds the
 * participating streams. Entries of that map for captures that have ended are stale and ignored.
 */
struct capture_key {
	__u64 id;
	__u32 slot;
	__u32 pad;
};

struct capture_record {
	__u64 kernels; /* kernel nodes so far */
	__u64 start_ns;
	__u64 context;		  /* the capture ends with this context */
	__u64 into;		  /* the existing graph that it extends; 0: a new one */
	struct stream_key origin; /* the stream that began it; 0: the beginning was not seen */
	__u64 unknown;		  /* some of its launches were missed */
};

#define STREAM_LEGACY 1
#define STREAM_PER_THREAD 2
/* Only in keys of struct stream_orders and in proofs */
#define STREAM_CONTEXT 3 /* all streams of the context `scope` */
/* the context's blocking streams, which the legacy default stream waits for */
#define STREAM_BLOCKING 4
#define STREAM_LEGACY_ALONE 5 /* the legacy default stream without the blocking streams */

struct stream_segment {
	__u64 epoch; /* 0: never used */
	/* other streams' work of lower epochs was issued before this segment's latest copy */
	__u64 after;
	__u32 calls[COPY_KINDS];
	__u32 pad;
	__u64 oldest_ns[COPY_KINDS];
	__u64 bytes[COPY_KINDS];
};

struct stream_record {
	/* taken by compare and swap: tracing programs cannot use BPF spin locks */
	__u32 lock;
	__u32 head;	  /* the current segment is segments[head % SEGMENTS] */
	__u64 covered;	  /* segments of lower epochs are done */
	__u64 covered_ns; /* the end of the wait that proved it; written before `covered` */
	__u64 context;
	__u8 device;
	/* it synchronizes with the legacy default stream; 0 also if its creation was missed */
	__u8 blocking;
	__u8 pad[6];
	/*
	 * Profile only: epoch of the latest work, plus 1, and epoch of the latest event record or
	 * host function
	 */
	__u64 worked, recorded;
	/*
	 * `heavy`: epoch of the latest work other than copies and sets, plus 1. `light_bytes`:
	 * bytes of copies and sets since the stream was last known to be done. `worked_ns`: when
	 * the latest work was noted. `alone_ns`: since when the device has had no other work. 0:
	 * never
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
	__u64 start_ns; /* entry of the call that recorded it */
};

/*
 * A wait of this stream for an event of another stream. Once this stream's work of epochs up to
 * `epoch` is done, the other stream's work of epochs below `before` is done too. The wait keeps its
 * own copy of this, so the event may be recorded again or destroyed. The legacy default stream of
 * the context also waits for whatever a blocking stream waits for (STREAM_BLOCKING), and a wait for
 * the context covers whatever any of its streams waits for (STREAM_CONTEXT). An order is free once
 * it has been followed. When all are in use, the latest order for the same other stream takes the
 * new one: that work then counts as done too late rather than too early.
 */
#define STREAM_ORDERS 32
#define PROCESS_ORDERS 1024 /* struct stream_orders per process */

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

/*
 * process_record.orders: reasons why a wait for one stream may prove work on others. With 0,
 * nothing is looked up.
 */
#define ORDERS_EVENTS 1	   /* some stream waits for another stream's event */
#define ORDERS_LEGACY 2	   /* the legacy default stream has had copies or an order */
#define ORDERS_BLOCKING 4  /* a blocking stream has had copies */
#define ORDERS_ELSEWHERE 8 /* some event is OBJECT_ELSEWHERE */

#endif
