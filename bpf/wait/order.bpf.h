// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The order of streams: what the end of a wait for one stream proves of others. A stream that waits
 * for an event is behind the work that the event marks (struct stream_orders in
 * gpuprobe/state/streams.h). The legacy default stream is behind earlier work of the blocking
 * streams in its context, and they are behind its earlier work.
 *
 * The end of a wait is a proof: all work of the stream before an epoch is finished. Work that the
 * stream was behind by then is finished too, so a proof leads to other proofs, of earlier epochs:
 * an event is older than the wait for it. Proofs without room are dropped: that work counts as in
 * flight until another wait covers it.
 */
#ifndef BPF_WAIT_ORDER_BPF_H
#define BPF_WAIT_ORDER_BPF_H

#include "wait/inflight.bpf.h"

#define PROOF_STEPS 128 /* most proofs that one wait may lead to */

/* Zeroed orders to insert, too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stream_orders);
} empty_orders SEC(".maps");

/* --- recording the order --- */

/* The event may have been recorded again by a call that was missed. */
static __always_inline bool is_unsure(const struct event_record *event)
{
	return was_blind_since(event->start_ns, RATE_WAIT, RATE_WAIT);
}

/* The epoch that the event marks; 0: unknown. */
static __always_inline u64 recorded_epoch(u32 slot, u64 handle)
{
	struct event_key key = {.event = handle, .slot = slot};
	const struct event_record *event =
		config.track_inflight ? bpf_map_lookup_elem(&events, &key) : NULL;

	return event && !is_unsure(event) ? event->epoch : 0;
}

/* Whether a wait for the stream can prove anything. */
static __always_inline bool has_work(const struct stream_key *key)
{
	const struct process_record *process = process_at(key->slot);
	u32 orders = process ? process->orders : 0;

	return bpf_map_lookup_elem(&streams, key) ||
	       (key->stream == STREAM_LEGACY && orders & (ORDERS_BLOCKING | ORDERS_EVENTS)) ||
	       (orders & ORDERS_EVENTS && bpf_map_lookup_elem(&stream_orders, key));
}

/* The context of a stream. */
struct stream_context {
	u64 context;  /* 0: unknown */
	u64 blocking; /* as stream_record.blocking */
};

static __noinline int find_stream_context(struct thread *thread, const struct stream_key *key,
					  struct stream_context *found)
{
	const struct stream_record *stream = bpf_map_lookup_elem(&streams, key);
	const struct object_record *object;

	found->blocking = 0;
	if (key->stream == STREAM_LEGACY) {
		found->context = key->scope;
	} else if (stream) {
		found->context = stream->context == CONTEXT_SEVERAL ? 0 : stream->context;
		found->blocking = stream->blocking;
	} else if (key->stream == STREAM_PER_THREAD) {
		found->context =
			key->scope == (u32)bpf_get_current_pid_tgid() ? current_context(thread) : 0;
		found->blocking = 1;
	} else {
		object = live_object(key->slot, OBJECT_STREAM, key->stream);
		found->context = object ? object->context : 0;
		found->blocking = meets_legacy(key->stream, object);
	}
	return 0;
}

/*
 * An epoch before which waits for the whole context or the legacy default stream have already
 * proved what the orders say.
 */
static __always_inline u64 proved_epoch(u32 slot, const struct stream_context *found)
{
	struct context_key key = {.context = found->context, .slot = slot};
	const struct context_record *context =
		found->context ? bpf_map_lookup_elem(&contexts, &key) : NULL;

	if (!context)
		return 0;
	return found->blocking && context->blocking_covered > context->covered ?
		       context->blocking_covered :
		       context->covered;
}

/* Where to put a new order. */
struct order_choice {
	u64 stream, scope; /* the stream that the order waits for */
	u64 proved;	   /* orders of earlier epochs are no longer needed */
	u64 latest;	   /* epoch of order `same` */
	u32 free;	   /* index of a free order plus 1; 0: none */
	u32 same;	   /* index plus 1 of the latest order for the same stream */
};

__noinline int weigh_order(struct order_choice *choice, const struct stream_orders *orders,
			   u32 number)
{
	const struct stream_order *order;

	if (!choice || !orders || number >= STREAM_ORDERS)
		return 0;
	order = &orders->orders[number];
	if (!order->epoch || order->epoch < choice->proved)
		choice->free = number + 1;
	else if (order->stream == choice->stream && order->scope == choice->scope &&
		 order->epoch >= choice->latest) {
		choice->latest = order->epoch;
		choice->same = number + 1;
	}
	return 0;
}

static __always_inline struct stream_orders *orders_of(const struct stream_key *key)
{
	struct stream_orders *orders = bpf_map_lookup_elem(&stream_orders, key), *empty;
	struct process_record *process = process_at(key->slot);
	u32 zero = 0;
	int error = -12 /* ENOMEM */;

	if (orders || !process)
		return orders;
	look_at_orders(process, key->stream == STREAM_LEGACY ? ORDERS_EVENTS | ORDERS_LEGACY :
							       ORDERS_EVENTS);
	empty = bpf_map_lookup_elem(&empty_orders, &zero);
	if (!empty || process->order_count >= PROCESS_ORDERS) {
		lose(LOSS_ORDER_MAP_FULL);
		return NULL;
	}
	error = bpf_map_update_elem(&stream_orders, key, empty, BPF_NOEXIST);
	if (!error)
		__sync_fetch_and_add(&process->order_count, 1);
	orders = bpf_map_lookup_elem(&stream_orders, key);
	if (!orders)
		lose_update(error, LOSS_ORDER_MAP_FULL);
	return orders;
}

/* Records that the stream is behind the order's work. `proved`: see order_choice. */
__noinline int add_order(const struct stream_key *at, const struct stream_order *order, u64 proved)
{
	struct order_choice choice = {.proved = proved};
	struct stream_orders *orders;
	struct stream_key key;
	u32 number;

	if (!at || !order)
		return 0;
	key = *at; /* Linux 6.1 takes keys from the stack, not from a global function's argument */
	choice.stream = order->stream;
	choice.scope = order->scope;
	orders = orders_of(&key);
	if (!orders)
		return 0;
	if (!lock_word(&orders->lock)) {
		lose(LOSS_INFLIGHT_BUSY);
		return 0;
	}
	for (u32 i = 0; i < STREAM_ORDERS; i++)
		weigh_order(&choice, orders, i);
	number = (choice.free ? choice.free : choice.same) - 1;
	barrier_var(number);
	if (number < STREAM_ORDERS)
		orders->orders[number] = *order;
	unlock_word(&orders->lock);
	if (number >= STREAM_ORDERS)
		lose(LOSS_ORDER_MAP_FULL);
	return 0;
}

/* The stream waits for the event, which marked that epoch when the call began. */
__noinline int order_stream(struct thread *thread, const struct stream_key *at, u64 handle,
			    u64 epoch)
{
	struct event_key event_key = {.event = handle};
	const struct event_record *event;
	struct stream_context found, other_found;
	struct stream_order order = {.before = epoch};
	struct stream_key key, other;
	bool elsewhere, blocking;
	u64 proved;

	if (!thread || !at)
		return 0;
	key = *at;
	event_key.slot = thread->slot;
	event = bpf_map_lookup_elem(&events, &event_key);
	/* The event was recorded again meanwhile: which recording the wait is for is unknown. */
	if (!event || event->epoch != epoch)
		return 0;
	other = event->stream;
	if (other.stream == key.stream && other.scope == key.scope)
		return 0;
	order.stream = other.stream;
	order.scope = other.scope;
	order.epoch = work_epoch(thread->slot);
	find_stream_context(thread, &key, &found);
	find_stream_context(thread, &other, &other_found);
	add_order(&key, &order, proved_epoch(thread->slot, &found));
	if (!found.context)
		return 0;
	key.scope = found.context;
	elsewhere = other_found.context != found.context;
	blocking = found.blocking;
	found.blocking = 0;
	proved = proved_epoch(thread->slot, &found);
	if (blocking && (elsewhere || (!other_found.blocking && other.stream != STREAM_LEGACY))) {
		key.stream = STREAM_BLOCKING;
		add_order(&key, &order, proved);
	}
	if (elsewhere) {
		key.stream = STREAM_CONTEXT;
		add_order(&key, &order, proved);
	}
	return 0;
}

/* --- following proofs --- */

static __always_inline bool push_proof(struct thread *thread, u64 stream, u64 scope, u64 epoch)
{
	u32 number = thread->proof_count;
	struct stream_proof *proof;

	if (number >= STREAM_PROOFS)
		return false;
	proof = &thread->proofs[number & (STREAM_PROOFS - 1)];
	proof->stream = stream;
	proof->scope = scope;
	proof->epoch = epoch;
	thread->proof_count = number + 1;
	return true;
}

/* Returns 1 if the proof that follows from the order has no room yet, otherwise 0. */
__noinline int follow_order(struct thread *thread, struct stream_orders *orders, u32 number,
			    u64 epoch)
{
	struct stream_order *order;

	if (!thread || !orders || number >= STREAM_ORDERS)
		return 0;
	order = &orders->orders[number];
	if (!order->epoch || order->epoch >= epoch)
		return 0;
	if (!push_proof(thread, order->stream, order->scope, order->before))
		return 1;
	order->epoch = 0;
	return 0;
}

/* Returns how many orders could not be followed yet. */
static __always_inline u32 follow_orders(struct thread *thread, const struct stream_key *key,
					 u64 epoch)
{
	struct stream_orders *orders = bpf_map_lookup_elem(&stream_orders, key);
	u32 left = 0;

	if (!orders || !lock_word(&orders->lock))
		return 0;
	for (u32 i = 0; i < STREAM_ORDERS; i++)
		left += follow_order(thread, orders, i, epoch);
	unlock_word(&orders->lock);
	return left;
}

/* The latest proof takes the place of the one that has been followed. */
static __always_inline void drop_proof(struct thread *thread, u32 number)
{
	u32 last = thread->proof_count - 1;

	if (last >= STREAM_PROOFS)
		return;
	thread->proofs[number & (STREAM_PROOFS - 1)] = thread->proofs[last & (STREAM_PROOFS - 1)];
	thread->proof_count = last;
}

/*
 * The epoch below which the legacy default stream's work precedes the stream's latest copies of
 * epochs below `epoch`.
 */
__noinline u64 legacy_before(const struct stream_record *stream, u64 epoch)
{
	u64 after = 0;

	if (!stream)
		return 0;
	for (u32 i = 0; i < SEGMENTS; i++)
		if (stream->segments[i].epoch && stream->segments[i].epoch < epoch &&
		    stream->segments[i].after > after)
			after = stream->segments[i].after;
	return after;
}

/* The legacy default stream waited for the blocking streams. */
static __always_inline void cover_blocking(struct thread *thread, u64 context, u64 epoch)
{
	struct context_key key = {.context = context, .slot = thread->slot};
	struct context_record *record = context ? bpf_map_lookup_elem(&contexts, &key) : NULL;

	if (record)
		raise_covered(&record->blocking_covered, &record->blocking_covered_ns, epoch);
}

/*
 * A blocking stream's copies prove that the legacy default stream's earlier work is finished. They
 * prove nothing of other blocking streams.
 */
static __always_inline void prove_legacy(struct thread *thread, const struct stream_key *key,
					 u64 epoch)
{
	const struct stream_record *stream = bpf_map_lookup_elem(&streams, key);
	u64 before;

	if (!stream || !stream->blocking || !stream->context)
		return;
	before = legacy_before(stream, epoch);
	if (before)
		push_proof(thread, STREAM_LEGACY_ALONE, stream->context, before);
}

/*
 * Covers the latest proof's work and adds the proofs that follow from it. The proof stays until all
 * of these have had room.
 */
__noinline int follow_proof(struct thread *thread)
{
	const struct process_record *process;
	const struct stream_proof *proof;
	struct stream_key key = {};
	u32 number, left = 0;
	u64 epoch;

	if (!thread)
		return 0;
	number = thread->proof_count - 1;
	process = process_at(thread->slot);
	if (number >= STREAM_PROOFS || !process)
		return 0;
	proof = &thread->proofs[number & (STREAM_PROOFS - 1)];
	key.stream = proof->stream;
	key.scope = proof->scope;
	key.slot = thread->slot;
	epoch = proof->epoch;
	if (key.stream == STREAM_LEGACY && process->orders & (ORDERS_BLOCKING | ORDERS_EVENTS)) {
		cover_blocking(thread, key.scope, epoch);
		push_proof(thread, STREAM_BLOCKING, key.scope, epoch);
	}
	if (key.stream == STREAM_LEGACY_ALONE)
		key.stream = STREAM_LEGACY;
	else if (process->orders & ORDERS_LEGACY)
		prove_legacy(thread, &key, epoch);
	cover_stream(&key, epoch);
	if (process->orders & ORDERS_EVENTS)
		left = follow_orders(thread, &key, epoch);
	if (!left)
		drop_proof(thread, number);
	return 0;
}

static __always_inline void prove(struct thread *thread, u64 stream, u64 scope, u64 epoch)
{
	thread->proof_count = 0;
	push_proof(thread, stream, scope, epoch);
	for (u32 i = 0; i < PROOF_STEPS; i++) {
		if (!thread->proof_count)
			break;
		follow_proof(thread);
	}
}

/* All work of the stream from before `epoch` is finished, and so is what follows from that. */
static __always_inline void stream_done(struct thread *thread, const struct stream_key *key,
					u64 epoch)
{
	const struct process_record *process = process_at(thread->slot);

	if (process && process->orders)
		prove(thread, key->stream, key->scope, epoch);
	else
		cover_stream(key, epoch);
}

/* The same for all streams of the context. */
static __always_inline void context_done(struct thread *thread, u64 context, u64 epoch)
{
	const struct process_record *process = process_at(thread->slot);

	cover_context(thread->slot, context, epoch);
	if (process && process->orders & ORDERS_EVENTS)
		prove(thread, STREAM_CONTEXT, context, epoch);
}

#endif
