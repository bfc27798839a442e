/* SPDX-License-Identifier: BSD-2-Clause */
/* What the stream's source files share: its state, and its steps. */
#ifndef TRACE_PRIVATE_H
#define TRACE_PRIVATE_H

#include "trace/launch_names.h"
#include "trace/reorder.h"
#include "trace/address_text.h"
#include "trace/source.h"
#include "trace/stream.h"
#include "trace/threads.h"

struct trace_stream {
	struct trace_source *source;
	const struct trace_functions *functions;
	struct trace_stream_options options;
	const struct log *log;
	struct reorder *order;
	struct trace_threads *threads;
	struct launch_names *names;
	struct memory_reader *memory; /* reads the processes */
	struct address_text *addresses;
	struct stacks *stacks; /* NULL: no stacks are captured */
	struct trace_line line;
	struct trace_counts counts;
	uint64_t now;	 /* time of the latest drain */
	uint64_t began;	 /* older events are not shown */
	uint64_t handed; /* time of the latest line: an event with an earlier time is late */
	uint64_t due;	 /* all events before this time have arrived */
	int ended;	 /* the error that ended the reading, or 0 */

	/*
	 * A snapshot of the calls in progress: all events before `bound` have arrived once the ring
	 * is read to `end`, and their stacks once the ring of stacks is read to `stacks_end`.
	 */
	bool looked;
	uint64_t bound, end, stacks_end;
	bool names_wait;		 /* for stacks that were read: no line can be printed */
	size_t records_left, bytes_left; /* that this drain may still take in */

	/*
	 * Start of each call in progress that is not waited for, by thread number and depth; TOLD
	 * at the end, for those that had their last line.
	 */
	uint64_t (*shown)[TRACE_DEPTH];
	/*
	 * By thread number: start of the call that the last search did not find. A second miss
	 * marks it as shown.
	 */
	uint64_t *missed;
	uint64_t entering_since; /* since when some thread was always just entering; 0: no */
	uint64_t next_search_ns;
	uint32_t searched; /* the thread whose calls are being listed */
	uint64_t search_before;
};

#define TOLD UINT64_MAX

/*
 * Creates a stream from any source, and takes ownership of the source, also on failure. As
 * trace_stream__new.
 */
int trace_stream__open(struct trace_source *source, const struct trace_functions *functions,
		       const struct trace_stream_options *options, const struct log *log,
		       struct trace_stream **out, struct error *err);

/* intake.c */

#define INTAKE_FULL 2 /* records_left or bytes_left is used up */

/*
 * A ring_record_fn; `arg` is the stream. Returns 0, INTAKE_FULL, or a negative errno that ends the
 * reading.
 */
int trace_stream__take_record(const void *data, size_t size, void *arg);

/* The same for a record of the ring of stacks; the stack must be named afterwards. */
int trace_stream__take_stack(const void *data, size_t size, void *arg);

/* Checks that an event is complete and of a known function. Returns the function, or NULL. */
const struct trace_function *trace_stream__check(struct trace_stream *stream,
						 const struct trace_event *event, size_t size);

/*
 * Adds a checked event to the pending ones, as a line of `kind`, if it is to be shown. Returns 0 or
 * -ENOMEM.
 */
int trace_stream__add(struct trace_stream *stream, const struct trace_event *event, size_t size,
		      const struct trace_function *function, enum trace_line_kind kind,
		      uint64_t time);

/* The part of the event's duration during which gpuprobe held its process. */
uint64_t trace_stream__held(const struct trace_stream *stream, const struct trace_event *event);

/* Adds the losses that were counted since the last time. Returns 0 or -ENOMEM. */
int trace_stream__take_losses(struct trace_stream *stream);

/* ranges.c */

/* Takes an aligned TRACE_RANGE record. Returns 0, -EINVAL if it is malformed, or -ENOMEM. */
int trace_stream__take_range(struct trace_stream *stream, const struct trace_event *event,
			     size_t size);

/* Makes its line, whose texts are in `pending`. */
void trace_stream__set_range(const struct trace_stream *stream, const struct pending_event *pending,
			     struct trace_line *line);

/* progress.c */

/*
 * The time before which no awaited call in progress has begun; 0 if that is unknown at the moment.
 */
uint64_t trace_stream__look(struct trace_stream *stream);

/*
 * Shows calls as in progress that delay other lines for too long, or too many of them. Returns 1 if
 * it did, 0, or -ENOMEM.
 */
int trace_stream__stop_waiting(struct trace_stream *stream);

/* At the end: adds the calls in progress as unfinished. Returns 0 or -ENOMEM. */
int trace_stream__add_unfinished(struct trace_stream *stream);

/* emit.c */

/* Prints at most `lines` lines that are due. Returns 1 if there are more, 0, or -ECANCELED. */
int trace_stream__hand_out(struct trace_stream *stream, size_t lines);

/* Puts the references of a pending event. */
void trace_stream__let_go(struct trace_stream *stream, struct pending_event *pending);

#endif
