/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of variable length, seven bits a byte, the lowest first; the sign of a zigzag number is
 * its lowest bit. For records, which the writer trusts and the reader does not.
 */
#ifndef RECORD_VARINT_H
#define RECORD_VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VARINT_MAX 10 /* bytes */

/* Writes up to VARINT_MAX bytes at `at`, and returns their end. */
static inline uint8_t *varint__put(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline uint8_t *varint__put_signed(uint8_t *at, int64_t value)
{
	return varint__put(at, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

/* Bytes to read. After a read beyond the end `failed` is set, and every value is 0. */
struct varint_reader {
	const uint8_t *at, *end;
	bool failed;
};

static inline struct varint_reader varint_reader__of(const void *bytes, size_t length)
{
	return (struct varint_reader){.at = bytes, .end = (const uint8_t *)bytes + length};
}

static inline uint64_t varint__take(struct varint_reader *reader)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
		uint8_t byte = *reader->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	reader->failed = true;
	reader->at = reader->end;
	return 0;
}

static inline int64_t varint__take_signed(struct varint_reader *reader)
{
	uint64_t value = varint__take(reader);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Returns the next `length` bytes, valid as long as the reader's; NULL if there are fewer. */
static inline const uint8_t *varint__take_bytes(struct varint_reader *reader, uint64_t length)
{
	const uint8_t *bytes = reader->at;

	if (length > (uint64_t)(reader->end - reader->at)) {
		reader->failed = true;
		reader->at = reader->end;
		return NULL;
	}
	reader->at += length;
	return bytes;
}

#endif
