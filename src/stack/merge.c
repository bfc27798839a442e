// SPDX-License-Identifier: BSD-2-Clause
// Merges native and Python frames; see merge.h.
#include "stack/merge.h"

#include <string.h>

struct merging {
	const bool *entry;
	uint32_t count, next; /* Python frames: all, and the next one to insert */
	struct merged_frame *merged;
	size_t used;
};

static void put(struct merging *merging, bool python, uint32_t index)
{
	merging->merged[merging->used++] = (struct merged_frame){.python = python, .index = index};
}

/* Adds the Python frames that one call of the interpreter ran. */
static void put_call(struct merging *merging)
{
	bool ended = false;

	while (merging->next < merging->count && !ended) {
		ended = merging->entry[merging->next];
		put(merging, true, merging->next++);
	}
}

/* Inserts the remaining Python frames before the frames from `position` on. */
static void put_rest(struct merging *merging, size_t position)
{
	uint32_t left = merging->count - merging->next;

	memmove(merging->merged + position + left, merging->merged + position,
		(merging->used - position) * sizeof(*merging->merged));
	for (uint32_t i = 0; i < left; i++)
		merging->merged[position + i] =
			(struct merged_frame){.python = true, .index = merging->next + i};
	merging->used += left;
}

static bool is_within(uint64_t address, uint64_t start, uint64_t end)
{
	return address >= start && address < end;
}

size_t python_merge(const uint64_t *native, uint32_t depth, const bool *entry, uint32_t count,
		    const struct merge_ranges *ranges, struct merged_frame *merged)
{
	struct merging merging = {.entry = entry, .count = count, .merged = merged};
	size_t position = SIZE_MAX;
	uint64_t address;

	for (uint32_t i = 0; i < depth; i++) {
		memcpy(&address, &native[i], sizeof(address));
		address--; /* a call may be the last instruction of its function */
		if (!is_within(address, ranges->object_start, ranges->object_end)) {
			put(&merging, false, i);
			continue;
		}
		if (is_within(address, ranges->eval_start, ranges->eval_end))
			put_call(&merging);
		position = merging.used;
	}
	put_rest(&merging, position == SIZE_MAX ? merging.used : position);
	return merging.used;
}
