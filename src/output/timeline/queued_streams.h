/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The streams of a timeline: each has a track, the work on it that no wait has covered, how much
 * that is as a counter, and the events of other streams for which it waits.
 */
#ifndef OUTPUT_TIMELINE_QUEUED_STREAMS_H
#define OUTPUT_TIMELINE_QUEUED_STREAMS_H

#include "output/timeline/tracks.h"

/* For all processes. Beyond that the oldest are forgotten: waits for them cover nothing. */
#define STREAMS_MAX 4096u
#define WORK_MAX 256u	 /* of a stream, each kept with its call; older ones are only counted */
#define ARROWS_MAX 1024u /* of one wait, to the newest work of each stream */
#define JOINS_MAX 64u	 /* events for which a stream waits; the oldest are forgotten */
#define ORDERS_MAX 16u	 /* of these, with an arrow to its next work */

struct queue_key {
	uint64_t handle;
	uint32_t process; /* number of the struct trace_process */
	int32_t where;	  /* the device of a legacy stream, the tid of a thread's own; else 0 */
};

/* Work after the call `number` comes after what is on the stream `other` up to `up_to`. */
struct stream_join {
	struct queue_key other;
	uint64_t up_to, number; /* of calls */
};

struct queued_stream {
	struct queue_key key;
	struct timeline_track track, counter;
	uint64_t queued;	    /* the counter; it changes when calls return */
	int16_t device;		    /* of the latest work */
	uint64_t capture;	    /* work is captured into a graph: number of that call; or 0 */
	struct timeline_work *work; /* a ring of WORK_MAX, or NULL */
	size_t first, count;
	uint64_t older_launches, older_copies; /* work that had no room in the ring */
	uint64_t older_number;		       /* of the newest of them */
	struct stream_join *joins;	       /* JOINS_MAX, or NULL */
	size_t join_count;
	struct timeline_order orders[ORDERS_MAX]; /* since the latest work */
	size_t order_count;
	UT_hash_handle hh;
};

struct queued_streams;

/* Returns NULL if out of memory. Both must outlive it. */
struct queued_streams *queued_streams__new(struct timeline_tracks *tracks,
					   struct timeline_form *form);
void queued_streams__free(struct queued_streams *streams); /* NULL is fine */

/* NULL if it is not known. Valid until queued_streams__take. */
struct queued_stream *queued_streams__find(struct queued_streams *streams,
					   const struct queue_key *key);

/* Makes the stream, with a track of this name, if it is not known. NULL if out of memory. */
struct queued_stream *queued_streams__take(struct queued_streams *streams,
					   struct timeline_process *process,
					   const struct queue_key *key, const char *name);

/* Adds the work that a call has queued. Returns 0 or -ENOMEM. */
int queued_streams__add(struct queued_streams *streams, struct timeline_process *process,
			struct queued_stream *stream, const struct timeline_call *call);

/* Returns 0 or -ENOMEM. */
int queued_stream__join(struct queued_stream *stream, const struct stream_join *join);

/*
 * Takes away what a wait covers: what was queued on the stream before the call with the number
 * `up_to`, and had been queued when the wait began; and the same of streams for which it waits.
 * Adds it to the cover, whose work is valid until the next queued_streams__begin_cover.
 */
void queued_streams__cover(struct queued_streams *streams, struct queued_stream *stream,
			   uint64_t up_to, const struct timeline_call *wait,
			   struct timeline_cover *cover);

/* The same for all streams of the wait's process and device. */
void queued_streams__cover_device(struct queued_streams *streams, const struct timeline_call *wait,
				  struct timeline_cover *cover);

/* An empty cover. */
struct timeline_cover queued_streams__begin_cover(const struct queued_streams *streams);

/* The streams that take part in a capture leave it: in this one, or in any (0). */
void queued_streams__end_captures(struct queued_streams *streams, uint64_t capture);

/* Call before each line with its time, and at the end with UINT64_MAX: writes the counters. */
void queued_streams__advance(struct queued_streams *streams, uint64_t time_ns);

#endif
