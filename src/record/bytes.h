/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes of a record in the making: a buffer that grows. If memory runs out, `failed` is set and
 * nothing more is added, so that only the end must be checked.
 */
#ifndef RECORD_BYTES_H
#define RECORD_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/varint.h"

struct bytes {
	uint8_t *at; /* freed with free(3) */
	size_t length;
	size_t room; /* kept when the bytes are cleared: the next record is as long */
	bool failed;
};

static inline void bytes__clear(struct bytes *bytes)
{
	bytes->length = 0;
	bytes->failed = false;
}

/* Doubles the room until `more` bytes fit. Returns whether they do. */
static inline bool bytes__reserve(struct bytes *bytes, size_t more)
{
	size_t room = bytes->room ? bytes->room : 64;
	uint8_t *at;

	if (more > PTRDIFF_MAX - bytes->length)
		return false;
	while (room < bytes->length + more)
		room *= 2;
	at = realloc(bytes->at, room);
	if (!at)
		return false;
	bytes->at = at;
	bytes->room = room;
	return true;
}

static inline void bytes__add(struct bytes *bytes, const void *data, size_t length)
{
	if (bytes->failed ||
	    (length > bytes->room - bytes->length && !bytes__reserve(bytes, length))) {
		bytes->failed = true;
		return;
	}
	if (length)
		memcpy(bytes->at + bytes->length, data, length);
	bytes->length += length;
}

static inline void bytes__number(struct bytes *bytes, uint64_t value)
{
	uint8_t text[VARINT_MAX];

	bytes__add(bytes, text, (size_t)(varint__put(text, value) - text));
}

static inline void bytes__signed(struct bytes *bytes, int64_t value)
{
	uint8_t text[VARINT_MAX];

	bytes__add(bytes, text, (size_t)(varint__put_signed(text, value) - text));
}

/* Its length + 1 and its bytes; 0 for NULL. */
static inline void bytes__text(struct bytes *bytes, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	bytes__number(bytes, text ? length + 1 : 0);
	bytes__add(bytes, text, length);
}

#endif
