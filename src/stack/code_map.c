// SPDX-License-Identifier: BSD-2-Clause
// Where a process has code; see code_map.h.
#include "stack/code_map.h"

#include <string.h>

/*
 * Limits the work for a process that has its whole address space executable: the map then soon says
 * that code is everywhere.
 */
#define BLOCKS_MAX (4 * CODE_MAP_BITS)

struct making {
	struct code_map *map;
	uint64_t blocks;
};

static int set_blocks(uint64_t start, uint64_t end, void *arg)
{
	struct making *making = arg;
	uint64_t first = start >> CODE_MAP_SHIFT, last = (end - 1) >> CODE_MAP_SHIFT;

	if (end <= start)
		return 0;
	making->blocks += last - first + 1;
	if (making->blocks > BLOCKS_MAX) {
		memset(making->map, 0xff, sizeof(*making->map));
		return 1;
	}
	for (uint64_t block = first; block <= last; block++) {
		uint32_t bit = code_map_bit(block << CODE_MAP_SHIFT);

		making->map->bits[bit / 64] |= 1ull << bit % 64;
	}
	return 0;
}

void code_map__make(const struct process_map *mappings, struct code_map *out)
{
	struct making making = {.map = out};

	memset(out, 0, sizeof(*out));
	process_map__each_code(mappings, set_blocks, &making);
}
