// SPDX-License-Identifier: BSD-2-Clause
// Gathers the largest live allocations in steps, see largest.h.
#include "collect/largest.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpuprobe/state.h"
#include "model/devices.h"

#define STEP_NS (4 * NS_PER_MS)
/* Gather this many times the listed number, since some are freed before they are listed. */
#define SPARE 4

struct candidate {
	struct allocation_key key;
	uint64_t size;
};

/* A process's candidates, largest first. */
struct candidates {
	struct candidate *all; /* room for SPARE * top; NULL: none yet */
	size_t count;
};

struct largest {
	unsigned int slots;
	size_t top;
	struct map_cursor cursor;
	bool complete;
	struct candidates of[]; /* by slot */
};

struct largest *largest__new(unsigned int slots, size_t top)
{
	struct largest *largest = calloc(1, sizeof(*largest) + slots * sizeof(*largest->of));

	if (!largest)
		return NULL;
	largest->slots = slots;
	largest->top = top;
	return largest;
}

static void forget(struct largest *largest)
{
	for (unsigned int slot = 0; slot < largest->slots; slot++) {
		free(largest->of[slot].all);
		largest->of[slot] = (struct candidates){0};
	}
	largest->cursor = (struct map_cursor){0};
	largest->complete = false;
}

void largest__free(struct largest *largest)
{
	if (!largest)
		return;
	forget(largest);
	free(largest);
}

static int add(const void *key_data, const void *value, void *arg)
{
	const struct allocation_key *key = key_data;
	const struct allocation_record *record = value;
	struct largest *largest = arg;
	size_t room = SPARE * largest->top, i;
	struct candidates *of;

	if (key->slot >= largest->slots || key->space == SPACE_ENDING || key->late ||
	    !memory_kind__is_device(record->kind))
		return 0;
	of = &largest->of[key->slot];
	if (of->count == room && of->all[room - 1].size >= record->size)
		return 0;
	if (!of->all)
		of->all = calloc(room, sizeof(*of->all));
	if (!of->all)
		return -ENOMEM;
	for (i = of->count < room ? of->count++ : room - 1;
	     i > 0 && of->all[i - 1].size < record->size; i--)
		of->all[i] = of->all[i - 1];
	of->all[i] = (struct candidate){.key = *key, .size = record->size};
	return 0;
}

int largest__step(struct largest *largest, struct map_reader *reader,
		  const struct bpf_map *allocations)
{
	uint64_t end = clock__boot_ns() + STEP_NS;
	int ret = 0;

	if (largest->complete)
		forget(largest);
	while (!ret && !largest->cursor.done && clock__boot_ns() < end)
		ret = map_reader__some(reader, allocations, &largest->cursor, add, largest);
	if (ret) {
		forget(largest);
		return ret;
	}
	largest->complete = largest->cursor.done;
	return !largest->complete;
}

bool largest__is_complete(const struct largest *largest)
{
	return largest && largest->complete;
}

int largest__each(struct largest *largest, const struct bpf_map *allocations, map_entry_fn fn,
		  void *arg)
{
	struct allocation_record record;
	int ret = 0;

	for (unsigned int slot = 0; slot < largest->slots; slot++) {
		const struct candidates *of = &largest->of[slot];

		for (size_t i = 0; i < of->count && !ret; i++)
			if (!bpf_map__lookup_elem(allocations, &of->all[i].key,
						  sizeof(of->all[i].key), &record, sizeof(record),
						  0))
				ret = fn(&of->all[i].key, &record, arg);
	}
	forget(largest);
	return ret;
}
