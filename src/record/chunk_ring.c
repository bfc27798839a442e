// SPDX-License-Identifier: BSD-2-Clause
// The latest chunks of a recording, see chunk_ring.h.
#include "record/chunk_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kept_chunk {
	struct kept_chunk *next;
	struct recording_chunk chunk;
	uint8_t body[];
};

struct chunk_ring {
	uint64_t keep_ns, max_bytes;
	struct kept_chunk *oldest, *latest; /* the oldest is a keyframe */
	uint64_t bytes, latest_bytes;
	uint64_t latest_ns;
	bool refuses; /* up to the next keyframe */
	bool shortened;
};

struct chunk_ring *chunk_ring__new(uint64_t keep_ns, uint64_t max_bytes)
{
	struct chunk_ring *ring = calloc(1, sizeof(*ring));

	if (ring) {
		ring->keep_ns = keep_ns;
		ring->max_bytes = max_bytes;
		ring->refuses = true;
	}
	return ring;
}

static uint64_t bytes_of(const struct recording_chunk *chunk)
{
	return sizeof(*chunk) + chunk->stored_bytes;
}

/* Releases the oldest chunks, up to `end`. */
static void drop_until(struct chunk_ring *ring, const struct kept_chunk *end)
{
	while (ring->oldest != end) {
		struct kept_chunk *kept = ring->oldest;

		ring->oldest = kept->next;
		ring->bytes -= bytes_of(&kept->chunk);
		free(kept);
	}
	if (!ring->oldest)
		ring->latest = NULL;
}

void chunk_ring__free(struct chunk_ring *ring)
{
	if (!ring)
		return;
	drop_until(ring, NULL);
	free(ring);
}

/* The keyframe after the oldest one; NULL if there is none. */
static struct kept_chunk *second_keyframe(const struct chunk_ring *ring)
{
	struct kept_chunk *kept = ring->oldest ? ring->oldest->next : NULL;

	while (kept && !(kept->chunk.flags & CHUNK_KEYFRAME))
		kept = kept->next;
	return kept;
}

static void drop_old(struct chunk_ring *ring)
{
	struct kept_chunk *second;

	while ((second = second_keyframe(ring))) {
		bool is_old = second->chunk.first_ns + ring->keep_ns <= ring->latest_ns;

		if (!is_old && ring->bytes <= ring->max_bytes)
			return;
		ring->shortened = ring->shortened || !is_old;
		drop_until(ring, second);
	}
}

static struct kept_chunk *copy(const struct recording_chunk *chunk, const uint8_t *body)
{
	struct kept_chunk *kept = malloc(sizeof(*kept) + chunk->stored_bytes);

	if (kept) {
		kept->next = NULL;
		kept->chunk = *chunk;
		memcpy(kept->body, body, chunk->stored_bytes);
	}
	return kept;
}

static void append(struct chunk_ring *ring, struct kept_chunk *kept)
{
	if (ring->latest)
		ring->latest->next = kept;
	else
		ring->oldest = kept;
	ring->latest = kept;
	ring->bytes += bytes_of(&kept->chunk);
	ring->latest_bytes += bytes_of(&kept->chunk);
	if (kept->chunk.last_ns > ring->latest_ns)
		ring->latest_ns = kept->chunk.last_ns;
}

/*
 * A keyframe's chunks are of use up to the failure; without the room for one there is nothing to
 * keep.
 */
int chunk_ring__add(struct chunk_ring *ring, const struct recording_chunk *chunk,
		    const uint8_t *body)
{
	bool keyframe = chunk->flags & CHUNK_KEYFRAME;
	uint64_t group = (keyframe ? 0 : ring->latest_bytes) + bytes_of(chunk);
	struct kept_chunk *kept;

	if (ring->refuses && !keyframe)
		return -EAGAIN;
	kept = group <= ring->max_bytes ? copy(chunk, body) : NULL;
	ring->refuses = !kept;
	if (!kept)
		return group <= ring->max_bytes ? -ENOMEM : -E2BIG;
	if (keyframe)
		ring->latest_bytes = 0;
	append(ring, kept);
	drop_old(ring);
	return 0;
}

uint64_t chunk_ring__bytes(const struct chunk_ring *ring)
{
	return ring->bytes;
}

uint64_t chunk_ring__latest_bytes(const struct chunk_ring *ring)
{
	return ring->latest_bytes;
}

void chunk_ring__span(const struct chunk_ring *ring, uint64_t *first_ns, uint64_t *last_ns)
{
	*first_ns = ring->oldest ? ring->oldest->chunk.first_ns : 0;
	*last_ns = ring->oldest ? ring->latest_ns : 0;
}

bool chunk_ring__take_shortened(struct chunk_ring *ring)
{
	bool shortened = ring->shortened;

	ring->shortened = false;
	return shortened;
}

int chunk_ring__each(const struct chunk_ring *ring,
		     int (*each)(const struct recording_chunk *chunk, const uint8_t *body,
				 void *arg),
		     void *arg)
{
	int ret = 0;

	for (const struct kept_chunk *kept = ring->oldest; kept && !ret; kept = kept->next)
		ret = each(&kept->chunk, kept->body, arg);
	return ret;
}
