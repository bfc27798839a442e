// SPDX-License-Identifier: BSD-2-Clause
// Memory that ended with its context, see context_ends.h.
#include "collect/context_ends.h"

#include <errno.h>
#include <stdlib.h>

#include "base/saturate.h"
#include "model/devices.h"

int context_ends__add(struct process *process, uint8_t kind, uint8_t device, uint64_t bytes)
{
	struct context_ends *grown;
	size_t i = 0;

	while (i < process->context_end_count &&
	       (process->context_ends[i].kind != kind || process->context_ends[i].device != device))
		i++;
	if (i == process->context_end_count) {
		grown = realloc(process->context_ends, (i + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		process->context_ends = grown;
		grown[i] = (struct context_ends){.kind = kind, .device = device};
		process->context_end_count++;
	}
	process->context_ends[i].count++;
	process->context_ends[i].bytes += bytes;
	return 0;
}

static int apply_one(struct process *process, const struct context_ends *ends)
{
	struct memory_totals *memory = &process->memory[ends->kind];
	struct device_totals *device;

	memory->with_context += ends->count;
	saturate__add(&memory->with_context_bytes, saturate__wide(ends->bytes));
	memory->live_count -= ends->count;
	memory->balance -= ends->bytes;
	if (!memory_kind__is_device(ends->kind))
		return 0;
	device = device_totals__of(&process->devices, &process->device_count, ends->device);
	if (!device)
		return -ENOMEM;
	device->live_count -= ends->count;
	device->balance -= ends->bytes;
	return 0;
}

int context_ends__apply(struct process *process)
{
	int ret = 0;

	for (size_t i = 0; i < process->context_end_count && !ret; i++)
		ret = apply_one(process, &process->context_ends[i]);
	return ret;
}
