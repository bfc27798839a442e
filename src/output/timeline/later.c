// SPDX-License-Identifier: BSD-2-Clause
// What happens when calls return, see later.h.
#include "output/timeline/later.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int later__init(struct later *later, size_t size)
{
	*later = (struct later){.size = size, .elements = calloc(LATER_MAX, size)};
	return later->elements ? 0 : -ENOMEM;
}

void later__clear(struct later *later)
{
	free(later->elements);
	*later = (struct later){0};
}

bool later__is_full(const struct later *later)
{
	return later->count == LATER_MAX;
}

static uint64_t time_of(const void *element)
{
	uint64_t time_ns;

	memcpy(&time_ns, element, sizeof(time_ns));
	return time_ns;
}

void later__add(struct later *later, const void *element)
{
	size_t before = later->count;
	uint8_t *at;

	while (before && time_of(later->elements + (before - 1) * later->size) <= time_of(element))
		before--;
	at = later->elements + before * later->size;
	memmove(at + later->size, at, (later->count - before) * later->size);
	memcpy(at, element, later->size);
	later->count++;
}

bool later__take(struct later *later, uint64_t time_ns, void *element)
{
	const uint8_t *earliest;

	if (!later->count)
		return false;
	earliest = later->elements + (later->count - 1) * later->size;
	if (time_of(earliest) > time_ns)
		return false;
	memcpy(element, earliest, later->size);
	later->count--;
	return true;
}
