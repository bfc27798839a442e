// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Captures in progress: which streams put their work into a graph instead of executing it. While a
 * process captures nothing, process_record.captures is 0 and nothing here is consulted.
 *
 * Deleting a capture's record ends the capture. Only one deletion succeeds, so `captures` is
 * lowered once per capture. The participating streams keep stale entries until they begin or join
 * another capture.
 */
#ifndef BPF_LAUNCH_CAPTURE_BPF_H
#define BPF_LAUNCH_CAPTURE_BPF_H

#include "wait/inflight.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct capture_key);
	__type(value, struct capture_record);
} captures SEC(".maps");

/* Streams that take part in a capture, and the capture's number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct stream_key);
	__type(value, u64);
} capturing SEC(".maps");

/* Events recorded in a capture: a stream that waits for one joins the capture. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct event_key);
	__type(value, u64);
} captured_events SEC(".maps");

/* Numbers of captures; numbers from the API have the top bit set. */
volatile __u64 next_capture;
#define CAPTURE_OF_API (1ull << 63)

/* CU_EVENT_RECORD_EXTERNAL, CU_EVENT_WAIT_EXTERNAL: a node, not a fork or join */
#define EXTERNAL_EVENT 1

static __always_inline struct capture_record *capture_at(u32 slot, u64 id)
{
	struct capture_key key = {.id = id, .slot = slot};

	return id ? bpf_map_lookup_elem(&captures, &key) : NULL;
}

/* Ends a capture. Returns 0, or -1 if it has already ended. */
static __always_inline int end_capture(u32 slot, u64 id)
{
	struct process_record *process = process_at(slot);
	struct capture_key key = {.id = id, .slot = slot};

	if (!process || bpf_map_delete_elem(&captures, &key))
		return -1;
	__sync_fetch_and_add(&process->captures, -1);
	return 0;
}

/* Streams end with their context, and captures with their streams. */
static __always_inline bool is_over(u32 slot, const struct capture_record *capture)
{
	struct context_key key = {.context = capture->context, .slot = slot};
	struct context_record *context;

	if (!capture->context)
		return false;
	context = bpf_map_lookup_elem(&contexts, &key);
	return context && context->died_ns > capture->start_ns;
}

/* The capture in progress that the stream takes part in; 0: none. */
static __noinline u64 capture_of_stream(const struct stream_key *key)
{
	struct capture_record *capture;
	u64 *id, number;

	if (!key)
		return 0;
	id = bpf_map_lookup_elem(&capturing, key);
	if (!id)
		return 0;
	number = *id;
	capture = capture_at(key->slot, number);
	if (!capture)
		return 0;
	if (!is_over(key->slot, capture))
		return number;
	end_capture(key->slot, number);
	return 0;
}

static __always_inline bool has_captures(u32 slot)
{
	struct process_record *process = process_at(slot);

	return process && process->captures;
}

/* The capture that records what `function` puts on the stream `handle`; 0: it is executed. */
static __always_inline u64 capture_of(struct thread *thread,
				      const volatile struct function_desc *function, u64 handle)
{
	struct stream_key key;

	if (!has_captures(thread->slot))
		return 0;
	key = stream_key_of(thread, function, handle);
	return capture_of_stream(&key);
}

static __always_inline bool is_capturing(struct thread *thread,
					 const volatile struct function_desc *function, u64 handle)
{
	return capture_of(thread, function, handle) != 0;
}

/* Adds `kernels` to the capture's graph; `unknown`: and an unknown number of others. */
static __always_inline void capture_add(u32 slot, u64 id, u64 kernels, bool unknown)
{
	struct capture_record *capture = capture_at(slot, id);

	if (!capture)
		return;
	__sync_fetch_and_add(&capture->kernels, kernels);
	if (unknown)
		capture->unknown = 1;
}

static __always_inline void take_part(const struct stream_key *key, u64 id)
{
	int error = bpf_map_update_elem(&capturing, key, &id, BPF_ANY);

	if (error)
		lose_update(error, LOSS_CAPTURE_MAP_FULL);
}

/* Begins a capture on the stream; if one with that number exists, the stream joins it. */
static __always_inline void begin_capture(const struct stream_key *key, u64 id,
					  const struct capture_record *record)
{
	struct process_record *process = process_at(key->slot);
	struct capture_key capture = {.id = id, .slot = key->slot};
	int error;

	if (!process)
		return;
	error = bpf_map_update_elem(&captures, &capture, record, BPF_NOEXIST);
	if (!error)
		__sync_fetch_and_add(&process->captures, 1);
	else if (!capture_at(key->slot, id))
		lose_update(error, LOSS_CAPTURE_MAP_FULL);
	take_part(key, id);
}

/*
 * The event was recorded in a stream, with these flags. Returns whether the recording belongs to a
 * capture: then the event proves nothing about finished work.
 */
static __noinline int capture_event(const struct event_key *key, const struct stream_key *stream,
				    u32 flags)
{
	int error;
	u64 id;

	if (!key || !stream || !has_captures(key->slot))
		return 0;
	id = capture_of_stream(stream);
	if (!id || flags & EXTERNAL_EVENT) {
		bpf_map_delete_elem(&captured_events, key);
		return id != 0;
	}
	error = bpf_map_update_elem(&captured_events, key, &id, BPF_ANY);
	if (error)
		lose_update(error, LOSS_CAPTURE_MAP_FULL);
	return 1;
}

/* The stream ends: removes it from its capture. Returns the capture, or 0 if there is none. */
static __always_inline u64 stream_leaves_capture(const struct stream_key *key)
{
	u64 id;

	if (!has_captures(key->slot))
		return 0;
	id = capture_of_stream(key);
	if (id)
		bpf_map_delete_elem(&capturing, key);
	return id;
}

/*
 * The stream has ended. If it was the one that began the capture, no call can end the capture any
 * more.
 */
static __always_inline void stream_left_capture(const struct stream_key *key, u64 id)
{
	struct capture_record *capture = capture_at(key->slot, id);

	if (capture && capture->origin.stream == key->stream && capture->origin.scope == key->scope)
		end_capture(key->slot, id);
}

#endif
