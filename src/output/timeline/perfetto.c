// SPDX-License-Identifier: BSD-2-Clause
// Timelines for Perfetto, see form.h: what its packets say. perfetto_packet.h has the sources of
// the numbers.
#include "output/timeline/perfetto_packet.h"

#include <stdlib.h>

#include "base/hash.h"
#include "output/timeline/arguments.h"
#include "output/timeline/gpu_slice.h"
#include "output/trace/field.h"
#include "output/trace/text.h"
#include "trace/function.h"

enum clock_field {
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
};

#define REALTIME 1
#define BOOTTIME 6 /* also the clock of packets that name none */

enum track_field {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS_DESCRIPTOR = 3, /* pid 1, process_name 6 */
	TRACK_THREAD_DESCRIPTOR = 4,  /* pid 1, tid 2, thread_name 5 */
	TRACK_PARENT_UUID = 5,
	TRACK_COUNTER = 8, /* unit 3 */
	TRACK_SIBLING_MERGE = 15,
};

#define UNIT_COUNT 2
#define UNIT_BYTES 3
#define MERGE_NONE 2 /* streams of two processes may have one name */

enum annotation_field {
	ANNOTATION_NAME_IID = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_STRING_IID = 17,
};

struct perfetto {
	struct timeline_form form; /* must be first */
	struct perfetto_writer writer;
	uint64_t flows;	    /* the lowest id of an arrow */
	uint64_t gpu_flows; /* the same of arrows to work of GPUs */
};

static struct perfetto *of_form(struct timeline_form *form)
{
	return (struct perfetto *)form;
}

/* --- arguments --- */

/* The arguments of an event are being written. */
struct arguments {
	struct perfetto *perfetto;
	struct perfetto_packet *packet;
};

static char *begin_argument(const struct arguments *args, const char *name)
{
	struct perfetto_writer *writer = &args->perfetto->writer;
	char *begin = protobuf__begin(args->packet->at, EVENT_DEBUG_ANNOTATIONS);

	args->packet->at =
		protobuf__uint(begin, ANNOTATION_NAME_IID,
			       perfetto_writer__intern(writer, INTERNED_ARGUMENT_NAME, name));
	return begin;
}

static char *write_word(const struct arguments *args, const char *text, char *at)
{
	return protobuf__uint(
		at, ANNOTATION_STRING_IID,
		perfetto_writer__intern(&args->perfetto->writer, INTERNED_VALUE, text));
}

static void add_number(void *to, const char *name, uint64_t value)
{
	const struct arguments *args = to;
	char *begin = begin_argument(args, name);

	args->packet->at =
		protobuf__end(begin, protobuf__uint(args->packet->at, ANNOTATION_UINT, value));
}

static void add_text(void *to, const char *name, const char *text)
{
	const struct arguments *args = to;
	char *begin = begin_argument(args, name);

	args->packet->at = protobuf__end(begin, write_word(args, text, args->packet->at));
}

static char *write_value(const struct arguments *args, const struct trace_field *field, char *at)
{
	uint64_t bits;
	char *begin;

	switch ((enum trace_form)field->form) {
	case FORM_UNSIGNED: return protobuf__uint(at, ANNOTATION_UINT, field->number);
	case FORM_SIGNED: return protobuf__uint(at, ANNOTATION_INT, field->number);
	case FORM_ADDRESS:
	case FORM_FLAGS: return protobuf__uint(at, ANNOTATION_POINTER, field->number);
	case FORM_REAL:
		memcpy(&bits, &field->real, sizeof(bits));
		return protobuf__fixed64(at, ANNOTATION_DOUBLE, bits);
	case FORM_WORD: return write_word(args, field->text, at);
	default:
		begin = protobuf__begin(at, ANNOTATION_STRING);
		return protobuf__end(begin, trace_field__text(field, false, begin));
	}
}

static void add_field(void *to, const struct trace_field *field)
{
	const struct arguments *args = to;
	char *begin = begin_argument(args, field->name);

	args->packet->at = protobuf__end(begin, write_value(args, field, args->packet->at));
}

static const struct argument_writer argument_writer = {add_number, add_text, add_field};

static void write_call(struct perfetto *perfetto, const struct timeline_call *call,
		       struct perfetto_packet *packet)
{
	struct arguments args = {perfetto, packet};

	timeline_call__write(call, &argument_writer, &args);
	for (size_t i = 0; i < call->cover.count && call->part != PART_BEGIN; i++)
		packet->at = protobuf__fixed64(packet->at, EVENT_TERMINATING_FLOW_IDS,
					       perfetto->flows + call->cover.work[i].number);
}

/* --- the parts --- */

static void write_name(uint32_t field, const char *name, struct perfetto_packet *packet)
{
	char *begin = protobuf__begin(packet->at, field);

	if (*name)
		packet->at = protobuf__end(
			begin, trace_text__escaped(begin, name, strlen(name), 0, false));
}

static void write_process(const struct timeline_track *track, struct perfetto_packet *packet)
{
	char *begin = protobuf__begin(packet->at, TRACK_PROCESS_DESCRIPTOR);

	packet->at = protobuf__uint(begin, 1, (uint64_t)track->pid);
	write_name(6, track->name, packet);
	packet->at = protobuf__end(begin, packet->at);
}

static void write_thread(const struct timeline_track *track, struct perfetto_packet *packet)
{
	char *begin = protobuf__begin(packet->at, TRACK_THREAD_DESCRIPTOR);

	packet->at = protobuf__uint(begin, 1, (uint64_t)track->pid);
	packet->at = protobuf__uint(packet->at, 2, (uint64_t)track->tid);
	write_name(5, track->name, packet);
	packet->at = protobuf__end(begin, packet->at);
}

static void write_counter(struct perfetto_packet *packet, uint64_t unit)
{
	char *begin = protobuf__begin(packet->at, TRACK_COUNTER);

	packet->at = protobuf__end(begin, protobuf__uint(begin, 3, unit));
}

static void add_track(struct timeline_form *form, const struct timeline_track *track)
{
	struct perfetto *perfetto = of_form(form);
	struct perfetto_packet packet = perfetto_packet__begin(
		&perfetto->writer, sizeof(track->name) * TRACE_TEXT_EXPANSION);
	char *begin;

	if (!packet.at)
		return;
	begin = protobuf__begin(packet.at, PACKET_TRACK_DESCRIPTOR);
	packet.at = protobuf__uint(begin, TRACK_UUID, perfetto->writer.tracks + track->number);
	if (track->parent)
		packet.at = protobuf__uint(packet.at, TRACK_PARENT_UUID,
					   perfetto->writer.tracks + track->parent);
	if (track->kind == TRACK_PROCESS) {
		write_process(track, &packet);
	} else if (track->kind == TRACK_THREAD) {
		write_thread(track, &packet);
	} else {
		write_name(TRACK_NAME, track->name, &packet);
		packet.at = protobuf__uint(packet.at, TRACK_SIBLING_MERGE, MERGE_NONE);
	}
	if (track->kind == TRACK_BYTES)
		write_counter(&packet, UNIT_BYTES);
	else if (track->kind == TRACK_QUEUED)
		write_counter(&packet, UNIT_COUNT);
	packet.at = protobuf__end(begin, packet.at);
	perfetto_packet__end(&perfetto->writer, &packet);
}

static size_t room_of(const struct timeline_call *call)
{
	return (call->line ? timeline_call__room(call) : 0) + PACKET_ROOM +
	       call->cover.count * PROTOBUF_FIELD_MAX;
}

static void write_begin(struct perfetto *perfetto, const struct timeline_call *call)
{
	struct perfetto_packet packet = perfetto_packet__begin_event(
		&perfetto->writer, room_of(call), call->begin_ns, TYPE_SLICE_BEGIN,
		call->thread->number, timeline_call__family(call),
		trace_function__symbol(call->line->function));

	if (!packet.at)
		return;
	write_call(perfetto, call, &packet);
	if (call->queues)
		packet.at = protobuf__fixed64(packet.at, EVENT_FLOW_IDS,
					      perfetto->flows + call->number);
	if (call->submits)
		packet.at = protobuf__fixed64(packet.at, EVENT_FLOW_IDS,
					      perfetto->gpu_flows + call->number);
	perfetto_packet__end(&perfetto->writer, &packet);
}

/* An end has no id: it ends the last slice of its track that is open at that time. */
static void write_end(struct perfetto *perfetto, const struct timeline_call *call)
{
	struct perfetto_packet packet =
		perfetto_packet__begin_event(&perfetto->writer, room_of(call), call->end_ns,
					     TYPE_SLICE_END, call->thread->number, NULL, NULL);

	if (!packet.at)
		return;
	if (call->part == PART_END)
		write_call(perfetto, call, &packet);
	perfetto_packet__end(&perfetto->writer, &packet);
}

static void add_call(struct timeline_form *form, const struct timeline_call *call)
{
	if (call->part != PART_END)
		write_begin(of_form(form), call);
	if (call->part != PART_BEGIN)
		write_end(of_form(form), call);
}

static void add_mark(struct timeline_form *form, const struct timeline_mark *mark)
{
	struct perfetto *perfetto = of_form(form);
	struct perfetto_packet packet = perfetto_packet__begin_event(
		&perfetto->writer,
		PACKET_ROOM + timeline_mark__room(mark) + mark->order_count * PROTOBUF_FIELD_MAX,
		mark->time_ns, TYPE_INSTANT, mark->track->number, mark->category, mark->name);

	if (!packet.at)
		return;
	timeline_mark__write(mark, &argument_writer, &(struct arguments){perfetto, &packet});
	if (mark->arrow)
		packet.at =
			protobuf__fixed64(packet.at, EVENT_FLOW_IDS, perfetto->flows + mark->arrow);
	for (size_t i = 0; i < mark->order_count; i++)
		packet.at = protobuf__fixed64(packet.at, EVENT_TERMINATING_FLOW_IDS,
					      perfetto->flows + mark->orders[i].number);
	perfetto_packet__end(&perfetto->writer, &packet);
}

static void add_value(struct timeline_form *form, const struct timeline_value *value)
{
	struct perfetto *perfetto = of_form(form);
	struct perfetto_packet packet =
		perfetto_packet__begin_event(&perfetto->writer, 0, value->time_ns, TYPE_COUNTER,
					     value->track->number, NULL, NULL);

	if (!packet.at)
		return;
	packet.at = protobuf__uint(packet.at, EVENT_COUNTER_VALUE, value->amount);
	perfetto_packet__end(&perfetto->writer, &packet);
}

/* A slice: its beginning and its end. */
static void add_span(struct timeline_form *form, const struct timeline_span *span)
{
	struct perfetto *perfetto = of_form(form);
	struct perfetto_packet packet = perfetto_packet__begin_event(
		&perfetto->writer, PACKET_ROOM + timeline_span__room(span), span->begin_ns,
		TYPE_SLICE_BEGIN, span->track->number, span->category, span->name);
	struct arguments args = {perfetto, &packet};

	if (!packet.at)
		return;
	timeline_span__write(span, &argument_writer, &args);
	perfetto_packet__end(&perfetto->writer, &packet);
	packet = perfetto_packet__begin_event(&perfetto->writer, 0, span->end_ns, TYPE_SLICE_END,
					      span->track->number, NULL, NULL);
	if (packet.at)
		perfetto_packet__end(&perfetto->writer, &packet);
}

static void write_gpu_begin(struct perfetto *perfetto, const struct timeline_gpu_slice *slice)
{
	struct perfetto_packet packet = perfetto_packet__begin_event(
		&perfetto->writer, PACKET_ROOM + timeline_gpu_slice__room(slice), slice->begin_ns,
		TYPE_SLICE_BEGIN, slice->track->number, timeline_gpu_slice__category(slice),
		timeline_gpu_slice__name(slice));

	if (!packet.at)
		return;
	timeline_gpu_slice__write(slice, &argument_writer, &(struct arguments){perfetto, &packet});
	if (slice->number)
		packet.at = protobuf__fixed64(packet.at, EVENT_FLOW_IDS,
					      perfetto->gpu_flows + slice->number);
	perfetto_packet__end(&perfetto->writer, &packet);
}

static void add_gpu(struct timeline_form *form, const struct timeline_gpu_slice *slice)
{
	struct perfetto *perfetto = of_form(form);
	struct perfetto_packet packet;

	write_gpu_begin(perfetto, slice);
	packet = perfetto_packet__begin_event(&perfetto->writer, 0, slice->end_ns, TYPE_SLICE_END,
					      slice->track->number, NULL, NULL);
	if (packet.at)
		perfetto_packet__end(&perfetto->writer, &packet);
}

static void finish(struct timeline_form *form)
{
	(void)form; /* a Trace message has no end */
}

static void perfetto_form__free(struct timeline_form *form)
{
	struct perfetto *perfetto = of_form(form);

	packed_file__free(perfetto->form.file);
	perfetto_writer__clear(&perfetto->writer);
	free(perfetto);
}

/* --- the beginning --- */

static char *write_clock(uint32_t clock, uint64_t time_ns, char *at)
{
	char *begin = protobuf__begin(at, SNAPSHOT_CLOCKS);

	at = protobuf__uint(begin, CLOCK_ID, clock);
	return protobuf__end(begin, protobuf__uint(at, CLOCK_TIMESTAMP, time_ns));
}

/* Says what time of day it was. */
static void write_clocks(struct perfetto *perfetto, const struct timeline_options *options)
{
	struct perfetto_packet packet = perfetto_packet__begin(&perfetto->writer, PACKET_ROOM);
	char *begin;

	if (!packet.at)
		return;
	packet.at = protobuf__uint(packet.at, PACKET_TIMESTAMP, options->begin_ns);
	begin = protobuf__begin(packet.at, PACKET_CLOCK_SNAPSHOT);
	packet.at = write_clock(BOOTTIME, options->begin_ns, begin);
	packet.at = write_clock(REALTIME, options->begin_ns + (uint64_t)options->wall_offset_ns,
				packet.at);
	packet.at = protobuf__end(begin, protobuf__uint(packet.at, SNAPSHOT_PRIMARY, BOOTTIME));
	perfetto_packet__end(&perfetto->writer, &packet);
}

/*
 * Ids are unique in a file; files of several ranks may be opened together, so their ids should
 * differ as well. Ids of tracks are short, because each event has one.
 */
static void choose_ids(struct perfetto *perfetto, const struct timeline_options *options)
{
	const char *host = options->host ? options->host : "";
	uint64_t hash = hash__of(&options->begin_ns, sizeof(options->begin_ns)) ^
			hash__of(host, strlen(host));

	perfetto->writer.tracks = ((hash & 0xffff) + 1) << 32;
	perfetto->flows = hash << 32;
	perfetto->gpu_flows = perfetto->flows ^ 1ull << 63;
}

struct timeline_form *perfetto_form__new(int fd, const struct timeline_options *options)
{
	static const struct timeline_form_ops ops = {
		.track = add_track,
		.call = add_call,
		.mark = add_mark,
		.value = add_value,
		.span = add_span,
		.gpu = add_gpu,
		.finish = finish,
		.free = perfetto_form__free,
	};
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));

	if (!perfetto)
		return NULL;
	perfetto->form.ops = &ops;
	perfetto->form.file = packed_file__new(fd, PACKED_BLOCKS, perfetto_packet__write_head);
	if (perfetto_writer__init(&perfetto->writer, perfetto->form.file) || !perfetto->form.file) {
		perfetto_form__free(&perfetto->form);
		return NULL;
	}
	choose_ids(perfetto, options);
	write_clocks(perfetto, options);
	return &perfetto->form;
}
