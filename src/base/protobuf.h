/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes protobuf's wire format (https://protobuf.dev/programming-guides/encoding) into a buffer.
 * Each function returns the end of what it wrote; the caller provides the room: PROTOBUF_FIELD_MAX
 * bytes for a field, besides the bytes of a text.
 */
#ifndef BASE_PROTOBUF_H
#define BASE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PROTOBUF_FIELD_MAX 24 /* a tag, a length and a number or fixed64 */

enum protobuf_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_LENGTH = 2, /* texts and messages */
};

static inline char *protobuf__varint(char *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (char)(value | 0x80);
	*at++ = (char)value;
	return at;
}

static inline char *protobuf__tag(char *at, uint32_t field, enum protobuf_type type)
{
	return protobuf__varint(at, field << 3 | type);
}

static inline char *protobuf__uint(char *at, uint32_t field, uint64_t value)
{
	return protobuf__varint(protobuf__tag(at, field, PROTOBUF_VARINT), value);
}

/* A fixed64 or double: its eight bytes. */
static inline char *protobuf__fixed64(char *at, uint32_t field, uint64_t value)
{
	at = protobuf__tag(at, field, PROTOBUF_FIXED64);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/*
 * Begins a text or message; returns where it begins. protobuf__end puts the length before it, for
 * which it may have to move it.
 */
static inline char *protobuf__begin(char *at, uint32_t field)
{
	return protobuf__tag(at, field, PROTOBUF_LENGTH) + 1;
}

static inline char *protobuf__end(char *begin, char *at)
{
	size_t length = (size_t)(at - begin);
	char bytes[10];
	size_t more = (size_t)(protobuf__varint(bytes, length) - bytes) - 1;

	if (more)
		memmove(begin + more, begin, length);
	memcpy(begin - 1, bytes, more + 1);
	return at + more;
}

#endif
