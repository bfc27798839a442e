// SPDX-License-Identifier: BSD-2-Clause
// Writes packets of a Perfetto file, see perfetto_packet.h.
#include "output/timeline/perfetto_packet.h"

#include <errno.h>
#include <stdlib.h>

#include "output/trace/text.h"

#define TRACE_PACKET 1

#define STATE_CLEARED 1 /* values of PACKET_SEQUENCE_FLAGS */
#define NEEDS_STATE 2
#define SEQUENCE 1

#define INTERNED_IID 1
#define INTERNED_TEXT 2

static const uint8_t interned_fields[INTERNED_KINDS] = {
	[INTERNED_CATEGORY] = 1,
	[INTERNED_EVENT_NAME] = 2,
	[INTERNED_ARGUMENT_NAME] = 3,
	[INTERNED_VALUE] = 29,
};

int perfetto_writer__init(struct perfetto_writer *writer, struct packed_file *file)
{
	*writer = (struct perfetto_writer){.file = file, .is_cleared = true};
	writer->interned = interned__new();
	return writer->interned ? 0 : -ENOMEM;
}

void perfetto_writer__clear(struct perfetto_writer *writer)
{
	interned__free(writer->interned);
	free(writer->defined);
}

char *perfetto_packet__write_head(char *at, size_t length)
{
	char inner[PACKED_HEAD_MAX], *end;

	end = protobuf__varint(protobuf__tag(inner, PACKET_COMPRESSED, PROTOBUF_LENGTH), length);
	at = protobuf__varint(protobuf__tag(at, TRACE_PACKET, PROTOBUF_LENGTH),
			      (size_t)(end - inner) + length);
	return trace_text__copy(at, inner, (size_t)(end - inner));
}

/* Room for the texts that a packet of this size may define. */
static bool make_room(struct perfetto_writer *writer, size_t room)
{
	if (room > writer->defined_size) {
		char *defined = realloc(writer->defined, room);

		if (!defined)
			return false;
		writer->defined = defined;
		writer->defined_size = room;
	}
	writer->defined_end = writer->defined;
	return true;
}

struct perfetto_packet perfetto_packet__begin(struct perfetto_writer *writer, size_t room)
{
	struct perfetto_packet packet = {0};
	uint32_t flags = NEEDS_STATE;

	if (!make_room(writer, room))
		return packet;
	packet.at = packed_file__room(writer->file, 2 * room + PACKET_ROOM);
	if (!packet.at)
		return packet;
	if (interned__make_room(writer->interned) || writer->is_cleared)
		flags |= STATE_CLEARED;
	packet.begin = protobuf__begin(packet.at, TRACE_PACKET);
	packet.at = protobuf__uint(packet.begin, PACKET_SEQUENCE_ID, SEQUENCE);
	packet.at = protobuf__uint(packet.at, PACKET_SEQUENCE_FLAGS, flags);
	if (writer->is_cleared)
		packet.at = protobuf__uint(packet.at, PACKET_FIRST_ON_SEQUENCE, 1);
	writer->is_cleared = false;
	return packet;
}

void perfetto_packet__end(struct perfetto_writer *writer, const struct perfetto_packet *packet)
{
	size_t length = (size_t)(writer->defined_end - writer->defined);
	char *at = packet->at;

	if (packet->event)
		at = protobuf__end(packet->event, at);
	if (length) {
		char *begin = protobuf__begin(at, PACKET_INTERNED_DATA);

		at = protobuf__end(begin, trace_text__copy(begin, writer->defined, length));
	}
	packed_file__commit(writer->file, protobuf__end(packet->begin, at));
}

uint32_t perfetto_writer__intern(struct perfetto_writer *writer, enum interned_kind kind,
				 const char *text)
{
	size_t length = strlen(text);
	bool is_new;
	uint32_t number = interned__take(writer->interned, kind, text, length, &is_new);
	char *entry, *begin, *at;

	if (!is_new)
		return number;
	entry = protobuf__begin(writer->defined_end, interned_fields[kind]);
	begin = protobuf__begin(protobuf__uint(entry, INTERNED_IID, number), INTERNED_TEXT);
	at = protobuf__end(begin, trace_text__escaped(begin, text, length, 0, false));
	writer->defined_end = protobuf__end(entry, at);
	return number;
}

struct perfetto_packet perfetto_packet__begin_event(struct perfetto_writer *writer, size_t room,
						    uint64_t time_ns, enum perfetto_event_type type,
						    uint32_t track, const char *category,
						    const char *name)
{
	struct perfetto_packet packet = perfetto_packet__begin(writer, room);

	if (!packet.at)
		return packet;
	packet.at = protobuf__uint(packet.at, PACKET_TIMESTAMP, time_ns);
	packet.event = protobuf__begin(packet.at, PACKET_TRACK_EVENT);
	packet.at = protobuf__uint(packet.event, EVENT_TYPE, type);
	packet.at = protobuf__uint(packet.at, EVENT_TRACK_UUID, writer->tracks + track);
	if (category)
		packet.at = protobuf__uint(
			packet.at, EVENT_CATEGORY_IIDS,
			perfetto_writer__intern(writer, INTERNED_CATEGORY, category));
	if (name)
		packet.at =
			protobuf__uint(packet.at, EVENT_NAME_IID,
				       perfetto_writer__intern(writer, INTERNED_EVENT_NAME, name));
	return packet;
}
