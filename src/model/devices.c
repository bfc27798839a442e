// SPDX-License-Identifier: BSD-2-Clause
// Totals by device, see devices.h.
#include "model/devices.h"

#include <string.h>

#include "base/array.h"

struct device_totals *device_totals__of(struct device_totals **list, size_t *count, uint8_t device)
{
	struct device_totals *totals;
	size_t at = 0;

	while (at < *count && (*list)[at].device < device)
		at++;
	if (at < *count && (*list)[at].device == device)
		return &(*list)[at];
	if (ARRAY_RESERVE(*list, *count, 1))
		return NULL;
	totals = *list + at;
	memmove(totals + 1, totals, (*count - at) * sizeof(*totals));
	*totals = (struct device_totals){.device = device};
	++*count;
	return totals;
}

void device_totals__reset(struct device_totals *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct device_totals reset = {.device = list[i].device};

		for (int kind = 0; kind < OBJECT_KINDS; kind++)
			reset.had_objects[kind] =
				list[i].had_objects[kind] || list[i].objects[kind];
		list[i] = reset;
	}
}

bool memory_kind__is_device(enum memory_kind kind)
{
	switch (kind) {
	case MEMORY_DEVICE:
	case MEMORY_MANAGED:
	case MEMORY_POOL:
	case MEMORY_ARRAY:
	case MEMORY_PHYSICAL: return true;
	default: return false;
	}
}
