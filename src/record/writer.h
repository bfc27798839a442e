/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the file of a recording (record/file.h) by appending chunks. Memory: one chunk before and
 * after compression, and an index of bounded size.
 */
#ifndef RECORD_WRITER_H
#define RECORD_WRITER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/file.h"

struct chunk_ring;
struct recording_writer;

/* The file has max_bytes. It is no error of write(2), unlike EFBIG. */
#define RECORDING_FULL (-ENOBUFS)

struct recording_options {
	uint64_t max_bytes; /* of the file; 0: no limit */
	int compression;    /* zlib's level, 1 to 9; 0: a quick one */
	/* chunks go into it, not into a file: `fd` is -1; it outlives the writer. NULL: none */
	struct chunk_ring *ring;
};

/*
 * Fills in the header's facts about this machine and this gpuprobe: clocks, host, kernel, versions.
 * Leaves level, flags and options, which the caller sets before; with RECORDING_ANONYMOUS `host`
 * and `boot_id` stay empty.
 */
void recording_header__fill(struct recording_header *header);

/*
 * Takes `fd` over, also on failure, and writes the header to it. The file is empty, or a pipe. With
 * a ring a chunk that it refuses is dropped (-ENOMEM, -E2BIG), and so are those up to the next
 * keyframe (-EAGAIN), but later ones are not.
 * Returns 0 or a negative errno with a message.
 */
int recording_writer__new(int fd, const struct recording_header *header,
			  const struct recording_options *options, struct recording_writer **out,
			  struct error *err);

/*
 * Adds a record of at most RECORDED_MAX bytes to the current chunk. `time_ns` is CLOCK_BOOTTIME.
 * Ends the chunk first if it has CHUNK_TARGET bytes; recording_writer__bytes tells beforehand.
 * Returns 0, -E2BIG for a longer record, or as recording_writer__end_chunk.
 */
int recording_writer__add(struct recording_writer *writer, enum recorded_kind kind,
			  uint64_t time_ns, const void *bytes, size_t length);

/*
 * Says that the current chunk, which must be empty, is a keyframe: a reader may begin here, because
 * no record from here on refers to an earlier one.
 */
void recording_writer__keyframe(struct recording_writer *writer);

/*
 * Writes the current chunk, if it has records: then nothing of it can be lost to SIGKILL. The file
 * is not synchronised to disk. Returns 0 or a negative errno, which all later calls return as well:
 * RECORDING_FULL if the chunk would exceed max_bytes, or why writing failed. The records of that
 * chunk are dropped then, see recording_writer__dropped.
 */
int recording_writer__end_chunk(struct recording_writer *writer);

/*
 * Lets a last small chunk, of up to 4 KiB, use the room of max_bytes that is kept for it. After
 * RECORDING_FULL records can be added again.
 */
void recording_writer__use_reserve(struct recording_writer *writer);

/*
 * Appends a chunk of a ring, with the number that it has in this file. Returns as
 * recording_writer__end_chunk; without a current chunk.
 */
int recording_writer__append(struct recording_writer *writer, const struct recording_chunk *chunk,
			     const uint8_t *body);

/* Bytes of the current chunk, before compression. A chunk is full with CHUNK_TARGET of them. */
size_t recording_writer__bytes(const struct recording_writer *writer);

/* Bytes of the file or the ring, without the current chunk. */
uint64_t recording_writer__size(const struct recording_writer *writer);

/* Number of records that were dropped because of an error. */
uint64_t recording_writer__dropped(const struct recording_writer *writer);

/*
 * Writes the current chunk and the index. Also after an error, RECORDING_FULL for example, if there
 * is room. Returns 0, or a negative errno with a message if the file lacks something because
 * writing failed; RECORDING_FULL is not such a failure.
 */
int recording_writer__close(struct recording_writer *writer, struct error *err);
void recording_writer__free(struct recording_writer *writer); /* closes fd; NULL is fine */

#endif
