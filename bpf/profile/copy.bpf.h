// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sizes of copies, and redundant copies: of a range that nothing has used on the device since it
 * was copied there, or that nothing has changed there since it was copied from there. The effects
 * of other calls are not tracked by range: any call that may have used or changed device memory
 * counts for all ranges of its process. In doubt a copy is not a repeat: kernels that may still be
 * running can use and change anything.
 */
#ifndef BPF_PROFILE_COPY_BPF_H
#define BPF_PROFILE_COPY_BPF_H

#include "profile/profile.bpf.h"
#include "profile/stream.bpf.h"
#include "copy/copy.bpf.h"

/* process_profile.worked */
#define WORK_NONE 0
/* device memory was used or changed since the versions were last raised */
#define WORK_DONE 1
#define WORK_BEING_TAKEN 2 /* a copy is raising the versions */

#define VERSION_UNSURE (~0ull) /* repeat_record.version: the next copy is not a repeat */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct copy_size_key);
	__type(value, struct copy_size_record);
} copy_sizes SEC(".maps");

/* A zeroed record to insert, too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct copy_size_record);
} empty_copy_size SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct repeat_key);
	__type(value, struct repeat_record);
} repeats SEC(".maps");

/* --- sizes --- */

/* Global: the verifier follows 64 paths through it, but not through the code after it. */
__noinline u32 size_bucket(u64 bytes)
{
	u32 bucket = 0;

	if (bytes >> (COPY_SIZES - 1))
		return COPY_SIZES - 1;
	for (u32 step = 32; step; step >>= 1)
		if (bytes >> (bucket + step))
			bucket += step;
	return bucket;
}

static __always_inline u8 host_of_copy(u64 flags)
{
	if (flags & TALLY_PINNED)
		return COPY_HOST_PINNED;
	return flags & TALLY_PAGEABLE ? COPY_HOST_PAGEABLE : COPY_HOST_UNKNOWN;
}

__noinline int note_copy_size(u32 slot, const struct call *call, u32 async)
{
	struct copy_size_key key = {.slot = slot, .async = async};
	struct copy_size_record *record, *empty;
	u32 zero = 0, bucket;
	int error;

	if (!call)
		return 0;
	key.kind = call->kind;
	key.host = host_of_copy(call->arg[COPY_FLAGS]);
	key.device = call->device;
	bucket = size_bucket(call->arg[COPY_BYTES]);
	record = bpf_map_lookup_elem(&copy_sizes, &key);
	if (!record) {
		empty = bpf_map_lookup_elem(&empty_copy_size, &zero);
		if (!empty)
			return 0;
		error = bpf_map_update_elem(&copy_sizes, &key, empty, BPF_NOEXIST);
		record = bpf_map_lookup_elem(&copy_sizes, &key);
		if (!record) {
			lose_update(error, LOSS_COPY_SIZE_MAP_FULL);
			return 0;
		}
	}
	if (bucket >= COPY_SIZES)
		return 0;
	__sync_fetch_and_add(&record->calls[bucket], 1);
	add_to_sum(&record->bytes[bucket], call->arg[COPY_BYTES]);
	__sync_fetch_and_add(&record->ns[bucket], call->end_ns - call->start_ns);
	return 0;
}

/* --- uses of device memory --- */

/* Read first, so that threads launching at the same time do not all write the same cache line. */
static __always_inline void note_use(struct process_profile *profile, bool queued)
{
	if (*(volatile u64 *)&profile->worked != WORK_DONE)
		profile->worked = WORK_DONE;
	if (queued && !*(volatile u64 *)&profile->queued)
		profile->queued = 1;
}

/* If device memory was used since, raises both versions: once, at the next copy. */
static __always_inline void take_uses(struct process_profile *profile)
{
	if (*(volatile u64 *)&profile->worked == WORK_NONE)
		return;
	__sync_val_compare_and_swap(&profile->worked, WORK_DONE, WORK_BEING_TAKEN);
	/*
	 * A thread that finds WORK_BEING_TAKEN raises them too: twice is harmless, too late is not.
	 */
	__sync_fetch_and_add(&profile->device_uses, 1);
	__sync_fetch_and_add(&profile->device_changes, 1);
	__sync_val_compare_and_swap(&profile->worked, WORK_BEING_TAKEN, WORK_NONE);
}

/* Calls other than copies that put work on a stream which may use or change device memory. */
static __always_inline bool queues_use(const struct call *call)
{
	return call->operation == OP_LAUNCH || call->operation == OP_GRAPH_LAUNCH ||
	       call->operation == OP_LAUNCH_LIST || call->operation == OP_HOST_FUNCTION;
}

/* Calls that use, change or free device memory immediately. */
static __always_inline bool uses_memory(const struct call *call)
{
	switch (call->operation) {
	case OP_ALLOC:
	case OP_FREE:
	case OP_VIRTUAL: return true;
	case OP_CREATE: /* modules contain variables */
	case OP_DESTROY: return call->kind == OBJECT_MODULE || call->kind == OBJECT_LIBRARY;
	case OP_CONTEXT: return is_end_of_context(call->kind);
	default: return false;
	}
}

static __always_inline bool is_empty(const struct device_queue *queue)
{
	return !queue->launched_epoch || (*(volatile const u64 *)&queue->empty_ns && !queue->used);
}

/*
 * The process's queues that are not known to be empty, as bits 1 << number. Global: the verifier
 * does not follow the result once per queue.
 */
__noinline u32 busy_queues(const struct process_profile *profile)
{
	u32 busy = 0;

	if (!config.profile)
		return 0;
	for (u32 i = 0; profile && i < PROFILE_DEVICES; i++)
		busy |= !is_empty(&profile->queues[i]) << i;
	return busy;
}

/* Whether all work in the queue is on this stream. */
static __always_inline bool is_in_order(const struct device_queue *queue, u64 stream)
{
	return !queue->mixed && queue->stream == stream;
}

/*
 * Whether everything that may have used or changed device memory before the copy was finished when
 * the copy, which has returned, was.
 */
static __noinline bool is_settled(u32 slot, struct process_profile *profile,
				  const struct call *call)
{
	const volatile struct function_desc *function = function_at(call->row);
	u32 busy, own = call->device < PROFILE_DEVICES ? call->device : PROFILE_DEVICES - 1;
	u64 stream;

	if (!profile || !function)
		return false;
	/* Work queued before the process was watched must be known to be finished first. */
	if (!is_seen_from_start(slot) && !profile->queues[own].empty_ns)
		return false;
	if (!*(volatile u64 *)&profile->queued)
		return true;
	busy = busy_queues(profile);
	if (!busy) {
		__sync_lock_test_and_set(&profile->queued, 0);
		/*
		 * A thread that queues work changes its queue before it checks `queued`, so look
		 * again.
		 */
		busy = busy_queues(profile);
		if (busy)
			profile->queued = 1;
	}
	stream = stream_id(function, call->arg[COPY_STREAM]);
	for (u32 i = 0; i < PROFILE_DEVICES; i++)
		if (busy & 1 << i && !is_in_order(&profile->queues[i], stream))
			return false;
	return true;
}

/* --- repeats --- */

/* At a copy's entry: keeps what decides at its return whether it was a repeat. */
static __always_inline void repeat_enter(struct pt_regs *ctx,
					 const volatile struct function_desc *function,
					 const struct thread *thread, struct call *call)
{
	struct process_profile *profile;

	call->from = 0;
	if (call->kind != COPY_H2D && call->kind != COPY_D2H)
		return;
	/* One contiguous range only; pitched copies and batches have several. */
	if (function->params || !has_role(function, ROLE_SIZE) || !has_role(function, ROLE_SRC) ||
	    !has_role(function, ROLE_DST))
		return;
	profile = process_profile_at(thread->slot);
	if (!profile)
		return;
	take_uses(profile);
	call->from = argument(ctx, function, ROLE_SRC);
	call->to = argument(ctx, function, ROLE_DST);
	call->version = call->kind == COPY_H2D ? profile->device_uses : profile->device_changes;
}

/* The program can use and change managed memory on the device without a call. */
static __always_inline bool may_be_managed(u32 slot, const struct process_profile *profile,
					   const struct call *call)
{
	struct allocation_key key = {.slot = slot, .space = SPACE_ADDRESS};
	const struct allocation_record *record;

	if (!profile->managed)
		return false;
	key.address = call->kind == COPY_H2D ? call->to : call->from;
	record = bpf_map_lookup_elem(&allocations, &key);
	return !record || record->kind == MEMORY_MANAGED;
}

static __always_inline void count_repeat(struct process_profile *profile,
					 struct repeat_record *record, const struct call *call)
{
	u64 ns = call->end_ns - call->start_ns;
	u32 way = call->kind == COPY_D2H;

	__sync_fetch_and_add(&record->repeats, 1);
	__sync_fetch_and_add(&record->repeat_ns, ns);
	__sync_fetch_and_add(&profile->repeats[way].calls, 1);
	__sync_fetch_and_add(&profile->repeats[way].ns, ns);
	add_to_sum(&profile->repeat_bytes[way], call->arg[COPY_BYTES]);
}

static __noinline int note_range(u32 slot, struct process_profile *profile, const struct call *call)
{
	struct repeat_key key = {.from = call->from,
				 .to = call->to,
				 .bytes = call->arg[COPY_BYTES],
				 .slot = slot,
				 .kind = call->kind};
	struct repeat_record *record,
		fresh = {.version = VERSION_UNSURE, .copies = 1, .row = call->row};
	int error;

	if (!profile || !key.bytes)
		return 0;
	record = bpf_map_lookup_elem(&repeats, &key);
	if (record && record->version == call->version) {
		__sync_fetch_and_add(&record->copies, 1);
		count_repeat(profile, record, call);
		return 0;
	}
	if (is_settled(slot, profile, call) && !may_be_managed(slot, profile, call))
		fresh.version = call->version;
	if (!record) {
		error = bpf_map_update_elem(&repeats, &key, &fresh, BPF_NOEXIST);
		/*
		 * Another thread may have been faster; in an LRU map no other error is possible
		 * except for lack of memory.
		 */
		if (error && error != -17 /* EEXIST */)
			lose(LOSS_NO_MEMORY);
		return 0;
	}
	__sync_fetch_and_add(&record->copies, 1);
	record->version = fresh.version;
	record->row = fresh.row;
	return 0;
}

/* A copy or set has returned. */
__noinline int profile_copy(u32 slot, const struct call *call, s32 result)
{
	struct process_profile *profile = process_profile_at(slot);
	const volatile struct function_desc *function;

	if (!config.profile)
		return 0;
	if (!profile || !call || call->arg[COPY_FLAGS] & TALLY_CAPTURED)
		return 0;
	function = function_at(call->row);
	if (!function)
		return 0;
	if (!result)
		note_copy_size(slot, call, function->flags & FUNCTION_ASYNC ? 1 : 0);
	if (result || !call->from) {
		note_use(profile, true);
		return 0;
	}
	note_range(slot, profile, call);
	/*
	 * The copy changes what later copies read from the device, or uses what earlier ones wrote
	 * there.
	 */
	__sync_fetch_and_add(
		call->kind == COPY_H2D ? &profile->device_changes : &profile->device_uses, 1);
	return 0;
}

#endif
