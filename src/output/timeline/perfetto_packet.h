/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of a Perfetto file: a Trace message, whose packets are in blocks compressed by zlib.
 * Texts are interned (interned.h), and escaped as on a terminal.
 *
 * The numbers of fields here and in perfetto.c are those of protos/perfetto/trace/ in
 * https://github.com/google/perfetto: trace_packet.proto, clock_snapshot.proto,
 * interned_data/interned_data.proto and track_event/ (track_event, track_descriptor,
 * process_descriptor, thread_descriptor, counter_descriptor, debug_annotation).
 * tests/integration/lib/perfetto.proto has them as a schema.
 */
#ifndef OUTPUT_TIMELINE_PERFETTO_PACKET_H
#define OUTPUT_TIMELINE_PERFETTO_PACKET_H

#include "base/protobuf.h"
#include "output/timeline/form.h"
#include "output/timeline/interned.h"

enum perfetto_packet_field {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_COMPRESSED = 50,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
};

enum perfetto_event_field {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_DEBUG_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK_UUID = 11,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW_IDS = 47,
	EVENT_TERMINATING_FLOW_IDS = 48,
};

enum perfetto_event_type {
	TYPE_SLICE_BEGIN = 1,
	TYPE_SLICE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
};

#define PACKET_ROOM 512 /* of a packet without texts */

struct perfetto_writer {
	struct packed_file *file; /* not the writer's */
	struct interned *interned;
	bool is_cleared; /* the next packet says that texts have new numbers */
	/* the texts that the packet defines, which is being written */
	char *defined, *defined_end;
	size_t defined_size;
	uint64_t tracks; /* the lowest id of a track */
};

/* A packet that is being written; `at` is NULL after an error. */
struct perfetto_packet {
	char *begin; /* of its content */
	char *event; /* of its TrackEvent's content, or NULL */
	char *at;
};

/* A packed_head_fn: a packet with compressed ones. */
char *perfetto_packet__write_head(char *at, size_t length);

/* Returns 0 or -ENOMEM. perfetto_writer__clear in any case. */
int perfetto_writer__init(struct perfetto_writer *writer, struct packed_file *file);
void perfetto_writer__clear(struct perfetto_writer *writer);

/* `room`: for the packet's texts, each escaped, besides PACKET_ROOM. */
struct perfetto_packet perfetto_packet__begin(struct perfetto_writer *writer, size_t room);
void perfetto_packet__end(struct perfetto_writer *writer, const struct perfetto_packet *packet);

/* Begins the packet of an event; `category` and `name` may be NULL. */
struct perfetto_packet perfetto_packet__begin_event(struct perfetto_writer *writer, size_t room,
						    uint64_t time_ns, enum perfetto_event_type type,
						    uint32_t track, const char *category,
						    const char *name);

/* The text's number, which the packet that is being written defines if it is new. */
uint32_t perfetto_writer__intern(struct perfetto_writer *writer, enum interned_kind kind,
				 const char *text);

#endif
