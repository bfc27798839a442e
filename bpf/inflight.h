// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asynchronous copies that no wait has covered yet; the scheme is told at
 * struct stream_record in gpuprobe/state.h.
 */
#ifndef BPF_INFLIGHT_H
#define BPF_INFLIGHT_H

#include "call.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct stream_key);
	__type(value, struct stream_record);
} streams SEC(".maps");

/* A fresh stream record, to insert from: too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stream_record);
} empty_stream SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct event_key);
	__type(value, struct event_record);
} events SEC(".maps");

#define LOCK_TRIES 64

/* The stream that `handle` means to this thread: the special ones by context or thread. */
static __always_inline struct stream_key stream_key_of(const struct thread *thread,
						       const volatile struct function_desc *function, u64 handle)
{
	struct stream_key key = {.slot = thread->slot, .stream = handle};

	if (handle > STREAM_PER_THREAD)
		return key;
	if (handle == STREAM_PER_THREAD || (!handle && function->flags & FUNCTION_PER_THREAD)) {
		key.stream = STREAM_PER_THREAD;
		key.scope = (u32)bpf_get_current_pid_tgid();
	} else {
		key.stream = STREAM_LEGACY;
		key.scope = current_context(thread);
	}
	return key;
}

/* Below which epoch the stream's copies are done. */
static __always_inline u64 covered_epoch(const struct stream_record *stream, u32 slot)
{
	struct context_key key = {.context = stream->context, .slot = slot};
	struct context_record *context = bpf_map_lookup_elem(&contexts, &key);
	u64 covered = stream->covered;

	return context && context->covered > covered ? context->covered : covered;
}

/* The segment for copies of `epoch`; the caller holds the lock. */
static __always_inline struct stream_segment *segment_for(struct stream_record *stream, u64 epoch, u64 covered)
{
	struct stream_segment *segment = &stream->segments[stream->head % SEGMENTS];
	struct stream_segment *next;

	if (segment->epoch == epoch && epoch >= covered)
		return segment;
	next = &stream->segments[(stream->head + 1) % SEGMENTS];
	if (segment->epoch < covered)
		next = segment;
	else if (next->epoch && next->epoch >= covered) {
		/* All in use: hold the latest to be in flight longer. */
		segment->epoch = epoch;
		return segment;
	} else {
		stream->head++;
	}
	for (int kind = 0; kind < COPY_KINDS; kind++) {
		next->calls[kind] = 0;
		next->bytes[kind] = 0;
		next->oldest_ns[kind] = 0;
	}
	next->epoch = epoch;
	return next;
}

static __always_inline struct stream_record *stream_record_of(const struct thread *thread,
							      const struct stream_key *key)
{
	struct stream_record *stream = bpf_map_lookup_elem(&streams, key), *empty;
	u32 zero = 0;
	long error;

	if (stream)
		return stream;
	empty = bpf_map_lookup_elem(&empty_stream, &zero);
	if (!empty)
		return NULL;
	error = bpf_map_update_elem(&streams, key, empty, BPF_NOEXIST);
	stream = bpf_map_lookup_elem(&streams, key);
	if (!stream)
		lose_update(error, LOSS_INFLIGHT_MAP_FULL);
	else if (!error)
		stream->context = current_context(thread);
	return stream;
}

static __always_inline bool lock_stream(struct stream_record *stream)
{
	for (int i = 0; i < LOCK_TRIES; i++)
		if (!__sync_val_compare_and_swap(&stream->lock, 0, 1))
			return true;
	return false;
}

/* Adds an asynchronous copy that has just been issued. */
static __always_inline void inflight_add(const struct thread *thread, const struct stream_key *key, u8 kind,
					 u64 bytes, u64 issued_ns)
{
	struct process_record *process = process_at(thread->slot);
	struct stream_record *stream;
	struct stream_segment *segment;

	if (!process || kind >= COPY_KINDS)
		return;
	stream = stream_record_of(thread, key);
	if (!stream)
		return;
	if (!lock_stream(stream)) {
		lose(LOSS_INFLIGHT_BUSY);
		return;
	}
	/* Epochs begin at 1, so that 0 marks a segment never used. */
	segment = segment_for(stream, process->epoch + 1, covered_epoch(stream, thread->slot));
	if (!segment->calls[kind])
		segment->oldest_ns[kind] = issued_ns;
	segment->calls[kind]++;
	segment->bytes[kind] += bytes;
	__sync_lock_test_and_set(&stream->lock, 0);
}

/* Begins a new epoch: what is issued before this moment is of an earlier one. */
static __always_inline u64 next_epoch(u32 slot)
{
	struct process_record *process = process_at(slot);

	return process ? __sync_fetch_and_add(&process->epoch, 1) + 2 : 0;
}

static __always_inline void raise_covered(u64 *covered, u64 epoch)
{
	if (epoch > *covered)
		*covered = epoch;
}

/* All that the stream was given before `epoch` began is done. */
static __always_inline void cover_stream(const struct stream_key *key, u64 epoch)
{
	struct stream_record *stream = bpf_map_lookup_elem(&streams, key);

	if (stream)
		raise_covered(&stream->covered, epoch);
}

static __always_inline void cover_context(u32 slot, u64 context, u64 epoch)
{
	struct context_key key = {.context = context, .slot = slot};
	struct context_record *record = bpf_map_lookup_elem(&contexts, &key);
	struct context_record fresh = {.covered = epoch, .device = DEVICE_UNKNOWN};
	long error;

	if (record) {
		raise_covered(&record->covered, epoch);
		return;
	}
	error = bpf_map_update_elem(&contexts, &key, &fresh, BPF_ANY);
	if (error)
		lose_update(error, LOSS_CONTEXT_MAP_FULL);
}

#endif
