// SPDX-License-Identifier: BSD-2-Clause
// Arrays that grow at their end, see array.h.
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* How many items an array of `count` has room for: the next power of two, at least 1. */
static size_t room_for(size_t count)
{
	return count <= 1 ? 1 : (size_t)1 << (64 - __builtin_clzll(count - 1));
}

void *array__grow(void *items, size_t count, size_t more, size_t size)
{
	size_t wanted;

	/* A size below this bound does not overflow when it is doubled. */
	if (__builtin_add_overflow(count, more, &wanted) || wanted > PTRDIFF_MAX / size)
		return NULL;
	if (items && room_for(wanted) == room_for(count))
		return items;
	return realloc(items, room_for(wanted) * size);
}

size_t array__keep_distinct(void *items, size_t count, size_t size,
			    int (*compare)(const void *one, const void *other))
{
	char *all = items;
	size_t kept = 0;

	if (count)
		qsort(all, count, size, compare);
	for (size_t i = 0; i < count; i++) {
		if (kept && !compare(all + (kept - 1) * size, all + i * size))
			continue;
		if (kept != i)
			memcpy(all + kept * size, all + i * size, size);
		kept++;
	}
	return kept;
}
