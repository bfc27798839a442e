// SPDX-License-Identifier: BSD-2-Clause
// Streams and what is queued on them, see queued_streams.h.
#include "output/timeline/queued_streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"
#include "output/timeline/later.h"

/* Streams that wait for one another in a row: further ones are covered by a later wait. */
#define CHAIN_MAX 32u

/* A counter changes. */
struct change {
	uint64_t time_ns; /* when the call returned */
	struct queue_key key;
	int64_t by;
};

struct queued_streams {
	struct timeline_tracks *tracks;
	struct timeline_form *form;
	struct queued_stream *streams;
	struct later changes; /* struct change */
	struct timeline_work covered[ARROWS_MAX];
};

static void free_stream(struct queued_stream *stream)
{
	free(stream->work);
	free(stream->joins);
	free(stream);
}

struct queued_streams *queued_streams__new(struct timeline_tracks *tracks,
					   struct timeline_form *form)
{
	struct queued_streams *streams = calloc(1, sizeof(*streams));

	if (!streams)
		return NULL;
	streams->tracks = tracks;
	streams->form = form;
	if (!later__init(&streams->changes, sizeof(struct change)))
		return streams;
	free(streams);
	return NULL;
}

void queued_streams__free(struct queued_streams *streams)
{
	if (!streams)
		return;
	TABLE_CLEAR(streams->streams, free_stream);
	later__clear(&streams->changes);
	free(streams);
}

struct queued_stream *queued_streams__find(struct queued_streams *streams,
					   const struct queue_key *key)
{
	return TABLE_FIND(streams->streams, key, key);
}

struct queued_stream *queued_streams__take(struct queued_streams *streams,
					   struct timeline_process *process,
					   const struct queue_key *key, const char *name)
{
	struct queued_stream *stream = queued_streams__find(streams, key);

	if (stream)
		return stream;
	if (HASH_COUNT(streams->streams) >= STREAMS_MAX) {
		struct queued_stream *oldest = streams->streams;

		HASH_DEL(streams->streams, oldest);
		free_stream(oldest);
	}
	stream = TABLE_ADD_NEW(streams->streams, key, key);
	if (stream)
		timeline_tracks__add(streams->tracks, process, TRACK_STREAM, name, &stream->track);
	return stream;
}

/* --- counters --- */

static void apply(struct queued_streams *streams, const struct change *change)
{
	struct queued_stream *stream = queued_streams__find(streams, &change->key);
	struct timeline_value value = {.time_ns = change->time_ns, .device = -1};

	if (!stream)
		return; /* forgotten meanwhile */
	stream->queued += (uint64_t)change->by;
	value.track = &stream->counter;
	value.amount = stream->queued;
	streams->form->ops->value(streams->form, &value);
}

void queued_streams__advance(struct queued_streams *streams, uint64_t time_ns)
{
	struct change change;

	while (later__take(&streams->changes, time_ns, &change))
		apply(streams, &change);
}

static void change_later(struct queued_streams *streams, const struct queued_stream *stream,
			 uint64_t time_ns, int64_t by)
{
	const struct change change = {time_ns, stream->key, by};
	struct change earliest;

	if (later__is_full(&streams->changes) &&
	    later__take(&streams->changes, UINT64_MAX, &earliest))
		apply(streams, &earliest);
	later__add(&streams->changes, &change);
}

static void add_counter(struct queued_streams *streams, struct timeline_process *process,
			struct queued_stream *stream)
{
	char name[TRACK_NAME_SIZE];

	snprintf(name, sizeof(name), "queued on %.*s", TRACK_NAME_SIZE - 16, stream->track.name);
	timeline_tracks__add(streams->tracks, process, TRACK_QUEUED, name, &stream->counter);
}

/* --- work --- */

static struct timeline_work *work_at(const struct queued_stream *stream, size_t i)
{
	return &stream->work[(stream->first + i) % WORK_MAX];
}

static void drop_oldest(struct queued_stream *stream)
{
	const struct timeline_work *oldest = work_at(stream, 0);

	stream->older_copies += oldest->is_copy;
	stream->older_launches += !oldest->is_copy;
	stream->older_number = oldest->number;
	stream->first = (stream->first + 1) % WORK_MAX;
	stream->count--;
}

int queued_streams__add(struct queued_streams *streams, struct timeline_process *process,
			struct queued_stream *stream, const struct timeline_call *call)
{
	uint8_t operation = call->row->desc.operation;

	if (!stream->work)
		stream->work = calloc(WORK_MAX, sizeof(*stream->work));
	if (!stream->work)
		return -ENOMEM;
	if (!stream->counter.number)
		add_counter(streams, process, stream);
	if (stream->count == WORK_MAX)
		drop_oldest(stream);
	*work_at(stream, stream->count++) = (struct timeline_work){
		.number = call->number,
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
		.pid = call->thread->pid,
		.tid = call->thread->tid,
		.is_copy = operation == OP_COPY || operation == OP_SET,
	};
	change_later(streams, stream, call->end_ns, 1);
	return 0;
}

int queued_stream__join(struct queued_stream *stream, const struct stream_join *join)
{
	if (!stream->joins)
		stream->joins = calloc(JOINS_MAX, sizeof(*stream->joins));
	if (!stream->joins)
		return -ENOMEM;
	if (stream->join_count == JOINS_MAX)
		memmove(stream->joins, stream->joins + 1,
			--stream->join_count * sizeof(*stream->joins));
	stream->joins[stream->join_count++] = *join;
	return 0;
}

/* --- waits --- */

/* What is being covered. */
struct covering {
	struct queued_streams *streams;
	const struct timeline_call *wait;
	struct timeline_cover *cover;
	struct timeline_work *room; /* for the work of the cover */
};

static uint64_t cover_older(struct queued_stream *stream, uint64_t up_to,
			    struct timeline_cover *cover)
{
	uint64_t all = stream->older_launches + stream->older_copies;

	if (stream->older_number > up_to)
		return 0;
	cover->launches += stream->older_launches;
	cover->copies += stream->older_copies;
	stream->older_launches = stream->older_copies = 0;
	return all;
}

/* Another thread's call in progress may come later than the wait. */
static void cover_own(const struct covering *covering, struct queued_stream *stream, uint64_t up_to)
{
	struct timeline_cover *cover = covering->cover;
	uint64_t covered = cover_older(stream, up_to, cover);
	size_t kept = 0;

	for (size_t i = 0; i < stream->count; i++) {
		struct timeline_work *work = work_at(stream, i);

		if (work->number > up_to || work->end_ns > covering->wait->begin_ns) {
			*work_at(stream, kept++) = *work;
			continue;
		}
		covered++;
		cover->copies += work->is_copy;
		cover->launches += !work->is_copy;
		if (cover->count < ARROWS_MAX)
			covering->room[cover->count++] = *work;
	}
	stream->count = kept;
	if (covered)
		change_later(covering->streams, stream, covering->wait->end_ns, -(int64_t)covered);
}

/*
 * Takes the first join away that a wait for the stream up to `up_to` covers. Returns whether there
 * is one.
 */
static bool take_join(struct queued_stream *stream, uint64_t up_to, struct stream_join *join)
{
	if (!stream->join_count || stream->joins->number > up_to)
		return false;
	*join = *stream->joins;
	memmove(stream->joins, stream->joins + 1, --stream->join_count * sizeof(*stream->joins));
	return true;
}

/* A wait for a stream is one for the events that it waits for. Each join is taken once. */
static void cover(const struct covering *covering, struct queued_stream *stream, uint64_t up_to,
		  unsigned int chain)
{
	struct queued_stream *other;
	struct stream_join join;

	cover_own(covering, stream, up_to);
	while (chain < CHAIN_MAX && take_join(stream, up_to, &join)) {
		other = queued_streams__find(covering->streams, &join.other);
		if (other)
			cover(covering, other, join.up_to, chain + 1);
	}
}

void queued_streams__cover(struct queued_streams *streams, struct queued_stream *stream,
			   uint64_t up_to, const struct timeline_call *wait,
			   struct timeline_cover *covered)
{
	const struct covering covering = {streams, wait, covered, streams->covered};

	cover(&covering, stream, up_to, 0);
}

void queued_streams__cover_device(struct queued_streams *streams, const struct timeline_call *wait,
				  struct timeline_cover *covered)
{
	const struct trace_line *line = wait->line;

	for (struct queued_stream *stream = streams->streams; stream; stream = stream->hh.next)
		if (stream->key.process == line->process->number && stream->device == line->device)
			queued_streams__cover(streams, stream, wait->number, wait, covered);
}

struct timeline_cover queued_streams__begin_cover(const struct queued_streams *streams)
{
	return (struct timeline_cover){.work = streams->covered};
}

void queued_streams__end_captures(struct queued_streams *streams, uint64_t capture)
{
	for (struct queued_stream *stream = streams->streams; stream; stream = stream->hh.next)
		if (!capture || stream->capture == capture)
			stream->capture = 0;
}
