/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is released at once: that of a reading. */
#ifndef RECORD_ARENA_H
#define RECORD_ARENA_H

#include <stddef.h>

struct arena_block;

/* All zero at first, but for the limit. */
struct arena {
	struct arena_block *blocks;
	size_t taken; /* so far, in all */
	size_t limit; /* the most that may be taken; 0: no limit */
};

/* `count` zeroed structures of `size` bytes. NULL without memory, or beyond the limit. */
void *arena__take(struct arena *arena, size_t count, size_t size);

/* Releases everything taken. */
void arena__clear(struct arena *arena);

#endif
