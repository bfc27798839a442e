// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Work that no wait has covered: for each device the streams that have some, and the threads inside
 * a call that may submit some. While there is neither, the device is idle as far as this process is
 * concerned.
 *
 * A stream is in its device's list from its first work on. It leaves the list when a proof is
 * examined and all its work is of an earlier epoch than the covered one, by waits for it, for its
 * context, or for a stream that is ordered after it (wait/order.bpf.h). In doubt a device is not
 * idle: a missed idle time is harmless, a false one is not.
 */
#ifndef BPF_PROFILE_OUTSTANDING_BPF_H
#define BPF_PROFILE_OUTSTANDING_BPF_H

#include "profile/profile.bpf.h"
#include "profile/stream.bpf.h"

#define UNKNOWN_QUEUE (PROFILE_DEVICES - 1)
#define NO_SUBMISSION (~0ull)
#define HEAVY_WORK (~0ull)

static __always_inline u32 queue_of(u8 device)
{
	return device < UNKNOWN_QUEUE ? device : UNKNOWN_QUEUE;
}

static __always_inline struct device_queue *queue_at(struct process_profile *process, u32 number)
{
	/*
	 * The compiler knows that the index is in range and drops the check, but the verifier needs
	 * it.
	 */
	barrier_var(number);
	if (number >= PROFILE_DEVICES)
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
	case OP_HOST_FUNCTION: return true;
	default: return false;
	}
}

/* From now on the process's work on its devices is unknown. */
static __always_inline void lose_sight(u32 slot)
{
	struct process_profile *process = process_profile_at(slot);

	if (process && !process->unproven)
		process->unproven = 1;
}

/* A call is not recorded: it is nested in the same act, or too deep. */
static __always_inline void lose_sight_too_deep(const struct thread *thread)
{
	if (config.profile && thread->depth >= CALL_DEPTH)
		lose_sight(thread->slot);
}

static __always_inline struct thread_profile *submitter_at(const struct process_profile *process,
							   u32 index)
{
	u32 number = process->submitters[index & (SUBMITTERS - 1)] - 1;

	return bpf_map_lookup_elem(&thread_accounts, &number);
}

/* Whether the list's index `i` is free. Global: the verifier goes through it once. */
__noinline int is_free_index(const struct process_profile *process, u32 i, u32 slot)
{
	const struct thread_profile *other;

	if (!process || i >= process->submitter_count)
		return true;
	other = submitter_at(process, i);
	return !other || other->slot != slot || other->ended_ns || !other->submits;
}

/*
 * A free index in the list, maybe of a thread that has ended; SUBMITTERS: none. The caller holds
 * the lock.
 */
__noinline u32 index_for_submitter(const struct process_profile *process, u32 slot)
{
	if (!process)
		return SUBMITTERS;
	for (u32 i = 0; i < SUBMITTERS; i++)
		if (is_free_index(process, i, slot))
			return i;
	return SUBMITTERS;
}

/*
 * Adds the thread to the list; if that is full, the queues prove nothing any more. Returns false if
 * another thread holds the list.
 */
static __always_inline bool list_submitter(const struct thread *thread,
					   struct process_profile *process)
{
	u32 index;

	if (!lock_word(&process->submitter_lock))
		return false;
	index = index_for_submitter(process, thread->slot);
	if (index < SUBMITTERS) {
		process->submitters[index & (SUBMITTERS - 1)] = thread->counter_slot;
		if (index >= process->submitter_count)
			process->submitter_count = index + 1;
	}
	unlock_word(&process->submitter_lock);
	if (index >= SUBMITTERS)
		lose_sight(thread->slot);
	return true;
}

/* No proof is valid until the thread is in the list. */
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

/*
 * The call has returned and its work is noted, or it is gone. The outermost one ends the
 * submission.
 */
static __always_inline void end_submission(struct thread_profile *profile, const struct call *call)
{
	if (profile && profile->submitting_ns == call->start_ns)
		*(volatile u64 *)&profile->submitting_ns = 0;
}

/*
 * The earlier one of `earliest` and the start of the submission in progress in the listed thread
 * `i`, unless that is that of `own_counter_slot`. Global: the verifier goes through it once.
 */
__noinline u64 earlier_submission(const struct process_profile *process, u32 i, u32 slot,
				  u32 own_counter_slot, u64 earliest)
{
	const struct thread_profile *other;
	u64 began;

	if (!process)
		return earliest;
	other = submitter_at(process, i);
	if (!other || other->slot != slot ||
	    process->submitters[i & (SUBMITTERS - 1)] == own_counter_slot)
		return earliest;
	began = *(volatile const u64 *)&other->submitting_ns;
	return began && began < earliest ? began : earliest;
}

/*
 * Start of the earliest submission in progress in other threads of the process; NO_SUBMISSION:
 * none.
 */
__noinline u64 earliest_submission(const struct process_profile *process, u32 slot,
				   u32 own_counter_slot)
{
	u64 earliest = NO_SUBMISSION;

	if (!process)
		return 0;
	for (u32 i = 0; i < SUBMITTERS; i++) {
		if (i >= process->submitter_count)
			break;
		earliest = earlier_submission(process, i, slot, own_counter_slot, earliest);
	}
	return earliest;
}

/* --- streams with work --- */

/* Records work that no listed stream represents. */
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
	queue->streams[count & (QUEUE_STREAMS - 1)] =
		(struct queue_stream){.stream = stream, .scope = scope};
	queue->stream_count = count + 1;
	return true;
}

/*
 * For work that nobody waits for, on a stream that is no longer used: libraries clear their
 * workspaces this way. If a device has only copies and sets, they are assumed finished after a
 * tenth of a second plus a nanosecond per byte.
 */
#define ALONE_NS 100000000ull

/* State of a stream; ORed together for several */
#define STREAM_IS_DONE 0
#define STREAM_HAS_COPIES 1 /* copies or sets, and nothing else */
#define STREAM_HAS_WORK 2
#define STREAM_IS_LOST 4 /* it has ended, or had no room: its state is unknown */

/* A wait for an unknown context may be for another device. */
static __always_inline u64 done_epoch(const struct stream_record *record, u32 slot, u64 stream,
				      u32 one_device)
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

/*
 * The device has only copies and sets that nobody waits for. Returns whether the stream's are
 * assumed finished by now.
 */
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

/* The last entry takes its place, so loops go through the list from the end. */
static __always_inline void unlist_stream(struct device_queue *queue, u32 number)
{
	queue->stream_count--;
	queue->streams[number & (QUEUE_STREAMS - 1)] =
		queue->streams[queue->stream_count & (QUEUE_STREAMS - 1)];
}

/*
 * Global, as the next function: the verifier goes through it once, not in each round of the loop
 * that calls it.
 */
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

/*
 * Removes the streams from the list whose work is finished. Returns how many are left. The caller
 * holds the lock.
 */
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

/*
 * The stream was given work: copies or sets of `bytes` bytes, or HEAVY_WORK. Returns whether the
 * stream's record holds it.
 */
static __always_inline bool note_stream_work(struct thread *thread, u64 id, u64 bytes)
{
	u64 epoch = work_epoch(thread->slot);
	struct stream_key key = stream_key_of_id(thread, id);
	struct stream_record *stream = stream_record_of(thread, &key);

	if (!stream)
		return false;
	/* It has work in two contexts at once: no wait covers both. */
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
 * The stream ends, or may end: its work can no longer be tracked by stream. A new epoch begins, so
 * that launches on a later stream with the same handle are not taken for more of the same.
 */
__noinline int loosen_stream(u32 slot, u64 handle)
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
	/* It may be in either list. */
	queue = queue_at(process, queue_of(record->device));
	if (queue)
		loosen_queue(queue, worked);
	queue = queue_at(process, UNKNOWN_QUEUE);
	if (queue && queue->launched_epoch)
		loosen_queue(queue, worked);
	return 0;
}

#endif
