// SPDX-License-Identifier: BSD-2-Clause
// Processes' shares of shared maps, see shares.h. BPF programs change the same numbers meanwhile.
#include "collect/shares.h"

#include "gen/gpuprobe.skel.h"

#define STEPS_LEFT 4 /* spare room that a process keeps, in steps of allocations */

/* Stops at 0, even if the number was miscounted. */
static void lower(volatile uint32_t *number, uint32_t by)
{
	uint32_t now = __atomic_load_n(number, __ATOMIC_RELAXED), next;

	do
		next = now > by ? now - by : 0;
	while (!__atomic_compare_exchange_n(number, &now, next, false, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
}

void shares__deleted_kernel(struct collector *collector, uint32_t slot)
{
	lower(&collector->records[slot].kernel_keys, 1);
	lower(&collector->skeleton->bss->kernel_keys, 1);
}

void shares__deleted_live(struct collector *collector, uint32_t slot)
{
	lower(&collector->records[slot].live_keys, 1);
}

void shares__deleted_object(struct collector *collector, uint32_t slot)
{
	lower(&collector->records[slot].object_keys, 1);
	lower(&collector->skeleton->bss->object_keys, 1);
}

void shares__took_notice(struct collector *collector, uint32_t slot, size_t bytes)
{
	if (slot < collector->options.max_processes)
		lower(&collector->records[slot].notice_bytes, (uint32_t)bytes);
}

void shares__trim(struct collector *collector, uint32_t slot)
{
	struct process_record *record = &collector->records[slot];
	uint32_t granted = __atomic_load_n(&record->live_granted, __ATOMIC_RELAXED);
	uint32_t needed = __atomic_load_n(&record->live_keys, __ATOMIC_RELAXED) +
			  STEPS_LEFT * LIVE_STEP,
		 spare;

	if (granted < needed + LIVE_STEP)
		return;
	spare = (granted - needed) / LIVE_STEP * LIVE_STEP;
	lower(&record->live_granted, spare);
	lower(&collector->skeleton->bss->live_granted, spare);
}

void shares__release(struct collector *collector, uint32_t slot)
{
	struct process_record *record = &collector->records[slot];

	lower(&collector->skeleton->bss->kernel_keys, record->kernel_keys);
	lower(&collector->skeleton->bss->live_granted, record->live_granted);
	lower(&collector->skeleton->bss->object_keys, record->object_keys);
	record->object_keys = 0;
	record->kernel_keys = 0;
	record->live_granted = 0;
}
