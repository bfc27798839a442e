// SPDX-License-Identifier: BSD-2-Clause
// Gathers live allocations of ended processes in steps, see ended_memory.h.
#include "collect/ended_memory.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collect/key_list.h"
#include "gpuprobe/state.h"

#define STEP_NS (4 * NS_PER_MS)

struct ended_memory {
	uint32_t slots;
	bool begun;
	struct map_cursor cursor;
	struct key_list keys; /* struct allocation_key */
	bool wanted[];	      /* by slot */
};

struct ended_memory *ended_memory__new(uint32_t slots)
{
	struct ended_memory *memory = calloc(1, sizeof(*memory) + slots * sizeof(*memory->wanted));

	if (memory)
		memory->slots = slots;
	return memory;
}

void ended_memory__free(struct ended_memory *memory)
{
	if (!memory)
		return;
	free(memory->keys.keys);
	free(memory);
}

void ended_memory__want(struct ended_memory *memory, uint32_t slot)
{
	if (slot >= memory->slots)
		return;
	memory->wanted[slot] = true;
	memory->begun = true;
}

bool ended_memory__is_begun(const struct ended_memory *memory)
{
	return memory->begun;
}

static int gather(const void *key_data, const void *value, void *arg)
{
	const struct allocation_key *key = key_data;
	struct ended_memory *memory = arg;

	(void)value;
	if (key->slot >= memory->slots || !memory->wanted[key->slot])
		return 0;
	return key_list__add(&memory->keys, key, sizeof(*key));
}

int ended_memory__step(struct ended_memory *memory, struct map_reader *reader,
		       const struct bpf_map *allocations)
{
	uint64_t end = clock__boot_ns() + STEP_NS;
	int ret = 0;

	while (!ret && !memory->cursor.done && clock__boot_ns() < end)
		ret = map_reader__some(reader, allocations, &memory->cursor, gather, memory);
	if (ret) {
		ended_memory__forget(memory);
		return ret;
	}
	return !memory->cursor.done;
}

bool ended_memory__is_complete(const struct ended_memory *memory)
{
	return memory && memory->begun && memory->cursor.done;
}

bool ended_memory__has(const struct ended_memory *memory, uint32_t slot)
{
	return ended_memory__is_complete(memory) && slot < memory->slots && memory->wanted[slot];
}

int ended_memory__each(const struct ended_memory *memory, const struct bpf_map *allocations,
		       map_entry_fn fn, void *arg)
{
	const struct allocation_key *keys = (const void *)memory->keys.keys;
	struct allocation_record record;
	int ret = 0;

	for (size_t i = 0; i < memory->keys.count && !ret; i++)
		if (!bpf_map__lookup_elem(allocations, &keys[i], sizeof(keys[i]), &record,
					  sizeof(record), 0))
			ret = fn(&keys[i], &record, arg);
	return ret;
}

void ended_memory__forget(struct ended_memory *memory)
{
	free(memory->keys.keys);
	memory->keys = (struct key_list){0};
	memory->cursor = (struct map_cursor){0};
	memset(memory->wanted, 0, memory->slots * sizeof(*memory->wanted));
	memory->begun = false;
}
