// SPDX-License-Identifier: BSD-2-Clause
// The work of GPUs in a trace of Kineto's, see trace_reader.h.
#include "kineto/trace_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "base/table.h"
#include "kineto/json_stream.h"

/* How many objects and arrays are around the members of these. */
#define IN_DOCUMENT 1
#define IN_EVENTS 2
#define IN_EVENT 3
#define IN_ARGS 4

#define NS_PER_US 1000
#define NUMBER_MAX (UINT64_MAX / 4) /* sums of three do not overflow */

enum member {
	MEMBER_OTHER = 0,
	MEMBER_CATEGORY,
	MEMBER_NAME,
	MEMBER_BEGIN,
	MEMBER_DURATION,
	MEMBER_ARGS,
	MEMBER_PID,
	MEMBER_DEVICE,
	MEMBER_BYTES,
	MEMBER_GRAPH_NODE,
};

struct event {
	char category[32];
	char name[GPU_TIMES_NAME_SIZE];
	bool has_begin, has_duration, has_device;
	uint64_t begin_ns, duration_ns;
	uint64_t device, bytes, graph_node;
};

struct known_name {
	uint64_t number;
	UT_hash_handle hh;
	char text[];
};

struct trace_reader {
	struct trace_reader_hooks hooks;
	struct json_stream stream;
	struct known_name *names; /* a table */
	size_t name_count;
	bool in_events;	    /* in the list of events */
	bool is_base;	    /* the next value of the document is base_ns */
	bool is_events;	    /* it is the list of events */
	enum member member; /* of the event, whose value comes next */
	enum member inner;  /* the same in `args` */
	uint64_t base_ns;   /* of all times; newer versions of Kineto write it */
	struct event event;
	struct trace_summary summary;
};

/* --- names --- */

/* 0: there is no room. */
static uint64_t number_of(struct trace_reader *reader, const char *text)
{
	size_t length = strlen(text);
	struct known_name *name;

	HASH_FIND(hh, reader->names, text, length, name);
	if (name)
		return name->number;
	if (reader->name_count == TRACE_READER_NAMES)
		return 0;
	name = malloc(sizeof(*name) + length + 1);
	if (!name)
		return 0;
	memcpy(name->text, text, length + 1);
	name->number = reader->name_count + 1;
	HASH_ADD_KEYPTR(hh, reader->names, name->text, length, name);
	if (!name->hh.tbl) {
		free(name);
		return 0;
	}
	reader->name_count++;
	reader->hooks.name(name->number, name->text, reader->hooks.arg);
	return name->number;
}

/* --- values --- */

/* A number without a sign, as far as it is whole. Returns whether it is one. */
static bool read_whole(const char **text, uint64_t *value)
{
	const char *at = *text;

	*value = 0;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (*value > NUMBER_MAX / 10)
			return false;
		*value = *value * 10 + (uint64_t)(*at - '0');
	}
	if (at == *text)
		return false;
	*text = at;
	return true;
}

static bool read_number(const char *text, uint64_t *value)
{
	return read_whole(&text, value) && !*text;
}

/*
 * Microseconds, with or without decimals, as nanoseconds. They are not read as a double, which has
 * too few digits for a time since 1970.
 */
static bool read_ns(const char *text, uint64_t *ns)
{
	uint64_t us, unit = NS_PER_US;

	if (!read_whole(&text, &us) || us > NUMBER_MAX / NS_PER_US)
		return false;
	*ns = us * NS_PER_US;
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++) {
			unit /= 10;
			*ns += unit * (uint64_t)(*text - '0');
		}
	return !*text;
}

/* --- events --- */

static bool is_one_of(const char *text, const char *word, const char *older)
{
	return !strcmp(text, word) || !strcmp(text, older);
}

/* The kind in "Memcpy HtoD (Pageable -> Device)". */
static unsigned int copy_kind(const char *name)
{
	static const char *const words[GPU_COPY_KINDS] = {
		[GPU_COPY_H2D] = "HtoD", [GPU_COPY_D2H] = "DtoH", [GPU_COPY_H2A] = "HtoA",
		[GPU_COPY_A2H] = "AtoH", [GPU_COPY_A2A] = "AtoA", [GPU_COPY_A2D] = "AtoD",
		[GPU_COPY_D2A] = "DtoA", [GPU_COPY_D2D] = "DtoD", [GPU_COPY_H2H] = "HtoH",
		[GPU_COPY_P2P] = "PtoP",
	};
	const char *at = strchr(name, ' ');

	for (unsigned int kind = 0; at && kind < GPU_COPY_KINDS; kind++)
		if (words[kind] && !strncmp(at + 1, words[kind], strlen(words[kind])))
			return kind;
	return GPU_COPY_UNKNOWN;
}

/* Sets the kind, and what depends on it. Returns false if it is no work of a GPU. */
static bool set_kind(struct trace_reader *reader, struct gpu_work *work)
{
	const struct event *event = &reader->event;

	if (is_one_of(event->category, "kernel", "Kernel")) {
		work->kind = event->graph_node ? GPU_WORK_GRAPH_KERNEL : GPU_WORK_KERNEL;
		work->name = number_of(reader, event->name);
	} else if (is_one_of(event->category, "gpu_memcpy", "Memcpy")) {
		work->kind = GPU_WORK_COPY;
		work->copy = (uint8_t)copy_kind(event->name);
	} else if (is_one_of(event->category, "gpu_memset", "Memset")) {
		work->kind = GPU_WORK_SET;
	} else {
		return false;
	}
	return true;
}

/* What holds a thread up because of CUPTI. Other overheads, such as loading code, are CUDA's. */
static bool is_profilers(const char *name)
{
	static const char *const names[] = {"Buffer Flush", "Instrumentation", "Resource",
					    "Activity Buffer Request"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void end_event(struct trace_reader *reader)
{
	const struct event *event = &reader->event;
	struct gpu_work work = {
		.device = event->has_device && event->device < UINT32_MAX ?
				  (uint32_t)event->device :
				  UINT32_MAX,
	};

	reader->summary.events++;
	if (is_one_of(event->category, "overhead", "Overhead") && is_profilers(event->name))
		saturate__add(&reader->summary.overhead_ns, event->duration_ns);
	if (!set_kind(reader, &work))
		return;
	if (work.kind != GPU_WORK_KERNEL && work.kind != GPU_WORK_GRAPH_KERNEL)
		work.bytes = event->bytes;
	if (event->has_begin && event->has_duration) {
		work.start_ns = reader->base_ns + event->begin_ns;
		work.end_ns = work.start_ns + event->duration_ns;
	}
	reader->hooks.work(&work, reader->hooks.arg);
}

/* --- tokens --- */

struct member_name {
	const char *name;
	enum member member;
};

static enum member find(const struct member_name *members, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(name, members[i].name))
			return members[i].member;
	return MEMBER_OTHER;
}

static void take_key(struct trace_reader *reader, unsigned int depth, const char *key)
{
	static const struct member_name members[] = {
		{"cat", MEMBER_CATEGORY}, {"name", MEMBER_NAME}, {"ts", MEMBER_BEGIN},
		{"dur", MEMBER_DURATION}, {"args", MEMBER_ARGS}, {"pid", MEMBER_PID},
	};
	static const struct member_name inner[] = {
		{"device", MEMBER_DEVICE},
		{"bytes", MEMBER_BYTES},
		{"graph node id", MEMBER_GRAPH_NODE},
	};

	if (depth == IN_DOCUMENT) {
		reader->is_base = !strcmp(key, "baseTimeNanoseconds");
		reader->is_events = !strcmp(key, "traceEvents");
	} else if (reader->in_events && depth == IN_EVENT) {
		reader->member = find(members, sizeof(members) / sizeof(*members), key);
	} else if (reader->in_events && depth == IN_ARGS) {
		reader->inner = reader->member == MEMBER_ARGS ?
					find(inner, sizeof(inner) / sizeof(*inner), key) :
					MEMBER_OTHER;
	}
}

static void take_string(struct trace_reader *reader, unsigned int depth, const char *text)
{
	struct event *event = &reader->event;

	if (!reader->in_events || depth != IN_EVENT)
		return;
	if (reader->member == MEMBER_NAME)
		memcpy(event->name, text, strlen(text) + 1);
	else if (reader->member == MEMBER_CATEGORY && strlen(text) < sizeof(event->category))
		memcpy(event->category, text, strlen(text) + 1);
}

static void take_event_number(struct event *event, enum member member, const char *text)
{
	switch (member) {
	case MEMBER_BEGIN: event->has_begin = read_ns(text, &event->begin_ns); break;
	case MEMBER_DURATION: event->has_duration = read_ns(text, &event->duration_ns); break;
	/* Traces of old versions have the device only there. */
	case MEMBER_PID:
		if (!event->has_device)
			event->has_device = read_number(text, &event->device);
		break;
	default: break;
	}
}

static void take_inner_number(struct event *event, enum member member, const char *text)
{
	uint64_t number;

	if (!read_number(text, &number))
		return;
	if (member == MEMBER_DEVICE) {
		event->device = number;
		event->has_device = true;
	} else if (member == MEMBER_BYTES) {
		event->bytes = number;
	} else if (member == MEMBER_GRAPH_NODE) {
		event->graph_node = number;
	}
}

static void take_bare(struct trace_reader *reader, unsigned int depth, const char *text)
{
	if (depth == IN_DOCUMENT && reader->is_base)
		read_number(text, &reader->base_ns);
	else if (reader->in_events && depth == IN_EVENT)
		take_event_number(&reader->event, reader->member, text);
	else if (reader->in_events && depth == IN_ARGS)
		take_inner_number(&reader->event, reader->inner, text);
}

static void take_container(struct trace_reader *reader, const struct json_token *token)
{
	if (token->kind == JSON_TOKEN_ARRAY && token->depth == IN_DOCUMENT) {
		reader->in_events = reader->is_events;
		reader->summary.has_events |= reader->is_events;
	} else if (token->kind == JSON_TOKEN_ARRAY_END && token->depth == IN_DOCUMENT) {
		reader->in_events = false;
	} else if (reader->in_events && token->depth == IN_EVENTS) {
		if (token->kind == JSON_TOKEN_OBJECT)
			memset(&reader->event, 0, sizeof(reader->event));
		else if (token->kind == JSON_TOKEN_OBJECT_END)
			end_event(reader);
	}
}

static void take(const struct json_token *token, void *arg)
{
	struct trace_reader *reader = arg;

	switch (token->kind) {
	case JSON_TOKEN_KEY: take_key(reader, token->depth, token->text); break;
	case JSON_TOKEN_STRING: take_string(reader, token->depth, token->text); break;
	case JSON_TOKEN_BARE: take_bare(reader, token->depth, token->text); break;
	default: take_container(reader, token); break;
	}
}

/* --- the reader --- */

struct trace_reader *trace_reader__new(const struct trace_reader_hooks *hooks)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));

	_Static_assert(JSON_STREAM_TEXT <= GPU_TIMES_NAME_SIZE, "a name fits");
	if (reader)
		reader->hooks = *hooks;
	return reader;
}

void trace_reader__free(struct trace_reader *reader)
{
	if (!reader)
		return;
	TABLE_CLEAR(reader->names, free);
	free(reader);
}

int trace_reader__push(struct trace_reader *reader, const char *bytes, size_t size)
{
	return json_stream__push(&reader->stream, bytes, size, take, reader);
}

struct trace_summary trace_reader__summary(const struct trace_reader *reader)
{
	struct trace_summary summary = reader->summary;

	summary.whole = json_stream__is_whole(&reader->stream);
	summary.offset = reader->stream.offset;
	return summary;
}
