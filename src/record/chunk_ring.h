/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The latest chunks of a recording in memory, for a flight recorder: what a writer would append to
 * a file. A reader can begin only at a keyframe, so the oldest chunks go together, up to the next
 * keyframe, once what remains is long enough or the room is needed.
 */
#ifndef RECORD_CHUNK_RING_H
#define RECORD_CHUNK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/file.h"

struct chunk_ring;

/*
 * Keeps at least the last `keep_ns`, as far as `max_bytes` allow (heads and bodies). NULL without
 * memory.
 */
struct chunk_ring *chunk_ring__new(uint64_t keep_ns, uint64_t max_bytes);
void chunk_ring__free(struct chunk_ring *ring); /* NULL is fine */

/*
 * Adds a copy of a chunk; `body` has chunk->stored_bytes. Returns 0, -ENOMEM, or -E2BIG if what
 * follows one keyframe has more than max_bytes. After a failure, chunks up to the next keyframe are
 * useless: they are refused with -EAGAIN.
 */
int chunk_ring__add(struct chunk_ring *ring, const struct recording_chunk *chunk,
		    const uint8_t *body);

uint64_t chunk_ring__bytes(const struct chunk_ring *ring); /* of all chunks */

/* Bytes from the latest keyframe on: the caller begins a new one before they fill the ring. */
uint64_t chunk_ring__latest_bytes(const struct chunk_ring *ring);

/* Times of the first and the latest record; 0 and 0 without chunks. */
void chunk_ring__span(const struct chunk_ring *ring, uint64_t *first_ns, uint64_t *last_ns);

/* Whether chunks of the last keep_ns had to go because of max_bytes, since the last call. */
bool chunk_ring__take_shortened(struct chunk_ring *ring);

/*
 * Calls `each` for all chunks, oldest first, until it returns something else than 0. Returns that,
 * or 0.
 */
int chunk_ring__each(const struct chunk_ring *ring,
		     int (*each)(const struct recording_chunk *chunk, const uint8_t *body,
				 void *arg),
		     void *arg);

#endif
