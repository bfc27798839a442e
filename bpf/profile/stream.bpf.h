// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stream ids of the profile, one word each: the handle, STREAM_LEGACY (in the thread's current
 * context), or STREAM_PER_THREAD with the thread's id above it. Handles are addresses of aligned
 * structures, so ids do not collide.
 */
#ifndef BPF_PROFILE_STREAM_BPF_H
#define BPF_PROFILE_STREAM_BPF_H

#include "wait/inflight.bpf.h"

#define STREAM_ID_THREAD_SHIFT 8
#define STREAM_ID_DEVICE_SHIFT 56

static __always_inline u64 stream_id(const volatile struct function_desc *function, u64 handle)
{
	if (handle > STREAM_PER_THREAD)
		return handle;
	if (handle != STREAM_PER_THREAD && (handle || !(function->flags & FUNCTION_PER_THREAD)))
		return STREAM_LEGACY;
	return STREAM_PER_THREAD | (u64)(u32)bpf_get_current_pid_tgid() << STREAM_ID_THREAD_SHIFT;
}

static __always_inline u64 stream_id_of_key(u64 stream, u64 scope)
{
	return stream == STREAM_PER_THREAD ? stream | scope << STREAM_ID_THREAD_SHIFT : stream;
}

static __always_inline bool is_per_thread(u64 id)
{
	return (id & 0xff) == STREAM_PER_THREAD;
}

/* The stream that the id stands for in the calling thread. */
static __always_inline struct stream_key stream_key_of_id(const struct thread *thread, u64 id)
{
	struct stream_key key = {.stream = id, .slot = thread->slot};

	if (id == STREAM_LEGACY) {
		key.scope = current_context(thread);
	} else if (is_per_thread(id)) {
		key.stream = STREAM_PER_THREAD;
		key.scope = id >> STREAM_ID_THREAD_SHIFT;
	}
	return key;
}

/*
 * Whether the stream and the legacy default stream wait for each other; `unknown` if the stream's
 * creation was missed.
 */
static __always_inline bool is_blocking_stream(u32 slot, u64 stream, bool unknown)
{
	const struct object_record *object;

	if (stream <= STREAM_PER_THREAD || is_per_thread(stream))
		return true;
	object = live_object(slot, OBJECT_STREAM, stream);
	if (!object || object->row == ROW_NONE)
		return unknown;
	return !(object->flags & OBJECT_NON_BLOCKING);
}

#endif
