/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that may be compressed while it is written: by gzip as a whole, or in blocks that stand
 * for themselves, so that a file that was cut is readable up to its last block.
 */
#ifndef OUTPUT_TIMELINE_PACKED_FILE_H
#define OUTPUT_TIMELINE_PACKED_FILE_H

#include <stddef.h>
#include <stdint.h>

struct packed_file;

enum packed_form {
	PACKED_NOT = 0,
	PACKED_GZIP,
	PACKED_BLOCKS, /* each is what `head` writes, then a zlib stream */
};

/*
 * Writes what comes before a compressed block of `length` bytes to `at`, at most PACKED_HEAD_MAX
 * bytes. Returns the end.
 */
#define PACKED_HEAD_MAX 32
typedef char *packed_head_fn(char *at, size_t length);

/*
 * `head` is for PACKED_BLOCKS. The caller keeps ownership of `fd`. Returns NULL if out of memory.
 */
struct packed_file *packed_file__new(int fd, enum packed_form form, packed_head_fn *head);
void packed_file__free(struct packed_file *file); /* drops what is not written; NULL is fine */

/* While `fd` is readable, the file does not wait for a stalled reader; -1: it always waits. */
void packed_file__stop_by(struct packed_file *file, int fd);

/*
 * Room for `size` bytes. NULL after an error. A block ends between two rooms, so what must not be
 * divided takes one.
 */
char *packed_file__room(struct packed_file *file, size_t size);

/* Adds what was put into the room and ends before `end`. */
void packed_file__commit(struct packed_file *file, const char *end);

/* Writes the rest and ends the file. */
void packed_file__finish(struct packed_file *file);

/* 0, or the negative errno of a failed write or -ENOMEM, after which nothing more is written. */
int packed_file__error(const struct packed_file *file);

/* Bytes that were committed. */
uint64_t packed_file__raw_bytes(const struct packed_file *file);

#endif
