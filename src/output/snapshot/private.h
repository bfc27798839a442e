/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of output/snapshot share. */
#ifndef OUTPUT_SNAPSHOT_PRIVATE_H
#define OUTPUT_SNAPSHOT_PRIVATE_H

#include "base/pickle.h"
#include "base/table.h"
#include "output/snapshot/snapshot.h"

struct stretch {
	uint64_t begin, end;
	const struct allocation *of; /* NULL: a segment that was not seen, or is expandable */
	bool expandable;
	size_t first, count; /* of a segment: its blocks */
};

/* Frames that are in the reader's memo. */
struct kept_frames {
	const struct stack *stack;
	uint32_t number;
	UT_hash_handle hh;
};

struct snapshot {
	struct pickle pickle;
	struct stretch *segments, *blocks;
	size_t segment_count, block_count;
	struct kept_frames *kept;
	uint64_t overlapping, overlapping_bytes; /* left out or cut */
	uint64_t unseen, other, other_bytes;
	uint64_t events_overwritten, events_lost;
	unsigned int devices; /* as many as the largest number says */
};

/* Whether PyTorch's allocator took the segment: a cached one may hold no tensor. */
bool snapshot__is_frameworks(const struct stretch *segment);

/* Whether the library of a framework's allocator is in the stack; NULL: no. */
bool snapshot__has_allocator(const struct stack *stack);

/* Writes the key `frames` and the stack, NULL: no frames. Returns 0 or -ENOMEM. */
int snapshot__write_frames(struct snapshot *snapshot, const struct stack *stack);

/*
 * Writes the key `device_traces`: a list for each device, with the process's events in order.
 * Returns 0 or -ENOMEM.
 */
int snapshot__write_traces(struct snapshot *snapshot, const struct process *process,
			   const struct snapshot_trace *trace);

#endif
