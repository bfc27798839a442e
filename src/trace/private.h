/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the stream share: its state, and its steps. */
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
	struct memory_reader *memory; /* what processes are read by */
	struct address_text *places;
	struct stacks *stacks; /* NULL: none are taken */
	struct trace_line line;
	struct trace_counts counts;
	uint64_t now;	 /* of the latest drain */
	uint64_t began;	 /* what is older is not shown */
	uint64_t handed; /* time of the latest line: what comes with an earlier one is late */
	uint64_t due;	 /* all events of before have come */
	int ended;	 /* what ended the reading, or 0 */

	/*
	 * A look at the calls in progress: once the ring is read to `end`, all events before `bound` have come,
	 * and their stacks once that of stacks is read to `stacks_end`.
	 */
	bool looked;
	uint64_t bound, end, stacks_end;
	bool names_wait;		 /* of stacks that were read: no line can be handed out */
	size_t records_left, bytes_left; /* that this drain takes in */

	/*
	 * When the calls began that are in progress and not waited for, by thread
	 * number and depth; TOLD: at the end, of those that had their last line.
	 */
	uint64_t (*shown)[TRACE_DEPTH];
	uint64_t *missed;	 /* by thread number: calls that were sought in vain once */
	uint64_t entering_since; /* since when some thread is always just entering; 0: not so */
	uint64_t next_search_ns;
	uint32_t searched; /* the thread whose calls are being listed */
	uint64_t search_before;
};

#define TOLD UINT64_MAX

/* A stream from any source, which it takes over, also where it fails. As trace_stream__new. */
int trace_stream__open(struct trace_source *source, const struct trace_functions *functions,
		       const struct trace_stream_options *options, const struct log *log, struct trace_stream **out,
		       struct error *err);

/* intake.c */

#define INTAKE_FULL 2 /* records_left or bytes_left has run out */

/* A ring_record_fn; `arg` is the stream. INTAKE_FULL, or a negative errno that ends the reading. */
int trace_stream__take_record(const void *data, size_t size, void *arg);

/* The same for a record of the ring of stacks, which is to be named then. */
int trace_stream__take_stack(const void *data, size_t size, void *arg);

/* What an event must be to be taken for one: of a function that is shown, and whole. */
const struct trace_function *trace_stream__check(struct trace_stream *stream, const struct trace_event *event,
						 size_t size);

/* Adds an event that was checked to those that wait, as a line of `kind`, if it is to be shown. 0 or -ENOMEM. */
int trace_stream__add(struct trace_stream *stream, const struct trace_event *event, size_t size,
		      const struct trace_function *function, enum trace_line_kind kind, uint64_t time);

/* For how long of the event's duration gpuprobe held its process. */
uint64_t trace_stream__held(const struct trace_stream *stream, const struct trace_event *event);

/* Takes the counts of what was lost. 0 or -ENOMEM. */
int trace_stream__take_losses(struct trace_stream *stream);

/* progress.c */

/* The time before which no call in progress has begun that is waited for; 0 where that cannot be told now. */
uint64_t trace_stream__look(struct trace_stream *stream);

/*
 * Gives calls that hold the others up too long, or too many of them, lines of
 * their own. 1 where it did, 0, or -ENOMEM.
 */
int trace_stream__stop_waiting(struct trace_stream *stream);

/* After the end: the calls in progress are unfinished. 0 or -ENOMEM. */
int trace_stream__add_unfinished(struct trace_stream *stream);

/* handout.c */

/* Hands out what is due, at most `lines` lines. 1 where there is more, 0, or -ECANCELED. */
int trace_stream__hand_out(struct trace_stream *stream, size_t lines);

/* Puts the references of an event that waits. */
void trace_stream__let_go(struct trace_stream *stream, struct pending_event *pending);

#endif
