/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protobuf messages of any size (base/protobuf.h) in a buffer that grows.
 *
 * If memory runs out, `failed` is set and everything written later is dropped: it is enough to look
 * once, at the end.
 */
#ifndef BASE_PROTOBUF_BUFFER_H
#define BASE_PROTOBUF_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins as zeros. */
struct protobuf_buffer {
	char *data;
	size_t length, capacity;
	bool failed;
};

/* Releases the data; the buffer may be used again. */
void protobuf_buffer__free(struct protobuf_buffer *buffer);

/* Empties the buffer, and keeps its memory. */
void protobuf_buffer__clear(struct protobuf_buffer *buffer);

void protobuf_buffer__uint(struct protobuf_buffer *buffer, uint32_t field, uint64_t value);
void protobuf_buffer__fixed64(struct protobuf_buffer *buffer, uint32_t field, uint64_t value);
void protobuf_buffer__double(struct protobuf_buffer *buffer, uint32_t field, double value);
/* A text, or a message that was written elsewhere. */
void protobuf_buffer__bytes(struct protobuf_buffer *buffer, uint32_t field, const void *data,
			    size_t length);
void protobuf_buffer__text(struct protobuf_buffer *buffer, uint32_t field, const char *text);

/* Begins a message or a text; returns what protobuf_buffer__end takes. */
size_t protobuf_buffer__begin(struct protobuf_buffer *buffer, uint32_t field);
void protobuf_buffer__end(struct protobuf_buffer *buffer, size_t begin);

/* Appends bytes as they are: part of a text, or whole fields. */
void protobuf_buffer__append(struct protobuf_buffer *buffer, const void *data, size_t length);

#endif
