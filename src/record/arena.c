// SPDX-License-Identifier: BSD-2-Clause
// Memory that is released at once, see arena.h.
#include "record/arena.h"

#include <stdlib.h>
#include <string.h>

/* Sanitized, everything has a block of its own: only there accesses beyond it are found. */
#ifdef GPUPROBE_SANITIZED
#define BLOCK_BYTES 0u
#else
#define BLOCK_BYTES (256u << 10)
#endif
#define ALIGNED 16

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(ALIGNED) char bytes[];
};

static struct arena_block *block_for(struct arena *arena, size_t bytes)
{
	struct arena_block *block = arena->blocks;
	size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

	if (block && block->size - block->used >= bytes)
		return block;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	*block = (struct arena_block){.next = arena->blocks, .size = size};
	arena->blocks = block;
	return block;
}

void *arena__take(struct arena *arena, size_t count, size_t size)
{
	struct arena_block *block;
	size_t bytes;
	void *taken;

	if (__builtin_mul_overflow(count, size, &bytes) ||
	    __builtin_add_overflow(bytes, ALIGNED - 1, &bytes))
		return NULL;
	bytes -= bytes % ALIGNED;
	if (arena->limit && (bytes > arena->limit || arena->taken > arena->limit - bytes))
		return NULL;
	block = block_for(arena, bytes);
	if (!block)
		return NULL;
	taken = block->bytes + block->used;
	block->used += bytes;
	arena->taken += bytes;
	memset(taken, 0, bytes);
	return taken;
}

void arena__clear(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
	arena->taken = 0;
}
