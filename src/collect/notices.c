// SPDX-License-Identifier: BSD-2-Clause
// Notices that BPF programs send through the ring: names, new and changed processes, ends.
#include "base/clock.h"
#include "collect/open_calls.h"
#include "collect/private.h"
#include "collect/shares.h"
#include "stack/stacks.h"

static void take_name(struct collector *collector, const struct record_name *record, size_t size)
{
	if (size < sizeof(*record) + 1 || record->length >= size - sizeof(*record) ||
	    record->name[record->length])
		return;
	if (kernel_names__add(collector->names, record, record->name) == 1)
		log__warn(collector->log,
			  "a kernel's handle has another name than the program asked for (%.60s): "
			  "from now on names "
			  "come from documented calls only",
			  record->name);
}

/* For COMMAND's processes this runs while they are held, before their first call. */
static void process_changed(struct collector *collector, const struct record_library *record)
{
	if (collector->stacks)
		stacks__look_at(collector->stacks, record->pid, record->header.type == RECORD_EXEC);
	if (collector->hooks.process_changed)
		collector->hooks.process_changed(record, collector->hooks.arg);
}

/* The process may have made its first call just before. */
static void take_unfinished(struct collector *collector, const struct record_unfinished *record)
{
	struct process *process;

	if (collector->has_fresh)
		collector__see_fresh_processes(collector);
	process = collector__process_at(collector, record->header.slot);
	if (process)
		open_calls__end(process, record);
}

static void take_idle_time(struct collector *collector, const struct record_idle *record)
{
	const struct process *process;

	if (collector->has_fresh)
		collector__see_fresh_processes(collector);
	process = collector__process_at(collector, record->header.slot);
	if (process && !process->left_out && collector->hooks.idle_time)
		collector->hooks.idle_time(process, record, collector->hooks.arg);
}

static void take_shortage(struct collector *collector, const struct record_shortage *record)
{
	const struct process *process;

	if (collector->has_fresh)
		collector__see_fresh_processes(collector);
	process = collector__process_at(collector, record->header.slot);
	if (!process || process->left_out || !collector->hooks.shortage)
		return;
	/* The process may end, or free its memory, before the next query. */
	if (record->header.type != RECORD_SHORTAGE_RELIEVED)
		attribution__hurry(collector->attribution);
	collector->hooks.shortage(process, record, collector->hooks.arg);
}

static void take_record(struct collector *collector, const void *data, size_t size)
{
	const struct record *record = data;
	const struct record_unload *unload = data;

	if (size < sizeof(*record))
		return;
	switch (record->type) {
	case RECORD_KERNEL_NAME: take_name(collector, data, size); break;
	case RECORD_UNLOAD:
		if (size >= sizeof(*unload))
			kernel_names__unload(collector->names, record->slot, unload->module,
					     unload->generation);
		break;
	case RECORD_UNFINISHED:
		if (size >= sizeof(struct record_unfinished))
			take_unfinished(collector, data);
		break;
	case RECORD_IDLE:
		if (size >= sizeof(struct record_idle))
			take_idle_time(collector, data);
		break;
	case RECORD_SHORTAGE:
	case RECORD_SHORTAGE_RELIEVED:
	case RECORD_SHORTAGE_FINAL:
		if (size >= sizeof(struct record_shortage))
			take_shortage(collector, data);
		break;
	case RECORD_PROCESS:
		collector->has_fresh = true;
		/* Not before a process uses CUDA: a GPU that nobody uses may be powered down. */
		attribution__begin(collector->attribution);
		break;
	case RECORD_STEPS: collector->has_steps = true; break;
	case RECORD_PROCESS_ENDED:
		if (collector->hooks.process_ended)
			collector->hooks.process_ended(collector->hooks.arg);
		break;
	case RECORD_LIBRARY:
	case RECORD_LOADED:
	case RECORD_EXEC:
	case RECORD_FORK:
		if (size >= sizeof(struct record_library))
			process_changed(collector, data);
		break;
	}
}

/* Counts off a notice of a type that is limited per process. */
static void take_off(struct collector *collector, const struct record *record, size_t size)
{
	if (size >= sizeof(*record) &&
	    (record->type == RECORD_KERNEL_NAME || record->type == RECORD_UNLOAD ||
	     record->type == RECORD_IDLE || record->type == RECORD_SHORTAGE ||
	     record->type == RECORD_SHORTAGE_RELIEVED || record->type == RECORD_SHORTAGE_FINAL))
		shares__took_notice(collector, record->slot, size);
}

int notices__take(const void *data, size_t size, void *arg)
{
	struct collector *collector = arg;

	take_record(collector, data, size);
	take_off(collector, data, size);
	return clock__boot_ns() >= collector->until_ns;
}
