// SPDX-License-Identifier: BSD-2-Clause
// What BPF programs record of a whole process: its end, its lasting error, sums of the rest.
#include <string.h>

#include "base/clock.h"
#include "collect/private.h"
#include "collect/shares.h"
#include "collect/tally.h"
#include "model/failures.h"

#define LEAVE_NS (10 * NS_PER_S) /* how long an ended process's threads may take to leave */

static void read_sticky(struct process *process, const struct process_record *record)
{
	process->sticky.code = __atomic_load_n(&record->sticky_code, __ATOMIC_ACQUIRE);
	process->sticky.ns = record->sticky_ns;
	process->sticky.same = record->sticky_failures;
	process->sticky.others = record->after_sticky;
}

/* Failures, calls and notices that had no entries of their own. */
static void read_others(struct process *process, const struct process_record *record)
{
	failures__add_rest(process, __atomic_load_n(&record->other_failures, __ATOMIC_RELAXED));
	process->other_calls = __atomic_load_n(&record->other_calls, __ATOMIC_RELAXED);
	process->other_call_failures =
		__atomic_load_n(&record->other_call_failures, __ATOMIC_RELAXED);
	process->other_call_ns = __atomic_load_n(&record->other_call_ns, __ATOMIC_RELAXED);
	process->lost_notices = __atomic_load_n(&record->lost_notices, __ATOMIC_RELAXED);
}

static void read_shim(struct process *process, const struct process_record *record)
{
	process->called = __atomic_load_n(&record->called, __ATOMIC_ACQUIRE);
	process->shim_number = __atomic_load_n(&record->shim, __ATOMIC_ACQUIRE);
	process->driver_number = record->behind_shim;
}

/*
 * Whether all threads of the process have left, so that its counts are final. The end of a thread
 * can be missed: the kernel skips a BPF program that is already running on that CPU. So the wait
 * for threads is limited.
 */
static bool has_ended(const struct process_record *record, uint64_t now_ns)
{
	if (__atomic_load_n(&record->state, __ATOMIC_ACQUIRE) != PROCESS_ENDED)
		return false;
	return !__atomic_load_n(&record->threads, __ATOMIC_ACQUIRE) ||
	       now_ns > record->ended_ns + LEAVE_NS;
}

void collector__read_record(struct collector *collector, struct process *process)
{
	const struct process_record *record = &collector->records[process->slot];

	if (has_ended(record, collector->model.now_ns)) {
		process->ended = true;
		process->ended_ns = record->ended_ns;
		memcpy(process->comm, record->comm, sizeof(process->comm) - 1);
	} else {
		collector__refresh_name(collector, process);
	}
	collector__look_at_sharer(collector, process);
	read_sticky(process, record);
	read_shim(process, record);
	process->deaths_seen = __atomic_load_n(&record->deaths, __ATOMIC_ACQUIRE);
	tally__reset(process);
	failures__begin(process);
	read_others(process, record);
	shares__trim(collector, process->slot);
	memset(process->inflight, 0, sizeof(process->inflight));
}
