// SPDX-License-Identifier: BSD-2-Clause
// What is queued on streams, and which wait covers it, see queue.h.
#include "output/timeline/queue.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/api.h"

#define LEGACY 1     /* cudaStreamLegacy; stream 0 means it unless the function is per_thread */
#define PER_THREAD 2 /* cudaStreamPerThread */

struct queue_event_key {
	uint64_t handle, process;
};

struct recorded_event {
	struct queue_event_key key;
	struct queue_key stream;
	uint64_t number; /* of the call that recorded it */
	struct timeline_point point;
	uint64_t capture;
	UT_hash_handle hh;
};

struct timeline_queue {
	struct queued_streams *streams;
	bool draws_arrows;
	struct recorded_event *events;
	struct timeline_order orders[ORDERS_MAX]; /* of the result */
};

struct timeline_queue *timeline_queue__new(struct timeline_tracks *tracks,
					   struct timeline_form *form, bool draws_arrows)
{
	struct timeline_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return NULL;
	queue->draws_arrows = draws_arrows;
	queue->streams = queued_streams__new(tracks, form);
	if (queue->streams)
		return queue;
	free(queue);
	return NULL;
}

void timeline_queue__free(struct timeline_queue *queue)
{
	if (!queue)
		return;
	queued_streams__free(queue->streams);
	TABLE_CLEAR(queue->events, free);
	free(queue);
}

void timeline_queue__advance(struct timeline_queue *queue, uint64_t time_ns)
{
	queued_streams__advance(queue->streams, time_ns);
}

bool timeline_queue__queues(const struct api_function *row)
{
	switch ((enum operation)row->desc.operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_HOST_FUNCTION:
	case OP_COPY:
	case OP_SET: return true;
	default: return false;
	}
}

bool timeline_queue__concerns(const struct api_function *row)
{
	switch ((enum operation)row->desc.operation) {
	case OP_WAIT:
	case OP_QUERY:
	case OP_EVENT_RECORD:
	case OP_CAPTURE: return true;
	default: return timeline_queue__queues(row);
	}
}

/* --- streams and events --- */

static uint64_t number_of(const struct trace_field *field)
{
	return field && field->form == FORM_ADDRESS ? field->number : 0;
}

static const struct trace_field *field_of(const struct trace_line *line, enum trace_role role,
					  const char *name)
{
	for (size_t i = 0; i < line->field_count; i++) {
		const struct trace_field *field = &line->fields[i];

		if (name ? !strcmp(field->name, name) : field->role == role)
			return field;
	}
	return NULL;
}

static struct queue_key key_of(const struct timeline_call *call)
{
	const struct trace_line *line = call->line;
	struct queue_key key = {
		.handle = number_of(field_of(line, TRACE_STREAM, NULL)),
		.process = line->process->number,
	};

	if (!key.handle)
		key.handle = call->row->desc.flags & FUNCTION_PER_THREAD ? PER_THREAD : LEGACY;
	if (key.handle == LEGACY)
		key.where = line->device;
	else if (key.handle == PER_THREAD)
		key.where = line->tid;
	return key;
}

static void name_stream(const struct queue_key *key, int16_t device, char name[TRACK_NAME_SIZE])
{
	char on[32] = "";

	if (device >= 0)
		snprintf(on, sizeof(on), ", device %d", device);
	if (key->handle == LEGACY)
		snprintf(name, TRACK_NAME_SIZE, "default stream%s", on);
	else if (key->handle == PER_THREAD)
		snprintf(name, TRACK_NAME_SIZE, "default stream of thread %" PRId32 "%s",
			 key->where, on);
	else
		snprintf(name, TRACK_NAME_SIZE, "stream 0x%" PRIx64 "%s", key->handle, on);
}

/* The stream that the call names, with its track; NULL if out of memory. */
static struct queued_stream *take_stream(struct timeline_queue *queue,
					 struct timeline_process *process,
					 const struct timeline_call *call)
{
	const struct queue_key key = key_of(call);
	struct queued_stream *stream = queued_streams__find(queue->streams, &key);
	char name[TRACK_NAME_SIZE];

	if (stream)
		return stream;
	name_stream(&key, call->line->device, name);
	stream = queued_streams__take(queue->streams, process, &key, name);
	if (stream)
		stream->device = call->line->device;
	return stream;
}

static struct queue_event_key event_of(const struct trace_line *line)
{
	return (struct queue_event_key){number_of(field_of(line, TRACE_NO_ROLE, "event")),
					line->process->number};
}

static struct recorded_event *take_event(struct timeline_queue *queue,
					 const struct trace_line *line)
{
	const struct queue_event_key key = event_of(line);
	struct recorded_event *event = TABLE_FIND(queue->events, key, &key);

	if (event)
		return event;
	if (HASH_COUNT(queue->events) >= EVENTS_MAX) {
		struct recorded_event *oldest = queue->events;

		HASH_DEL(queue->events, oldest);
		free(oldest);
	}
	return TABLE_ADD_NEW(queue->events, key, &key);
}

static const struct recorded_event *find_event(const struct timeline_queue *queue,
					       const struct trace_line *line)
{
	const struct queue_event_key key = event_of(line);

	return TABLE_FIND(queue->events, key, &key);
}

/* --- waits --- */

/* A copy to the host that is not asynchronous returns when the bytes are there. */
static bool is_waiting_copy(const struct timeline_call *call)
{
	const struct trace_field *kind = field_of(call->line, TRACE_KIND, NULL);

	return call->row->desc.operation == OP_COPY && !(call->row->desc.flags & FUNCTION_ASYNC) &&
	       kind && kind->form == FORM_WORD && !strcmp(kind->text, "D2H");
}

static void wait_for(struct timeline_queue *queue, const struct timeline_call *call,
		     struct timeline_cover *cover)
{
	const struct recorded_event *event = NULL;
	struct queue_key key = key_of(call);
	struct queued_stream *stream;

	switch ((enum wait_scope)call->row->desc.kind) {
	case WAIT_CONTEXT: queued_streams__cover_device(queue->streams, call, cover); return;
	case WAIT_EVENT:
		event = find_event(queue, call->line);
		if (!event)
			return;
		key = event->stream;
		break;
	default: break;
	}
	stream = queued_streams__find(queue->streams, &key);
	if (stream)
		queued_streams__cover(queue->streams, stream, event ? event->number : call->number,
				      call, cover);
}

/* --- calls --- */

static struct timeline_point point_of(const struct timeline_call *call)
{
	return (struct timeline_point){call->thread->pid, call->thread->tid, call->begin_ns};
}

/* The work comes after all events that its stream has waited for since the work before. */
static void take_orders(struct timeline_queue *queue, struct queued_stream *stream,
			struct queue_result *result)
{
	memcpy(queue->orders, stream->orders, sizeof(queue->orders));
	result->orders = queue->orders;
	result->order_count = stream->order_count;
	stream->order_count = 0;
}

static int submit(struct timeline_queue *queue, struct timeline_process *process,
		  const struct timeline_call *call, struct queue_result *result)
{
	struct queued_stream *stream = take_stream(queue, process, call);

	if (!stream)
		return -ENOMEM;
	stream->device = call->line->device;
	result->stream = &stream->track;
	result->is_captured = stream->capture != 0;
	if (stream->capture || !queue->draws_arrows)
		return 0;
	take_orders(queue, stream, result);
	if (!is_waiting_copy(call))
		return queued_streams__add(queue->streams, process, stream, call);
	queued_streams__cover(queue->streams, stream, call->number, call, &result->cover);
	return 0;
}

static int record_event(struct timeline_queue *queue, const struct timeline_call *call)
{
	const struct queue_key key = key_of(call);
	const struct queued_stream *stream = queued_streams__find(queue->streams, &key);
	struct recorded_event *event = take_event(queue, call->line);

	if (!event)
		return -ENOMEM;
	event->stream = key;
	event->number = call->number;
	event->point = point_of(call);
	event->capture = stream ? stream->capture : 0;
	return 0;
}

/*
 * The stream waits for an event: later work on it comes after what was on the event's stream, and a
 * wait for the one covers the other. In a capture that is an edge of the graph.
 */
static int join(struct timeline_queue *queue, struct queued_stream *stream,
		const struct timeline_call *call, struct queue_result *result)
{
	const struct recorded_event *event = find_event(queue, call->line);
	const struct queued_stream *other;
	struct timeline_order order;

	if (event && event->capture)
		stream->capture = event->capture;
	if (!event || stream->capture || !queue->draws_arrows)
		return 0;
	other = queued_streams__find(queue->streams, &event->stream);
	if (!other || other == stream)
		return 0;
	order = (struct timeline_order){call->number, event->point, point_of(call)};
	if (stream->order_count < ORDERS_MAX)
		stream->orders[stream->order_count++] = order;
	result->order = order;
	result->stream = &stream->track;
	result->other = &other->track;
	return queued_stream__join(
		stream, &(struct stream_join){event->stream, event->number, call->number});
}

static int change_capture(struct timeline_queue *queue, struct timeline_process *process,
			  const struct timeline_call *call, struct queue_result *result)
{
	struct queued_stream *stream = take_stream(queue, process, call);

	if (!stream)
		return -ENOMEM;
	switch ((enum capture_change)call->row->desc.kind) {
	case CAPTURE_BEGIN:
	case CAPTURE_BEGIN_TO: stream->capture = call->number; break;
	case CAPTURE_END:
		if (stream->capture)
			queued_streams__end_captures(queue->streams, stream->capture);
		break;
	case CAPTURE_JOIN: return join(queue, stream, call, result);
	default: break;
	}
	return 0;
}

int timeline_queue__take(struct timeline_queue *queue, struct timeline_process *process,
			 const struct timeline_call *call, struct queue_result *result)
{
	int ret = 0;

	*result = (struct queue_result){.cover = queued_streams__begin_cover(queue->streams)};
	/* A call that failed did nothing; a query may have found that the work is not done. */
	if (call->line->result)
		return 0;
	switch ((enum operation)call->row->desc.operation) {
	case OP_WAIT:
	case OP_QUERY:
		if (queue->draws_arrows)
			wait_for(queue, call, &result->cover);
		break;
	case OP_EVENT_RECORD: ret = record_event(queue, call); break;
	case OP_CAPTURE: ret = change_capture(queue, process, call, result); break;
	default: ret = submit(queue, process, call, result);
	}
	return ret;
}

void timeline_queue__lose(struct timeline_queue *queue)
{
	TABLE_CLEAR(queue->events, free);
	queued_streams__end_captures(queue->streams, 0);
}
