/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests: events as the BPF programs make them, and fields as text. Include after cmocka.h. */
#ifndef TRACE_EVENT_BUILDER_H
#define TRACE_EVENT_BUILDER_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "trace/function.h"

#define EVENT_MAX 8192

struct event_builder {
	union {
		struct trace_event event;
		uint8_t bytes[EVENT_MAX];
	};
	size_t size;
};

static inline void event__begin(struct event_builder *b, const struct trace_plan *plan,
				uint32_t row, enum trace_record_type type, int32_t result)
{
	memset(b, 0, sizeof(*b));
	b->event = (struct trace_event){
		.type = type,
		.row = (uint16_t)row,
		.words = plan->words,
		.result = result,
	};
	b->size = sizeof(b->event);
}

static inline void event__bytes(struct event_builder *b, const void *data, size_t size)
{
	assert_true(b->size + size <= sizeof(b->bytes));
	if (size)
		memcpy(b->bytes + b->size, data, size);
	b->size += size;
}

static inline void event__block(struct event_builder *b, const void *data, uint16_t length)
{
	event__bytes(b, &length, sizeof(length));
	if (length != TRACE_UNREADABLE)
		event__bytes(b, data, length);
}

static inline size_t field__value(const struct trace_field *field, char *out, size_t size)
{
	size_t at = 0;
	uint64_t word;
	uint32_t i;

	switch (field->form) {
	case FORM_UNSIGNED: return (size_t)snprintf(out, size, "%" PRIu64, field->number);
	case FORM_SIGNED: return (size_t)snprintf(out, size, "%" PRId64, (int64_t)field->number);
	case FORM_ADDRESS: return (size_t)snprintf(out, size, "0x%" PRIx64, field->number);
	case FORM_FLAGS: return (size_t)snprintf(out, size, "0x%" PRIx64, field->number);
	case FORM_REAL: return (size_t)snprintf(out, size, "%g", field->real);
	case FORM_WORD: return (size_t)snprintf(out, size, "%s", field->text);
	case FORM_TEXT:
		return (size_t)snprintf(out, size, "\"%.*s\"%s", (int)field->length, field->text,
					field->cut ? "..." : "");
	case FORM_DIM3:
		return (size_t)snprintf(out, size, "(%u,%u,%u)", field->dims[0], field->dims[1],
					field->dims[2]);
	case FORM_BYTES:
		for (i = 0; i < field->length; i++)
			at += (size_t)snprintf(out + at, size - at, "%02x",
					       (uint8_t)field->text[i]);
		return at;
	case FORM_WORDS:
		for (i = 0; i < field->length; i++) {
			memcpy(&word, (const uint8_t *)field->words + i * 8u, sizeof(word));
			at += (size_t)snprintf(out + at, size - at, "%s0x%" PRIx64, i ? "," : "",
					       word);
		}
		return at;
	case FORM_UNREADABLE:
		return (size_t)snprintf(out, size, "<unreadable 0x%" PRIx64 ">", field->number);
	case FORM_UNKNOWN: return (size_t)snprintf(out, size, "?");
	}
	fail_msg("form %u", field->form);
	return 0;
}

/* "size=1048576 ptr=0x7f8b00000000" */
static inline void line__text(const struct trace_line *line, char *out, size_t size)
{
	size_t at = 0, i;

	*out = '\0';
	for (i = 0; i < line->field_count; i++) {
		at += (size_t)snprintf(out + at, size - at, "%s%s=", i ? " " : "",
				       line->fields[i].name);
		at += field__value(&line->fields[i], out + at, size - at);
		assert_true(at < size);
	}
}

#endif
