/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads a BPF ring buffer up to a position. libbpf's own reader of Debian 12
 * tells no positions, and goes on for as long as there is more: where watched
 * programs write faster than is read, it never returns.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stddef.h>
#include <stdint.h>

/* A ring's memory as the kernel maps it. The positions only rise. */
struct ring {
	uint64_t *consumer; /* written by the reader */
	const uint64_t *producer;
	const char *data; /* `size` bytes, mapped twice in a row */
	uint64_t size;	  /* a power of two */
	uint64_t read;	  /* the consumer's position as far as it was read; *consumer follows */
};

#define RING_BUSY 1 /* a record is still being written */

/*
 * Takes a record of `size` bytes, valid until it returns. Anything but 0 (and
 * not RING_BUSY) stops the reading after this record.
 */
typedef int (*ring_record_fn)(const void *record, size_t size, void *arg);

/* Maps the ring of a BPF map, whose descriptor is readable while records wait. 0 or a negative errno. */
int ring__map(struct ring *ring, int map_fd);
void ring__unmap(struct ring *ring); /* also one that is all zero */

/* Where the next record will be written: all that has begun to be written is before it. */
uint64_t ring__written(const struct ring *ring);

/*
 * Gives the records before `end` to `fn`. Returns 0 when it has come to `end`,
 * RING_BUSY at a record that is still being written, or what `fn` has returned.
 */
int ring__read(struct ring *ring, uint64_t end, ring_record_fn fn, void *arg);

#endif
