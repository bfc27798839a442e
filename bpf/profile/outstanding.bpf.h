// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Work that no wait has covered: of each device the streams that have some, and the threads that are inside a call
 * that may submit some. While there is neither, the device is idle as far as the process goes.
 *
 * A stream is in the list of its device from its first work on. It leaves the list when a proof is looked at and all of its work
 * is of an earlier epoch than what is covered, by waits for it, for its context, or for what is behind it (wait/order.bpf.h).
 * What cannot be told keeps the device from being idle: an idle time that is missed is no harm, one that was none is.
 */
#ifndef BPF_PROFILE_OUTSTANDING_BPF_H
#define BPF_PROFILE_OUTSTANDING_BPF_H

#include "profile/profile.bpf.h"
#include "profile/stream.bpf.h"

#define UNKNOWN_QUEUE (ACCOUNT_DEVICES - 1)
#define NO_SUBMISSION (~0ull)
#define HEAVY_WORK (~0ull)

static __always_inline u32 queue_of(u8 device)
{
	return device < UNKNOWN_QUEUE ? device : UNKNOWN_QUEUE;
}

static __always_inline struct device_queue *queue_at(struct process_profile *process, u32 number)
{
	/* The compiler knows that it is, and leaves the check out, but the verifier does not. */
	barrier_var(number);
	if (number >= ACCOUNT_DEVICES)
		return NULL;
	return &process->queues[number];
}

/* --- threads inside a submission --- */

/* Calls that may put work on a device. */
static __always_inline bool may_submit(u8 operation)
{
	switch (operation) {
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_LAUNCH_LIST:
	case OP_COPY:
	case OP_SET:
	case OP_HOST_FUNCTION:
		return true;
	default:
		return false;
	}
}

/* From now on nobody knows what the process has on its devices. */
static __always_inline void lose_sight(u32 slot)
{
	struct process_profile *process = process_profile_at(slot);

	if (process && !process->unproven)
		process->unproven = 1;
}

/* A call is not on record: nested in the same act, or too deep. */
static __always_inline void lose_sight_too_deep(const struct thread *thread)
{
	if (config.profile && thread->depth >= CALL_DEPTH)
		lose_sight(thread->slot);
}

static __always_inline struct thread_profile *submitter_at(const struct process_profile *process, u32 index)
{
	u32 number = process->submitters[index & (SUBMITTERS - 1)] - 1;

	return bpf_map_lookup_elem(&thread_accounts, &number);
}

/* A place in the list, which may be that of a thread that has ended; SUBMITTERS: there is none. The caller holds the lock. */
__noinline u32 place_for_submitter(const struct process_profile *process, u32 slot)
{
	const struct thread_profile *other;

	if (!process)
		return SUBMITTERS;
	for (u32 i = 0; i < SUBMITTERS; i++) {
		if (i >= process->submitter_count)
			return i;
		other = submitter_at(process, i);
		if (!other || other->slot != slot || other->ended_ns || !other->submits)
			return i;
	}
	return SUBMITTERS;
}

/* Returns whether the thread is in the list now. */
static __always_inline bool list_submitter(const struct thread *thread, struct process_profile *process)
{
	u32 place;

	if (!lock_word(&process->submitter_lock))
		return false;
	place = place_for_submitter(process, thread->slot);
	if (place < SUBMITTERS) {
		process->submitters[place & (SUBMITTERS - 1)] = thread->place;
		if (place >= process->submitter_count)
			process->submitter_count = place + 1;
	}
	unlock_word(&process->submitter_lock);
	if (place >= SUBMITTERS)
		lose_sight(thread->slot);
	return true;
}

/* Nothing is proved until the thread is in the list. */
__noinline int add_submitter(struct thread *thread)
{
	struct process_profile *process = thread ? process_profile_at(thread->slot) : NULL;
	struct thread_profile *profile = process ? profile_of(thread) : NULL;
	bool waited;

	if (!profile)
		return 0;
	waited = profile->submits == SUBMITTER_WAITS;
	if (!waited)
		__sync_fetch_and_add(&process->unlisted_submitters, 1);
	profile->submits = SUBMITTER_WAITS;
	if (!list_submitter(thread, process))
		return 0;
	profile->submits = SUBMITTER_LISTED;
	__sync_fetch_and_add(&process->unlisted_submitters, -1);
	return 0;
}

/* A call that may submit work has entered, and its return is followed. */
static __always_inline void begin_submission(struct thread *thread, const struct call *call)
{
	struct thread_profile *profile = profile_of(thread);

	if (!profile) {
		lose_sight(thread->slot);
		return;
	}
	if (profile->submits != SUBMITTER_LISTED)
		add_submitter(thread);
	if (!profile->submitting_ns)
		*(volatile u64 *)&profile->submitting_ns = call->start_ns;
}

/* It has returned, and what it has submitted is noted, or it is gone. The outermost ends it. */
static __always_inline void end_submission(struct thread_profile *profile, const struct call *call)
{
	if (profile && profile->submitting_ns == call->start_ns)
		*(volatile u64 *)&profile->submitting_ns = 0;
}

/* When the first of the submissions began in which other threads of the process are; NO_SUBMISSION: they are in none. */
__noinline u64 earliest_submission(const struct process_profile *process, u32 slot, u32 own_place)
{
	u64 earliest = NO_SUBMISSION, began;
	const struct thread_profile *other;

	if (!process)
		return 0;
	for (u32 i = 0; i < SUBMITTERS; i++) {
		if (i >= process->submitter_count)
			break;
		other = submitter_at(process, i);
		if (!other || other->slot != slot || process->submitters[i & (SUBMITTERS - 1)] == own_place)
			continue;
		began = *(volatile const u64 *)&other->submitting_ns;
		if (began && began < earliest)
			earliest = began;
	}
	return earliest;
}

/* --- streams with work --- */

/* Work that no listed stream stands for. */
static __always_inline void loosen_queue(struct device_queue *queue, u64 epoch)
{
	raise_max(&queue->loose_epoch, epoch);
	__sync_lock_test_and_set(&queue->idle_since_ns, 0);
}

/* The caller holds the lock. Returns whether the stream is in the list now. */
__noinline bool list_stream(struct device_queue *queue, u64 stream, u64 scope)
{
	u32 count;

	if (!queue)
		return false;
	count = queue->stream_count;
	for (u32 i = 0; i < QUEUE_STREAMS; i++) {
		if (i >= count)
			break;
		if (queue->streams[i].stream == stream && queue->streams[i].scope == scope)
			return true;
	}
	if (count >= QUEUE_STREAMS)
		return false;
	barrier_var(count);
	queue->streams[count & (QUEUE_STREAMS - 1)] = (struct queue_stream){.stream = stream, .scope = scope};
	queue->stream_count = count + 1;
	return true;
}

/*
 * What nobody waits for, on a stream that nobody uses any more: libraries clear their workspaces so. Copies and sets that are
 * all that a device has to do are done before long: a tenth of a second, and a nanosecond for each byte.
 */
#define ALONE_NS 100000000ull

/* What a stream has; together, what several have */
#define STREAM_IS_DONE 0
#define STREAM_HAS_COPIES 1 /* or sets, and nothing else */
#define STREAM_HAS_WORK 2
#define STREAM_IS_LOST 4 /* it has ended, or had no room: nobody knows */

/* Waits for a context that is not known may be for another device's. */
static __always_inline u64 done_epoch(const struct stream_record *record, u32 slot, u64 stream, u32 one_device)
{
	struct coverage coverage;

	if (!record->context && !one_device)
		return stream == STREAM_LEGACY ? 0 : record->covered;
	coverage = coverage_of(record, slot);
	return coverage.dead > coverage.epoch ? coverage.dead : coverage.epoch;
}

static __always_inline u32 work_of_stream(u32 slot, u64 stream, u64 scope, u32 one_device)
{
	struct stream_key key = {.stream = stream, .scope = scope, .slot = slot};
	struct stream_record *record = bpf_map_lookup_elem(&streams, &key);
	u64 done;

	if (!record || record->context == CONTEXT_SEVERAL)
		return STREAM_IS_LOST;
	done = done_epoch(record, slot, stream, one_device);
	if (record->worked >= done)
		return record->heavy < done ? STREAM_HAS_COPIES : STREAM_HAS_WORK;
	record->light_bytes = 0;
	return STREAM_IS_DONE;
}

/* The device has nothing but copies and sets that nobody waits for: whether the stream's are done by now. */
static __always_inline bool is_alone_long(u32 slot, u64 stream, u64 scope, u64 ns)
{
	struct stream_key key = {.stream = stream, .scope = scope, .slot = slot};
	struct stream_record *record = bpf_map_lookup_elem(&streams, &key);

	if (!record)
		return false;
	if (record->alone_ns <= record->worked_ns)
		record->alone_ns = ns;
	if (ns - record->alone_ns < sum_of(ALONE_NS, record->light_bytes))
		return false;
	record->light_bytes = 0;
	return true;
}

/* The last takes its place: who goes through the list begins there. */
static __always_inline void unlist_stream(struct device_queue *queue, u32 number)
{
	queue->stream_count--;
	queue->streams[number & (QUEUE_STREAMS - 1)] = queue->streams[queue->stream_count & (QUEUE_STREAMS - 1)];
}

/* Global, as the next: the verifier goes through it once, not in each round of the loop that calls it. */
__noinline u32 look_at_stream(struct device_queue *queue, u32 number, u32 slot, u32 one_device)
{
	const struct queue_stream *at;
	u32 work;

	if (!queue || number >= queue->stream_count)
		return STREAM_IS_DONE;
	at = &queue->streams[number & (QUEUE_STREAMS - 1)];
	work = work_of_stream(slot, at->stream, at->scope, one_device);
	if (work == STREAM_IS_LOST || work == STREAM_IS_DONE)
		unlist_stream(queue, number);
	return work;
}

__noinline int look_at_copies(struct device_queue *queue, u32 number, u32 slot, u64 ns)
{
	const struct queue_stream *at;

	if (!queue || number >= queue->stream_count)
		return 0;
	at = &queue->streams[number & (QUEUE_STREAMS - 1)];
	if (is_alone_long(slot, at->stream, at->scope, ns))
		unlist_stream(queue, number);
	return 0;
}

/* Takes the streams off the list whose work is done. Returns how many are left. The caller holds the lock. */
__noinline u32 drop_done_streams(struct device_queue *queue, u32 slot, u32 one_device)
{
	u32 work = STREAM_IS_DONE, count;
	u64 ns;

	if (!queue)
		return 0;
	count = queue->stream_count;
	for (int i = QUEUE_STREAMS - 1; i >= 0; i--)
		if (i < (int)queue->stream_count)
			work |= look_at_stream(queue, i, slot, one_device);
	ns = now();
	for (int i = QUEUE_STREAMS - 1; i >= 0 && work == STREAM_HAS_COPIES; i--)
		look_at_copies(queue, i, slot, ns);
	if (queue->stream_count != count)
		raise_max(&queue->done_ns, ns);
	if (work & STREAM_IS_LOST)
		raise_max(&queue->loose_epoch, queue->launched_epoch);
	return queue->stream_count;
}

/* The stream was given work: copies or sets of so many bytes, or HEAVY_WORK. Returns whether it has a record that says so. */
static __always_inline bool note_stream_work(struct thread *thread, u64 id, u64 bytes)
{
	u64 epoch = work_epoch(thread->slot);
	struct stream_key key = stream_key_of_id(thread, id);
	struct stream_record *stream = stream_record_of(thread, &key);

	if (!stream)
		return false;
	/* In two contexts at a time: no wait covers both. */
	if (key.stream == STREAM_PER_THREAD && stream->context != current_context(thread))
		stream->context = CONTEXT_SEVERAL;
	raise_epoch(&stream->worked, epoch);
	if (bytes == HEAVY_WORK)
		raise_epoch(&stream->heavy, epoch);
	else
		add_to_sum(&stream->light_bytes, bytes);
	stream->worked_ns = now();
	return true;
}

/*
 * The stream ends, or may: what it was given is nobody's any more. A new epoch, so that launches onto one that has its handle
 * later are not taken for more of the same.
 */
static __noinline int loosen_stream(u32 slot, u64 handle)
{
	struct process_profile *process = process_profile_at(slot);
	struct stream_key key = {.slot = slot, .stream = handle};
	const struct stream_record *record = bpf_map_lookup_elem(&streams, &key);
	struct device_queue *queue;
	u64 worked;

	if (!process || !record || !record->worked)
		return 0;
	worked = record->worked;
	if (worked < done_epoch(record, slot, handle, false))
		return 0;
	next_epoch(slot);
	/* It may be in the list of either. */
	queue = queue_at(process, queue_of(record->device));
	if (queue)
		loosen_queue(queue, worked);
	queue = queue_at(process, UNKNOWN_QUEUE);
	if (queue && queue->launched_epoch)
		loosen_queue(queue, worked);
	return 0;
}

#endif
