// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Results that are used without a wait that covers them, as far as calls show it: waits for events
 * that were never recorded, streams destroyed with work, pinned memory that is freed, or left at
 * process end, while a copy to it is in flight.
 *
 * Work counts as waited for if it may have been covered in any way: by a wait, by an event or host
 * function after it (who observes those is unknown), by a blocking free, or by the mutual order of
 * the legacy default stream and the blocking streams.
 */
#ifndef BPF_PROFILE_MISSING_BPF_H
#define BPF_PROFILE_MISSING_BPF_H

#include "profile/outstanding.bpf.h"
#include "memory/memory.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct target_key);
	__type(value, struct target_record);
} copy_targets SEC(".maps");

/* --- events --- */

/*
 * An event is recorded. Earlier waits for it were no mistake: a program that cycles through several
 * events also waits for each before its first use.
 */
__noinline int note_recorded(u32 slot, u64 event)
{
	struct process_profile *process = process_profile_at(slot);
	struct object_record *object = event_object(slot, event);
	u64 waits, queries;

	if (!process || !object || object->flags & OBJECT_RECORDED)
		return 0;
	object->flags |= OBJECT_RECORDED;
	waits = __sync_lock_test_and_set(&object->waits, 0);
	queries = __sync_lock_test_and_set(&object->queries, 0);
	if (waits)
		__sync_fetch_and_add(&process->unrecorded_waits, -waits);
	if (queries)
		__sync_fetch_and_add(&process->unrecorded_queries, -queries);
	return 0;
}

/* An event was waited for, or queried. Returns whether it was created but never recorded. */
__noinline int note_unrecorded(u32 slot, u64 event, u32 query)
{
	struct process_profile *process = process_profile_at(slot);
	struct object_record *object = event_object(slot, event);

	if (!process || process->events_elsewhere || !object || object->row == ROW_NONE ||
	    object->flags & (OBJECT_RECORDED | OBJECT_ELSEWHERE) ||
	    is_gone(slot, object->context, object->start_ns))
		return 0;
	__sync_fetch_and_add(query ? &object->queries : &object->waits, 1);
	__sync_fetch_and_add(query ? &process->unrecorded_queries : &process->unrecorded_waits, 1);
	return 1;
}

/* --- call sites --- */

/*
 * Index of the site's entry, newly taken if needed; MISSING_SITES: there is no room. Global: the
 * verifier does not follow the result once per entry.
 */
__noinline u32 missing_site_of(struct process_profile *process, u32 row, u64 stack)
{
	if (!process)
		return MISSING_SITES;
	for (u32 i = 0; i < MISSING_SITES; i++) {
		struct missing_site *site = &process->missing_sites[i];

		if (!site->used && !__sync_val_compare_and_swap(&site->used, 0, 1)) {
			site->row = row;
			site->stack = stack;
			__sync_lock_test_and_set(&site->used, MISSING_SITE_READY);
		}
		if (*(volatile u32 *)&site->used == MISSING_SITE_READY && site->row == row &&
		    site->stack == stack)
			return i;
	}
	return MISSING_SITES;
}

/* Counts a call of one of the four kinds at its call site. */
__noinline int note_missing_site(struct process_profile *process, const struct call *call,
				 u64 stack)
{
	struct missing_site *site;
	u64 number;
	u32 at;

	if (!process || !call)
		return 0;
	number = __sync_fetch_and_add(&process->missing_calls, 1) + 1;
	process->missing_row = call->row;
	process->missing_stack = stack;
	at = missing_site_of(process, call->row, stack);
	if (at >= MISSING_SITES)
		return 0;
	site = &process->missing_sites[at & (MISSING_SITES - 1)];
	__sync_fetch_and_add(&site->calls, 1);
	if (call->operation == OP_FREE)
		__sync_fetch_and_add(&site->bytes, call->noted);
	site->number = number;
	return 0;
}

/* --- work that is finished although no wait covered it --- */

static __always_inline struct context_record *context_to_note(u32 slot, u64 context)
{
	struct context_key key = {.context = context, .slot = slot};
	struct context_record *record = bpf_map_lookup_elem(&contexts, &key),
			      fresh = {.device = DEVICE_UNKNOWN};
	int error;

	if (record)
		return record;
	error = bpf_map_update_elem(&contexts, &key, &fresh, BPF_NOEXIST);
	record = bpf_map_lookup_elem(&contexts, &key);
	if (!record)
		lose_update(error, LOSS_CONTEXT_MAP_FULL);
	return record;
}

/*
 * Everything of earlier epochs on the stream is finished: derives what this proves of other
 * streams. Global: the verifier goes through it once.
 */
__noinline int note_covered(struct thread *thread, const struct stream_key *at, u64 epoch)
{
	struct context_record *context;
	struct stream_record *stream;
	struct stream_key key;
	u64 worked;

	if (!thread || !at)
		return 0;
	key = *at;
	if (key.stream == STREAM_LEGACY) {
		context = context_to_note(key.slot, key.scope);
		if (context)
			raise_epoch(&context->blocking_epoch, epoch);
		return 0;
	}
	stream = bpf_map_lookup_elem(&streams, &key);
	if (!stream || !stream->worked || !is_blocking_stream(key.slot, key.stream, true))
		return 0;
	/* Covers the legacy stream's work that came before this stream's latest. */
	worked = stream->worked + 1;
	context = context_to_note(key.slot, stream->context);
	if (context)
		raise_epoch(&context->legacy_epoch, worked < epoch ? worked : epoch);
	return 0;
}

/*
 * A free blocked, or an event was recorded after everything: all earlier work counts as finished.
 */
static __noinline int note_all_done(struct thread *thread)
{
	struct context_record *context = context_to_note(thread->slot, current_context(thread));

	if (context)
		raise_epoch(&context->all_epoch, next_epoch(thread->slot));
	return 0;
}

/* An epoch before which all work of the stream has been waited for in some way. */
static __noinline u64 handled_epoch(const struct stream_key *at, const struct stream_record *stream)
{
	struct context_key key = {};
	const struct context_record *context;
	u64 epoch;

	if (!at || !stream)
		return 0;
	key.context = stream->context;
	key.slot = at->slot;
	epoch = stream->covered > stream->recorded ? stream->covered : stream->recorded;
	context = bpf_map_lookup_elem(&contexts, &key);
	if (!context)
		return epoch;
	if (context->covered > epoch)
		epoch = context->covered;
	if (context->died_epoch > epoch)
		epoch = context->died_epoch;
	if (context->all_epoch > epoch)
		epoch = context->all_epoch;
	if (at->stream == STREAM_LEGACY && context->legacy_epoch > epoch)
		epoch = context->legacy_epoch;
	if (context->blocking_epoch > epoch && is_blocking_stream(at->slot, at->stream, true))
		epoch = context->blocking_epoch;
	return epoch;
}

/* --- streams --- */

/* An event or a host function follows the stream's work of epochs before `epoch`. */
static __noinline int note_followed(const struct stream_key *at, u64 epoch)
{
	struct stream_record *stream = bpf_map_lookup_elem(&streams, at);

	if (stream)
		raise_epoch(&stream->recorded, epoch);
	return 0;
}

/* Whether the stream, about to be destroyed, has work that was never waited for. */
__noinline int ends_with_work(u32 slot, u64 handle)
{
	struct stream_key key = {.slot = slot, .stream = handle};
	const struct stream_record *stream = bpf_map_lookup_elem(&streams, &key);

	return stream && stream->worked && stream->worked >= handled_epoch(&key, stream);
}

/* --- pinned memory --- */

/* Start of the pinned allocation that contains the address; 0: none. */
__noinline u64 pinned_begin(u32 slot, u64 address)
{
	struct allocation_key key = {.address = address, .slot = slot, .space = SPACE_ADDRESS};
	const struct allocation_record *record = bpf_map_lookup_elem(&allocations, &key);
	const struct process_record *process = process_at(slot);
	struct range_search search = {.address = address, .slot = slot};

	if (!config.profile)
		return 0;
	if (record && is_host_kind(record->kind))
		return address;
	if (!process)
		return 0;
	search.levels = process->host_levels;
	find_range(&search);
	return search.found && is_host_kind(search.kind) ? search.begins : 0;
}

static __always_inline bool is_uncovered(const struct target_record *target)
{
	struct stream_key key = target->stream;
	const struct stream_record *stream = bpf_map_lookup_elem(&streams, &key);

	return stream && target->epoch >= handled_epoch(&key, stream);
}

/* An asynchronous copy to pinned memory has been put on the stream. */
static __noinline int note_target(const struct stream_key *at, u64 address, u64 bytes)
{
	const struct process_record *process = process_at(at->slot);
	struct target_key key = {.slot = at->slot};
	struct target_record fresh = {}, *target;
	int error;

	key.address = pinned_begin(at->slot, address);
	if (!process || !key.address)
		return 0;
	fresh.stream = *at;
	fresh.epoch = process->epoch + 1;
	fresh.calls = 1;
	fresh.bytes = bytes;
	target = bpf_map_lookup_elem(&copy_targets, &key);
	if (target && is_uncovered(target)) {
		fresh.calls += target->calls;
		fresh.bytes = sum_of(fresh.bytes, target->bytes);
	}
	error = bpf_map_update_elem(&copy_targets, &key, &fresh, BPF_ANY);
	if (error)
		lose_update(error, LOSS_TARGET_MAP_FULL);
	return 0;
}

/* The memory is being freed. Returns the bytes of uncovered copies to it. */
__noinline u64 target_goes(u32 slot, u64 address)
{
	struct target_key key = {.address = address, .slot = slot};
	const struct target_record *target = bpf_map_lookup_elem(&copy_targets, &key);
	u64 bytes;

	if (!target)
		return 0;
	bytes = is_uncovered(target) ? target->bytes : 0;
	bpf_map_delete_elem(&copy_targets, &key);
	return bytes;
}

/* --- the end of a process --- */

struct bpf_map;

struct targets_left {
	u32 slot;
	u32 counts; /* 0: only delete them */
	u64 calls, bytes;
};

static long leave_target(struct bpf_map *map __attribute__((unused)), struct target_key *key,
			 struct target_record *target, struct targets_left *left)
{
	struct target_key at = *key;

	if (at.slot != left->slot)
		return 0;
	if (left->counts && is_uncovered(target)) {
		left->calls += target->calls;
		left->bytes = sum_of(left->bytes, target->bytes);
	}
	bpf_map_delete_elem(&copy_targets, &at);
	return 0;
}

/*
 * The process ends. If it was killed or reports failure, it has no use for the results of pending
 * copies.
 */
__noinline int note_targets_left(u32 slot, u32 exit_code)
{
	struct process_profile *profile = process_profile_at(slot);
	const struct process_record *process = process_at(slot);
	struct targets_left left = {.slot = slot};

	if (!profile || !process)
		return 0;
	left.counts = !exit_code && !process->sticky_code;
	bpf_for_each_map_elem(&copy_targets, leave_target, &left, 0);
	/* If two threads both see themselves as the last, the other one has counted them. */
	if (!left.calls)
		return 0;
	profile->exit_copies = left.calls;
	profile->exit_bytes = left.bytes;
	return 0;
}

#endif
