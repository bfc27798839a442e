/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a BPF ring buffer up to a position. libbpf's reader in Debian 12 has no notion of positions
 * and reads until the ring is empty: it never returns if watched programs write faster than it
 * reads.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stddef.h>
#include <stdint.h>

/* A ring's memory as the kernel maps it. The positions only grow. */
struct ring {
	uint64_t *consumer; /* written by the reader */
	const uint64_t *producer;
	const char *data; /* `size` bytes, mapped twice in a row */
	uint64_t size;	  /* a power of two */
	uint64_t read;	  /* the position up to which records were read; *consumer follows */
};

#define RING_BUSY 1 /* a record is still being written */

/*
 * Takes a record of `size` bytes, which is valid until the function returns. Any result except 0
 * stops the reading after this record; the function must not return RING_BUSY.
 */
typedef int (*ring_record_fn)(const void *record, size_t size, void *arg);

/*
 * Maps the ring of a BPF map, whose descriptor becomes readable while records wait. Returns 0 or a
 * negative errno.
 */
int ring__map(struct ring *ring, int map_fd);
void ring__unmap(struct ring *ring); /* an all-zero ring is ok */

/*
 * The position where the next record will start. Every record that a writer has begun is before it.
 */
uint64_t ring__written(const struct ring *ring);

/*
 * Passes the records before `end` to `fn`. Returns 0 if it reached `end`, RING_BUSY if a record
 * there is still being written, or what `fn` returned.
 */
int ring__read(struct ring *ring, uint64_t end, ring_record_fn fn, void *arg);

#endif
