// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Maps that all processes share, and how one process is prevented from taking what others need.
 * Three quarters of a map are first come, first served; the rest is for processes with few entries.
 * A process that gets no entry for a launch, a failure or a call counts it in a common counter, so
 * that its sums are exact. Userspace gives back the entries that it deletes.
 */
#ifndef BPF_PROCESS_SHARE_BPF_H
#define BPF_PROCESS_SHARE_BPF_H

#include "call/thread.bpf.h"

#define LITTLE 64	 /* "few entries" means less than this fraction of the map */
#define SHARED_FROM 4096 /* smaller maps are not divided */
#define NOTICES_SHARE (RING_BYTES / 8)

/*
 * Entries in `launches`, and entries of `allocations` granted to processes. Userspace lowers both.
 */
volatile __u32 kernel_keys;
volatile __u32 live_granted;

/* Entries in `objects`, which userspace lowers too. */
volatile __u32 object_keys;

static __always_inline bool is_open_to(u32 used, u32 own, u32 max)
{
	return max < SHARED_FROM || used < max - max / 4 || own < max / LITTLE;
}

static __always_inline bool may_add_kernel(const struct process_record *process)
{
	return is_open_to(kernel_keys, process->kernel_keys, config.max_kernels);
}

static __always_inline void added_kernel(struct process_record *process)
{
	__sync_fetch_and_add(&kernel_keys, 1);
	__sync_fetch_and_add(&process->kernel_keys, 1);
}

/* Grants the process LIVE_STEP more allocations. Global: the verifier goes through it once. */
__noinline int take_live_room(u32 slot)
{
	struct process_record *process = process_at(slot);

	if (!process || !is_open_to(live_granted, process->live_granted, config.max_allocations))
		return false;
	__sync_fetch_and_add(&live_granted, LIVE_STEP);
	__sync_fetch_and_add(&process->live_granted, LIVE_STEP);
	return true;
}

/* Whether the process may have one more live allocation, which is then counted. */
static __always_inline bool begin_live(u32 slot)
{
	struct process_record *process = process_at(slot);

	if (!process || (process->live_keys >= process->live_granted && !take_live_room(slot)))
		return false;
	__sync_fetch_and_add(&process->live_keys, 1);
	return true;
}

static __always_inline void end_live(u32 slot)
{
	struct process_record *process = process_at(slot);

	if (process)
		__sync_fetch_and_add(&process->live_keys, -1);
}

/* Counts `change` entries more, or less, of the process in `objects`. */
static __always_inline void change_objects(u32 slot, int change)
{
	struct process_record *process = process_at(slot);

	__sync_fetch_and_add(&object_keys, change);
	if (process)
		__sync_fetch_and_add(&process->object_keys, change);
}

static __always_inline bool may_add_object(u32 slot)
{
	const struct process_record *process = process_at(slot);

	return process && is_open_to(object_keys, process->object_keys, config.max_objects);
}

/* Launches of kernels without a counter. Global: the verifier goes through it once. */
__noinline int count_other_launches(u32 slot, u32 device, u32 captured, u64 launches)
{
	struct process_record *process = process_at(slot);

	if (!process)
		return 0;
	if (device > OTHER_DEVICES)
		device = OTHER_DEVICES;
	__sync_fetch_and_add(&process->other_launches[device][captured & 1], launches);
	return 0;
}

/* Calls without a counter. Global: the verifier goes through it once. */
__noinline int count_other_calls(u32 slot, u64 calls, u64 failures, u64 ns)
{
	struct process_record *process = process_at(slot);

	if (!process)
		return 0;
	__sync_fetch_and_add(&process->other_calls, calls);
	__sync_fetch_and_add(&process->other_call_failures, failures);
	__sync_fetch_and_add(&process->other_call_ns, ns);
	return 0;
}

/*
 * Whether the process may send a notice: it may have up to an eighth of the ring, and more while a
 * quarter of the ring is free. A refused notice is counted.
 */
static __always_inline bool may_notify(struct process_record *process)
{
	if (process->notice_bytes < NOTICES_SHARE ||
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < RING_BYTES - RING_BYTES / 4)
		return true;
	__sync_fetch_and_add(&process->lost_notices, 1);
	lose(LOSS_RING_FULL);
	return false;
}

static __always_inline void notified(struct process_record *process, u32 bytes)
{
	__sync_fetch_and_add(&process->notice_bytes, bytes);
}

#endif
