// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Asynchronous copies that no wait has covered yet; struct stream_record in
 * gpuprobe/state/streams.h explains the scheme.
 *
 * A wait also gives a lower bound of the copies' speed: their bytes over the time from the issue of
 * a segment's oldest copy to the wait's end. Whoever next takes the stream's lock settles a segment
 * this way, once. Userspace adds the unsettled segments when it reads.
 */
#ifndef BPF_WAIT_INFLIGHT_BPF_H
#define BPF_WAIT_INFLIGHT_BPF_H

#include "object/live.bpf.h"
#include "core/sum.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct stream_key);
	__type(value, struct stream_record);
} streams SEC(".maps");

/* A zeroed stream record to insert, too large for the stack. */
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

/* Waits between streams, see wait/order.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct stream_key);
	__type(value, struct stream_orders);
} stream_orders SEC(".maps");

#define LOCK_TRIES 64
#define COVER_TRIES 64

/*
 * The stream that `handle` denotes in this thread; special streams depend on the context or thread.
 */
static __always_inline struct stream_key
stream_key_of(const struct thread *thread, const volatile struct function_desc *function,
	      u64 handle)
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

/*
 * Epochs up to which a stream's copies are finished, the time when that was proved, and the epoch
 * up to which copies ended with the context.
 */
struct coverage {
	u64 epoch, ns, dead;
};

static __always_inline struct coverage coverage_of(const struct stream_record *stream, u32 slot)
{
	struct context_key key = {.context = stream->context, .slot = slot};
	struct context_record *context = bpf_map_lookup_elem(&contexts, &key);
	struct coverage coverage = {.epoch = stream->covered, .ns = stream->covered_ns};

	if (!context)
		return coverage;
	coverage.dead = context->died_epoch;
	if (context->covered > coverage.epoch) {
		coverage.epoch = context->covered;
		coverage.ns = context->covered_ns;
	}
	if (stream->blocking && context->blocking_covered > coverage.epoch) {
		coverage.epoch = context->blocking_covered;
		coverage.ns = context->blocking_covered_ns;
	}
	return coverage;
}

static __always_inline void settle(u32 slot, const struct stream_record *stream, u8 kind, u64 calls,
				   u64 bytes, u64 ns)
{
	struct tally *tally = tally_of(slot, ROW_NONE, kind, TALLY_COVERED, stream->device);

	if (!tally)
		return;
	__sync_fetch_and_add(&tally->calls, calls);
	add_bytes(tally, bytes);
	__sync_fetch_and_add(&tally->ns, ns);
}

/* Empties a segment, and settles it if its copies are finished; the caller holds the lock. */
__noinline int clear_segment(struct stream_record *stream, u32 index, u32 slot, u64 covered_ns)
{
	struct stream_segment *segment;

	if (!stream)
		return 0;
	segment = &stream->segments[index % SEGMENTS];
	for (u32 kind = 0; kind < COPY_KINDS; kind++) {
		/* Not if a wait or another copy may have been missed. */
		if (segment->calls[kind] && covered_ns &&
		    !was_blind_since(segment->oldest_ns[kind], RATE_COPY, RATE_WAIT))
			settle(slot, stream, kind, segment->calls[kind], segment->bytes[kind],
			       covered_ns > segment->oldest_ns[kind] ?
				       covered_ns - segment->oldest_ns[kind] :
				       now() - segment->oldest_ns[kind]);
		segment->calls[kind] = 0;
		segment->bytes[kind] = 0;
		segment->oldest_ns[kind] = 0;
	}
	segment->epoch = 0;
	segment->after = 0;
	return 0;
}

/* Settles all finished segments; the caller holds the lock. */
__noinline int settle_stream(struct stream_record *stream, u32 slot)
{
	struct coverage coverage;

	if (!stream)
		return 0;
	coverage = coverage_of(stream, slot);
	for (u32 i = 0; i < SEGMENTS; i++) {
		u64 epoch = stream->segments[i].epoch;

		if (epoch && epoch < coverage.epoch)
			clear_segment(stream, i, slot, coverage.ns);
		else if (epoch && epoch < coverage.dead)
			clear_segment(stream, i, slot, 0);
	}
	return 0;
}

/* The segment for copies of `epoch`; the caller holds the lock and has settled the stream. */
static __always_inline struct stream_segment *segment_for(struct stream_record *stream, u64 epoch)
{
	struct stream_segment *segment = &stream->segments[stream->head % SEGMENTS];
	struct stream_segment *next;

	if (segment->epoch == epoch)
		return segment;
	next = &stream->segments[(stream->head + 1) % SEGMENTS];
	if (!segment->epoch)
		next = segment;
	else if (!next->epoch)
		stream->head++;
	else /* All are in use: its copies count as in flight for longer. */
		next = segment;
	next->epoch = epoch;
	return next;
}

/* From now on, examine what a wait for a stream proves of the other streams in `orders`. */
static __always_inline void look_at_orders(struct process_record *process, u32 orders)
{
	if ((process->orders & orders) != orders)
		__sync_fetch_and_or(&process->orders, orders);
}

/*
 * Whether the legacy default stream and the stream `handle`, which is `object`, wait for each
 * other.
 */
static __always_inline bool meets_legacy(u64 handle, const struct object_record *object)
{
	if (handle <= STREAM_PER_THREAD)
		return handle == STREAM_PER_THREAD;
	return object && object->row != ROW_NONE && !(object->flags & OBJECT_NON_BLOCKING);
}

/* The context and device of a stream: its own if its creation was seen, otherwise the thread's. */
static __always_inline void locate_stream(struct thread *thread, const struct stream_key *key,
					  struct stream_record *stream)
{
	const struct object_record *object = live_object(thread->slot, OBJECT_STREAM, key->stream);
	struct process_record *process = process_at(thread->slot);

	stream->context = object ? object->context : current_context(thread);
	stream->device = object ? object->device : current_device(thread);
	stream->blocking = meets_legacy(key->stream, object);
	if (process && key->stream == STREAM_LEGACY)
		look_at_orders(process, ORDERS_LEGACY);
	if (process && stream->blocking)
		look_at_orders(process, ORDERS_BLOCKING);
	/* Work on an earlier stream with this handle does not count for this one. */
	if (config.profile && process)
		stream->covered = process->epoch + 1;
}

static __always_inline struct stream_record *stream_record_of(struct thread *thread,
							      const struct stream_key *key)
{
	struct stream_record *stream = bpf_map_lookup_elem(&streams, key), *empty;
	u32 zero = 0;
	int error;

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
		locate_stream(thread, key, stream);
	return stream;
}

/* Returns whether the caller has the lock now. Global: the verifier goes through the tries once. */
__noinline int lock_word(u32 *lock)
{
	if (!lock)
		return false;
	for (int i = 0; i < LOCK_TRIES; i++)
		if (!__sync_val_compare_and_swap(lock, 0, 1))
			return true;
	return false;
}

static __always_inline void unlock_word(u32 *lock)
{
	__sync_lock_test_and_set(lock, 0);
}

#define CONTEXT_SEVERAL (~0ull) /* not the handle of any context */

/*
 * A per-thread stream now has work in another context: no wait for one context covers both. The
 * caller holds the lock.
 */
static __always_inline void move_stream(struct thread *thread, struct stream_record *stream)
{
	u64 epochs = 0;

	for (u32 i = 0; i < SEGMENTS; i++)
		epochs |= stream->segments[i].epoch;
	if (config.profile && stream->worked >= coverage_of(stream, thread->slot).epoch)
		epochs |= stream->worked;
	stream->context = epochs ? CONTEXT_SEVERAL : current_context(thread);
	stream->device = epochs ? DEVICE_UNKNOWN : current_device(thread);
}

static __always_inline void add_to_segment(struct stream_segment *segment, const struct call *call,
					   u64 bytes)
{
	u32 kind = call->kind;

	/* The verifier of Linux 6.1 has lost the earlier check by now. */
	barrier_var(kind);
	if (kind >= COPY_KINDS)
		return;
	if (!segment->calls[kind])
		segment->oldest_ns[kind] = call->start_ns;
	segment->calls[kind]++;
	segment->bytes[kind] = sum_of(segment->bytes[kind], bytes);
}

/* Adds an asynchronous copy that has just been issued; `after` was the epoch at its entry. */
__noinline int inflight_add(struct thread *thread, const struct stream_key *at,
			    const struct call *call, u64 bytes, u64 after)
{
	struct process_record *process;
	struct stream_key key;
	struct stream_record *stream;
	struct stream_segment *segment;

	if (!thread || !at || !call)
		return 0;
	key = *at; /* Linux 6.1 takes keys from the stack, not from a global function's argument */
	process = process_at(thread->slot);
	if (!process || call->kind >= COPY_KINDS)
		return 0;
	stream = stream_record_of(thread, &key);
	if (!stream)
		return 0;
	if (!lock_word(&stream->lock)) {
		lose(LOSS_INFLIGHT_BUSY);
		return 0;
	}
	settle_stream(stream, thread->slot);
	if (key.stream == STREAM_PER_THREAD && stream->context != current_context(thread))
		move_stream(thread, stream);
	/* Epochs begin at 1, so that 0 marks a segment never used. */
	segment = segment_for(stream, process->epoch + 1);
	add_to_segment(segment, call, bytes);
	if (segment->after < after)
		segment->after = after;
	unlock_word(&stream->lock);
	return 0;
}

/* The epoch of work issued now. Epochs begin at 1, so that 0 means none. */
static __always_inline u64 work_epoch(u32 slot)
{
	const struct process_record *process = process_at(slot);

	return process ? process->epoch + 1 : 0;
}

/* Begins a new epoch: work issued before this moment belongs to an earlier one. */
static __always_inline u64 next_epoch(u32 slot)
{
	struct process_record *process = process_at(slot);

	return process ? __sync_fetch_and_add(&process->epoch, 1) + 2 : 0;
}

/* Another thread has raised it since. Global: the verifier goes through it once. */
__noinline int raise_covered_again(u64 *covered, u64 *covered_ns, u64 epoch)
{
	for (u32 i = 0; i < COVER_TRIES && covered && covered_ns; i++) {
		u64 seen = *(volatile u64 *)covered;

		if (epoch <= seen)
			break;
		*(volatile u64 *)covered_ns = now();
		if (__sync_val_compare_and_swap(covered, seen, epoch) == seen)
			break;
	}
	return 0;
}

/*
 * The time is written first: a reader that sees the new epoch must not see an older wait's time.
 * The epoch never goes back when two waits end at once; otherwise copies covered by the later one
 * would be in flight again.
 */
static __always_inline void raise_covered(u64 *covered, u64 *covered_ns, u64 epoch)
{
	u64 seen = *(volatile u64 *)covered;

	if (epoch <= seen)
		return;
	*(volatile u64 *)covered_ns = now();
	if (__sync_val_compare_and_swap(covered, seen, epoch) != seen)
		raise_covered_again(covered, covered_ns, epoch);
}

/* Settles finished copies unless another thread holds the stream: then a later call does. */
static __always_inline void try_settle(struct stream_record *stream, u32 slot)
{
	if (__sync_val_compare_and_swap(&stream->lock, 0, 1))
		return;
	settle_stream(stream, slot);
	unlock_word(&stream->lock);
}

/*
 * All work of the stream from before `epoch` is finished, and only that is known. wait/order.bpf.h
 * derives what follows for other streams.
 */
__noinline int cover_stream(const struct stream_key *at, u64 epoch)
{
	struct stream_record *stream;
	struct stream_key key;

	if (!at)
		return 0;
	key = *at;
	stream = bpf_map_lookup_elem(&streams, &key);
	if (!stream)
		return 0;
	raise_covered(&stream->covered, &stream->covered_ns, epoch);
	try_settle(stream, key.slot);
	return 0;
}

/* Covers all streams of the context; each is settled when a thread next uses it. */
static __always_inline void cover_context(u32 slot, u64 context, u64 epoch)
{
	struct context_key key = {.context = context, .slot = slot};
	struct context_record *record = bpf_map_lookup_elem(&contexts, &key);
	struct context_record fresh = {.covered = epoch, .device = DEVICE_UNKNOWN};
	int error;

	if (record) {
		raise_covered(&record->covered, &record->covered_ns, epoch);
		return;
	}
	fresh.covered_ns = now();
	error = bpf_map_update_elem(&contexts, &key, &fresh, BPF_ANY);
	if (error)
		lose_update(error, LOSS_CONTEXT_MAP_FULL);
}

/* Drops what the stream waits for. */
static __always_inline void forget_orders(const struct stream_key *key)
{
	struct process_record *process = process_at(key->slot);

	if (process && process->orders & ORDERS_EVENTS && !bpf_map_delete_elem(&stream_orders, key))
		__sync_fetch_and_add(&process->order_count, -1);
}

static __always_inline void forget_context_orders(u32 slot, u64 context)
{
	struct stream_key key = {.stream = STREAM_LEGACY, .scope = context, .slot = slot};

	forget_orders(&key);
	key.stream = STREAM_CONTEXT;
	forget_orders(&key);
	key.stream = STREAM_BLOCKING;
	forget_orders(&key);
}

/* The stream, or the handle that the record belongs to, has ended. */
__noinline int drop_stream(const struct stream_key *at)
{
	struct stream_record *stream;
	struct stream_key key;

	if (!at)
		return 0;
	key = *at;
	forget_orders(&key);
	stream = bpf_map_lookup_elem(&streams, &key);
	if (!stream)
		return 0;
	try_settle(stream, key.slot);
	bpf_map_delete_elem(&streams, &key);
	return 0;
}

static __always_inline void forget_stream(u32 slot, u64 handle)
{
	struct stream_key key = {.slot = slot, .stream = handle};

	/* Special streams are not created and destroyed by handle. */
	if (handle > STREAM_PER_THREAD)
		drop_stream(&key);
}

static __always_inline void forget_event(u32 slot, u64 handle)
{
	struct event_key key = {.event = handle, .slot = slot};

	bpf_map_delete_elem(&events, &key);
}

static __always_inline struct object_record *event_object(u32 slot, u64 event)
{
	struct object_key key = {.handle = event, .slot = slot, .kind = OBJECT_EVENT};

	return bpf_map_lookup_elem(&objects, &key);
}

/* From now on the event may be recorded unseen: a wait for it proves nothing. */
__noinline int recorded_elsewhere(u32 slot, u64 event)
{
	struct object_record *object = event_object(slot, event);
	struct process_record *process = process_at(slot);

	if (!config.track_inflight)
		return 0;
	if (process)
		look_at_orders(process, ORDERS_ELSEWHERE);
	if (object)
		object->flags |= OBJECT_ELSEWHERE;
	forget_event(slot, event);
	return 0;
}

/* This includes events whose creation was missed. */
static __always_inline bool is_recorded_elsewhere(u32 slot, u64 event)
{
	const struct process_record *process = process_at(slot);
	const struct object_record *object;

	if (!process || !(process->orders & ORDERS_ELSEWHERE))
		return false;
	object = event_object(slot, event);
	return !object || object->row == ROW_NONE || object->flags & OBJECT_ELSEWHERE;
}

#endif
