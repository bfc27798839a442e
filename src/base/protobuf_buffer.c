// SPDX-License-Identifier: BSD-2-Clause
// Protobuf messages in a buffer that grows, see protobuf_buffer.h.
#include "base/protobuf_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/protobuf.h"

#define FIRST_CAPACITY 4096

void protobuf_buffer__free(struct protobuf_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct protobuf_buffer){0};
}

void protobuf_buffer__clear(struct protobuf_buffer *buffer)
{
	buffer->length = 0;
	buffer->failed = false;
}

/* Where `more` bytes have room; NULL: there is no memory. */
static char *room(struct protobuf_buffer *buffer, size_t more)
{
	size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
	char *data;

	if (buffer->failed)
		return NULL;
	if (buffer->capacity - buffer->length >= more)
		return buffer->data + buffer->length;
	while (capacity - buffer->length < more)
		capacity *= 2;
	data = realloc(buffer->data, capacity);
	if (!data) {
		buffer->failed = true;
		return NULL;
	}
	buffer->data = data;
	buffer->capacity = capacity;
	return data + buffer->length;
}

static void take(struct protobuf_buffer *buffer, const char *end)
{
	buffer->length = (size_t)(end - buffer->data);
}

void protobuf_buffer__uint(struct protobuf_buffer *buffer, uint32_t field, uint64_t value)
{
	char *at = room(buffer, PROTOBUF_FIELD_MAX);

	if (at)
		take(buffer, protobuf__uint(at, field, value));
}

void protobuf_buffer__fixed64(struct protobuf_buffer *buffer, uint32_t field, uint64_t value)
{
	char *at = room(buffer, PROTOBUF_FIELD_MAX);

	if (at)
		take(buffer, protobuf__fixed64(at, field, value));
}

void protobuf_buffer__double(struct protobuf_buffer *buffer, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_buffer__fixed64(buffer, field, bits);
}

void protobuf_buffer__append(struct protobuf_buffer *buffer, const void *data, size_t length)
{
	char *at = room(buffer, length);

	if (!at || !length)
		return;
	memcpy(at, data, length);
	take(buffer, at + length);
}

void protobuf_buffer__bytes(struct protobuf_buffer *buffer, uint32_t field, const void *data,
			    size_t length)
{
	char *at = room(buffer, PROTOBUF_FIELD_MAX);

	if (!at)
		return;
	take(buffer, protobuf__varint(protobuf__tag(at, field, PROTOBUF_LENGTH), length));
	protobuf_buffer__append(buffer, data, length);
}

void protobuf_buffer__text(struct protobuf_buffer *buffer, uint32_t field, const char *text)
{
	protobuf_buffer__bytes(buffer, field, text, strlen(text));
}

size_t protobuf_buffer__begin(struct protobuf_buffer *buffer, uint32_t field)
{
	char *at = room(buffer, PROTOBUF_FIELD_MAX);

	if (at)
		take(buffer, protobuf__begin(at, field));
	return buffer->length;
}

void protobuf_buffer__end(struct protobuf_buffer *buffer, size_t begin)
{
	/* The length before the message may get longer. */
	if (room(buffer, PROTOBUF_FIELD_MAX))
		take(buffer, protobuf__end(buffer->data + begin, buffer->data + buffer->length));
}
