// SPDX-License-Identifier: BSD-2-Clause
// What is queued on streams, and which wait covers it, see queue.h.
#include "output/timeline/queue.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/api.h"

#define LEGACY 1     /* cudaStreamLegacy; stream 0 means it unless the function is per_thread */
#define PER_THREAD 2 /* cudaStreamPerThread */

struct queue_key {
	uint64_t handle;
	uint32_t process; /* number of the struct trace_process */
	int32_t where;	  /* the device of a LEGACY stream, the tid of a PER_THREAD one; else 0 */
};

struct queued_stream {
	struct queue_key key;
	struct timeline_track track;
	int16_t device;		    /* of the latest work */
	uint64_t capture;	    /* work is captured into a graph: number of that call; or 0 */
	struct timeline_work *work; /* a ring of WORK_MAX, or NULL */
	size_t first, count;
	uint64_t older_launches, older_copies; /* work that had no room in the ring */
	uint64_t older_number;		       /* of the newest of them */
	UT_hash_handle hh;
};

struct queue_event_key {
	uint64_t handle, process;
};

struct recorded_event {
	struct queue_event_key key;
	struct queue_key stream;
	uint64_t number; /* of the call that recorded it */
	uint64_t capture;
	UT_hash_handle hh;
};

struct timeline_queue {
	struct timeline_tracks *tracks;
	bool draws_arrows;
	struct queued_stream *streams;
	struct recorded_event *events;
	struct timeline_work covered[ARROWS_MAX];
};

static void free_stream(struct queued_stream *stream)
{
	free(stream->work);
	free(stream);
}

struct timeline_queue *timeline_queue__new(struct timeline_tracks *tracks, bool draws_arrows)
{
	struct timeline_queue *queue = calloc(1, sizeof(*queue));

	if (queue) {
		queue->tracks = tracks;
		queue->draws_arrows = draws_arrows;
	}
	return queue;
}

void timeline_queue__free(struct timeline_queue *queue)
{
	if (!queue)
		return;
	TABLE_CLEAR(queue->streams, free_stream);
	TABLE_CLEAR(queue->events, free);
	free(queue);
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

static void forget_oldest(struct timeline_queue *queue)
{
	struct queued_stream *oldest = queue->streams;

	HASH_DEL(queue->streams, oldest);
	free_stream(oldest);
}

/* The stream that the call names, with its track; NULL if out of memory. */
static struct queued_stream *take_stream(struct timeline_queue *queue,
					 struct timeline_process *process,
					 const struct timeline_call *call)
{
	const struct queue_key key = key_of(call);
	struct queued_stream *stream = TABLE_FIND(queue->streams, key, &key);
	char name[TRACK_NAME_SIZE];

	if (stream)
		return stream;
	if (HASH_COUNT(queue->streams) >= STREAMS_MAX)
		forget_oldest(queue);
	stream = TABLE_ADD_NEW(queue->streams, key, &key);
	if (!stream)
		return NULL;
	stream->device = call->line->device;
	name_stream(&key, stream->device, name);
	timeline_tracks__add(queue->tracks, process, TRACK_STREAM, name, &stream->track);
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

/* --- work --- */

static bool is_copy(const struct api_function *row)
{
	return row->desc.operation == OP_COPY || row->desc.operation == OP_SET;
}

static struct timeline_work *work_at(const struct queued_stream *stream, size_t i)
{
	return &stream->work[(stream->first + i) % WORK_MAX];
}

static int add_work(struct queued_stream *stream, const struct timeline_call *call)
{
	if (!stream->work)
		stream->work = calloc(WORK_MAX, sizeof(*stream->work));
	if (!stream->work)
		return -ENOMEM;
	if (stream->count == WORK_MAX) {
		const struct timeline_work *oldest = work_at(stream, 0);

		stream->older_copies += oldest->is_copy;
		stream->older_launches += !oldest->is_copy;
		stream->older_number = oldest->number;
		stream->first = (stream->first + 1) % WORK_MAX;
		stream->count--;
	}
	*work_at(stream, stream->count++) = (struct timeline_work){
		.number = call->number,
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
		.pid = call->thread->pid,
		.tid = call->thread->tid,
		.is_copy = is_copy(call->row),
	};
	return 0;
}

/* --- waits --- */

static void cover_older(struct queued_stream *stream, uint64_t up_to, struct timeline_cover *cover)
{
	if (stream->older_number > up_to)
		return;
	cover->launches += stream->older_launches;
	cover->copies += stream->older_copies;
	stream->older_launches = stream->older_copies = 0;
}

/*
 * Takes the work away that a wait covers: what was queued before the call with the number `up_to`,
 * and had been queued when the wait began. Another thread's call in progress may come later.
 */
static void cover_stream(struct timeline_queue *queue, struct queued_stream *stream, uint64_t up_to,
			 uint64_t wait_ns, struct timeline_cover *cover)
{
	size_t kept = 0;

	cover_older(stream, up_to, cover);
	for (size_t i = 0; i < stream->count; i++) {
		struct timeline_work *work = work_at(stream, i);

		if (work->number > up_to || work->end_ns > wait_ns) {
			*work_at(stream, kept++) = *work;
			continue;
		}
		cover->copies += work->is_copy;
		cover->launches += !work->is_copy;
		if (cover->count < ARROWS_MAX)
			queue->covered[cover->count++] = *work;
	}
	stream->count = kept;
}

static void cover_context(struct timeline_queue *queue, const struct timeline_call *call,
			  struct timeline_cover *cover)
{
	const struct trace_line *line = call->line;

	for (struct queued_stream *stream = queue->streams; stream; stream = stream->hh.next)
		if (stream->key.process == line->process->number && stream->device == line->device)
			cover_stream(queue, stream, call->number, call->begin_ns, cover);
}

static void cover_event(struct timeline_queue *queue, const struct timeline_call *call,
			struct timeline_cover *cover)
{
	const struct queue_event_key key = event_of(call->line);
	const struct recorded_event *event = TABLE_FIND(queue->events, key, &key);
	struct queued_stream *stream =
		event ? TABLE_FIND(queue->streams, key, &event->stream) : NULL;

	if (stream)
		cover_stream(queue, stream, event->number, call->begin_ns, cover);
}

static void wait_for(struct timeline_queue *queue, const struct timeline_call *call,
		     struct timeline_cover *cover)
{
	const struct queue_key key = key_of(call);
	struct queued_stream *stream;

	switch ((enum wait_scope)call->row->desc.kind) {
	case WAIT_EVENT: cover_event(queue, call, cover); break;
	case WAIT_CONTEXT: cover_context(queue, call, cover); break;
	default:
		stream = TABLE_FIND(queue->streams, key, &key);
		if (stream)
			cover_stream(queue, stream, call->number, call->begin_ns, cover);
	}
}

/* --- calls --- */

/* A copy to the host that is not asynchronous returns when the bytes are there. */
static bool is_waiting_copy(const struct timeline_call *call)
{
	const struct trace_field *kind = field_of(call->line, TRACE_KIND, NULL);

	return call->row->desc.operation == OP_COPY && !(call->row->desc.flags & FUNCTION_ASYNC) &&
	       kind && kind->form == FORM_WORD && !strcmp(kind->text, "D2H");
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
	if (!is_waiting_copy(call))
		return add_work(stream, call);
	cover_stream(queue, stream, call->number, call->begin_ns, &result->cover);
	return 0;
}

static int record_event(struct timeline_queue *queue, const struct timeline_call *call)
{
	const struct queue_key key = key_of(call);
	const struct queued_stream *stream = TABLE_FIND(queue->streams, key, &key);
	struct recorded_event *event = take_event(queue, call->line);

	if (!event)
		return -ENOMEM;
	event->stream = key;
	event->number = call->number;
	event->capture = stream ? stream->capture : 0;
	return 0;
}

/* The streams that joined a capture leave it at its end. */
static void end_capture(struct timeline_queue *queue, uint64_t capture)
{
	for (struct queued_stream *stream = queue->streams; capture && stream;
	     stream = stream->hh.next)
		if (stream->capture == capture)
			stream->capture = 0;
}

static int change_capture(struct timeline_queue *queue, struct timeline_process *process,
			  const struct timeline_call *call)
{
	const struct queue_event_key key = event_of(call->line);
	const struct recorded_event *event = TABLE_FIND(queue->events, key, &key);
	struct queued_stream *stream = take_stream(queue, process, call);

	if (!stream)
		return -ENOMEM;
	switch ((enum capture_change)call->row->desc.kind) {
	case CAPTURE_BEGIN:
	case CAPTURE_BEGIN_TO: stream->capture = call->number; break;
	case CAPTURE_END: end_capture(queue, stream->capture); break;
	case CAPTURE_JOIN:
		if (event && event->capture)
			stream->capture = event->capture;
		break;
	default: break;
	}
	return 0;
}

int timeline_queue__take(struct timeline_queue *queue, struct timeline_process *process,
			 const struct timeline_call *call, struct queue_result *result)
{
	int ret = 0;

	*result = (struct queue_result){.cover.work = queue->covered};
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
	case OP_CAPTURE: ret = change_capture(queue, process, call); break;
	default: ret = submit(queue, process, call, result);
	}
	return ret;
}

void timeline_queue__lose(struct timeline_queue *queue)
{
	TABLE_CLEAR(queue->events, free);
	for (struct queued_stream *stream = queue->streams; stream; stream = stream->hh.next)
		stream->capture = 0;
}
