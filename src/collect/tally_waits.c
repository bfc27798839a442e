// SPDX-License-Identifier: BSD-2-Clause
// Adds up the time that threads are blocked in calls, see tally_waits.h.
#include "collect/tally_waits.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/api.h"
#include "model/devices.h"

/* Whether the free waits for work that still uses the memory. */
static bool blocks(const struct function_desc *function, const struct tally_key *key)
{
	return function->kind != MEMORY_PHYSICAL && function->kind != MEMORY_RESERVED &&
	       !(key->flags & TALLY_WITH_CONTEXT);
}

/* Where the time inside calls of the function counts as waiting; NULL if it does not. */
static struct wait_totals *waits_of(const struct function_desc *function,
				    const struct tally_key *key,
				    struct wait_totals waits[WAIT_SCOPES],
				    struct wait_totals *copy_waits, struct wait_totals *free_waits)
{
	if (function->flags & FUNCTION_ASYNC || key->flags & (TALLY_CAPTURED | TALLY_UNFOLLOWED))
		return NULL;
	switch (function->operation) {
	case OP_WAIT: return key->kind < WAIT_SCOPES ? &waits[key->kind] : NULL;
	case OP_COPY:
	case OP_SET: return copy_waits;
	case OP_FREE: return blocks(function, key) ? free_waits : NULL;
	default: return NULL;
	}
}

static void apply_wait(struct wait_totals *waits, const struct tally *tally)
{
	waits->calls += tally->calls;
	waits->ns += tally->ns + tally->other_ns;
	waits->beside_ns += tally->other_ns;
}

void tally_waits__add(struct process *process, struct device_totals *device,
		      const struct tally_key *key, const struct tally *tally,
		      const struct function_desc *function)
{
	struct wait_totals *waits =
		waits_of(function, key, process->waits, &process->copy_waits, &process->free_waits);

	if (!waits)
		return;
	apply_wait(waits, tally);
	apply_wait(waits_of(function, key, device->waits, &device->copy_waits, &device->free_waits),
		   tally);
}

static const struct function_desc *desc_of(uint16_t row)
{
	return &api_functions[row].desc;
}

static struct tally_key key_of_open(uint16_t row, uint8_t device)
{
	return (struct tally_key){.row = row, .kind = desc_of(row)->kind, .device = device};
}

static bool is_wait(const struct tally_key *key)
{
	struct wait_totals waits[WAIT_SCOPES], copies, frees;

	return waits_of(desc_of(key->row), key, waits, &copies, &frees) != NULL;
}

bool tally_waits__is_wait(uint16_t row)
{
	const struct tally_key key = key_of_open(row, DEVICE_UNKNOWN);

	return is_wait(&key);
}

uint64_t tally_waits__waited(const struct process *process, uint16_t row, uint8_t device)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < process->function_count; i++) {
		const struct function_totals *function = &process->functions[i];
		struct tally_key key = key_of_open(row, device);

		key.flags = function->flags;
		if (function->row == row && function->device == device && is_wait(&key))
			ns += function->ns + function->other_ns;
	}
	return ns;
}

static void add_open(struct wait_totals *waits, uint64_t calls, uint64_t ns)
{
	waits->open += calls;
	waits->ns += ns;
	waits->beside_ns += ns;
}

int tally_waits__add_open(struct process *process, uint16_t row, uint8_t device, uint64_t calls,
			  uint64_t ns)
{
	const struct tally_key key = key_of_open(row, device);
	const struct function_desc *function = desc_of(row);
	struct device_totals *totals =
		device_totals__of(&process->devices, &process->device_count, device);

	if (!totals)
		return -ENOMEM;
	add_open(waits_of(function, &key, process->waits, &process->copy_waits,
			  &process->free_waits),
		 calls, ns);
	add_open(waits_of(function, &key, totals->waits, &totals->copy_waits, &totals->free_waits),
		 calls, ns);
	if (function->operation == OP_WAIT)
		totals->wait_ns += ns;
	return 0;
}
