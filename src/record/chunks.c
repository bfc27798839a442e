// SPDX-License-Identifier: BSD-2-Clause
// Finds and reads the chunks of a recording's file, see chunks.h.
#include "record/chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

int64_t chunk_file__read(const struct chunk_file *file, uint64_t offset, void *bytes, size_t length)
{
	size_t done = 0;

	while (done < length) {
		ssize_t count = pread(file->fd, (uint8_t *)bytes + done, length - done,
				      (off_t)(offset + done));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (!count)
			break;
		done += (size_t)count;
	}
	return (int64_t)done;
}

/* Whether the bytes are the head of a chunk whose lengths are within the limits. */
static bool is_head(const uint8_t *bytes, struct recording_chunk *chunk)
{
	memcpy(chunk, bytes, sizeof(*chunk));
	if (chunk->magic != CHUNK_MAGIC ||
	    chunk->crc != (uint32_t)crc32_z(0, bytes, offsetof(struct recording_chunk, crc)))
		return false;
	return chunk->raw_bytes <= CHUNK_RAW_MAX && chunk->stored_bytes <= CHUNK_STORED_MAX;
}

/* Puts the file's bytes from `offset` on into the window. Returns how many there are. */
static int64_t fill_window(struct chunk_file *file, uint64_t offset)
{
	int64_t count = chunk_file__read(file, offset, file->window, sizeof(file->window));

	file->window_offset = offset;
	file->window_bytes = count < 0 ? 0 : (size_t)count;
	return count;
}

static bool has_head(const struct chunk_file *file, uint64_t offset)
{
	return offset >= file->window_offset &&
	       offset - file->window_offset <= file->window_bytes &&
	       file->window_bytes - (offset - file->window_offset) >=
		       sizeof(struct recording_chunk);
}

/* The next place in the window from `at` on where a chunk may begin; its end if there is none. */
static size_t next_magic(const struct chunk_file *file, size_t at)
{
	static const uint32_t magic = CHUNK_MAGIC;
	const uint8_t *found =
		memmem(file->window + at, file->window_bytes - at, &magic, sizeof(magic));

	return found ? (size_t)(found - file->window) : file->window_bytes;
}

int chunk_file__find(struct chunk_file *file, uint64_t *offset, struct recording_chunk *chunk)
{
	while (*offset + sizeof(*chunk) <= file->size) {
		size_t at;

		if (!has_head(file, *offset)) {
			int64_t count = fill_window(file, *offset);

			if (count < (int64_t)sizeof(*chunk))
				return count < 0 ? (int)count : 0;
		}
		at = (size_t)(*offset - file->window_offset);
		if (is_head(file->window + at, chunk))
			return 1;
		at = next_magic(file, at + 1);
		/* A magic number, or a part of it, may be at the window's end. */
		if (at + sizeof(*chunk) > file->window_bytes &&
		    at > file->window_bytes - (sizeof(uint32_t) - 1))
			at = file->window_bytes - (sizeof(uint32_t) - 1);
		*offset = file->window_offset + at;
	}
	return 0;
}

uint64_t chunk_file__end(const struct chunk_file *file, uint64_t offset,
			 const struct recording_chunk *chunk)
{
	uint64_t end = offset + sizeof(*chunk) + chunk->stored_bytes;

	return end < file->size ? end : file->size;
}

static int reserve(uint8_t **bytes, size_t *room, size_t length)
{
	uint8_t *grown;

	if (length <= *room)
		return 0;
	grown = realloc(*bytes, length);
	if (!grown)
		return -ENOMEM;
	*bytes = grown;
	*room = length;
	return 0;
}

/* Returns 1, or 0 if it does not decompress to exactly chunk->raw_bytes. */
static int inflate_body(struct chunk_body *body, const struct recording_chunk *chunk)
{
	unsigned long raw = chunk->raw_bytes, stored = chunk->stored_bytes;

	if (chunk->flags & CHUNK_STORED) {
		if (raw != stored)
			return 0;
		memcpy(body->raw, body->stored, raw);
	} else if (uncompress2(body->raw, &raw, body->stored, &stored) != Z_OK ||
		   raw != chunk->raw_bytes) {
		return 0;
	}
	body->length = raw;
	return 1;
}

int chunk_body__read(struct chunk_body *body, const struct chunk_file *file, uint64_t offset,
		     const struct recording_chunk *chunk)
{
	int64_t count;

	body->length = 0;
	/* Before memory is taken: the file must have what the head promises. */
	if (offset + sizeof(*chunk) + chunk->stored_bytes > file->size)
		return 0;
	if (reserve(&body->stored, &body->stored_room, chunk->stored_bytes + 1ul) ||
	    reserve(&body->raw, &body->raw_room, chunk->raw_bytes + 1ul))
		return -ENOMEM;
	count = chunk_file__read(file, offset + sizeof(*chunk), body->stored, chunk->stored_bytes);
	if (count < 0)
		return (int)count;
	if ((uint64_t)count < chunk->stored_bytes ||
	    chunk->body_crc != (uint32_t)crc32_z(0, body->stored, chunk->stored_bytes))
		return 0;
	return inflate_body(body, chunk);
}

void chunk_body__clear(struct chunk_body *body)
{
	free(body->raw);
	free(body->stored);
	memset(body, 0, sizeof(*body));
}
