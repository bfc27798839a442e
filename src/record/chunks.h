/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the chunks of a recording's file (record/file.h), which may be cut, damaged or hostile.
 * Looking for the next chunk after damage reads each byte once.
 */
#ifndef RECORD_CHUNKS_H
#define RECORD_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/file.h"

/* Where a file is read; `window` are bytes of it that were read last. */
struct chunk_file {
	int fd;
	uint64_t size; /* when it was opened */
	uint64_t window_offset;
	size_t window_bytes;
	uint8_t window[64 << 10];
};

/* Reads up to `length` bytes at `offset`. Returns their number or a negative errno. */
int64_t chunk_file__read(const struct chunk_file *file, uint64_t offset, void *bytes,
			 size_t length);

/*
 * Finds the first chunk at or after *offset whose head is intact, and sets *offset to it. Its body
 * may be cut or damaged. Returns 1, 0 if there is none, or a negative errno.
 */
int chunk_file__find(struct chunk_file *file, uint64_t *offset, struct recording_chunk *chunk);

/* The end of the chunk at `offset`, not beyond that of the file. */
uint64_t chunk_file__end(const struct chunk_file *file, uint64_t offset,
			 const struct recording_chunk *chunk);

/* Memory for the body of one chunk; all zero at first, freed with chunk_body__clear. */
struct chunk_body {
	uint8_t *raw, *stored;
	size_t raw_room, stored_room;
	size_t length; /* of what is in `raw` */
};

/*
 * Reads and decompresses the body of the chunk at `offset`. Returns 1, 0 if it is cut or damaged,
 * or a negative errno.
 */
int chunk_body__read(struct chunk_body *body, const struct chunk_file *file, uint64_t offset,
		     const struct recording_chunk *chunk);
void chunk_body__clear(struct chunk_body *body);

#endif
