// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What each call reveals about the GPU's queues, at its entry and at its return.
 * profile/queue.bpf.h, profile/implicit.bpf.h, profile/legacy.bpf.h and profile/missing.bpf.h have
 * the topics.
 *
 * From entry to return a call keeps two values. `noted`: its stream's id (work), its target (copy),
 * or the bytes being copied to the memory (free). `marked`: OBJECT_* (object creation), whether it
 * covers the legacy stream (wait), or whether work is unfinished (destruction or free).
 */
#ifndef BPF_PROFILE_WORK_BPF_H
#define BPF_PROFILE_WORK_BPF_H

#include "profile/implicit.bpf.h"
#include "profile/legacy.bpf.h"
#include "profile/missing.bpf.h"
#include "profile/queue.bpf.h"
#include "launch/capture_call.bpf.h"
#include "launch/host_function.bpf.h"
#include "wait/wait.bpf.h"

/* Whose stack the profile needs. */
#define WANTS_IDLE_STACK 1
#define WANTS_MISSING_STACK 2

/* --- entries --- */

/* Events recorded by graph runs are not tracked. */
static __always_inline void
look_for_event_node(struct pt_regs *ctx, const volatile struct function_desc *function, u32 slot)
{
	struct process_profile *process;
	u32 type = 0;

	if (function->kind == GRAPH_ADD_NODE)
		bpf_probe_read_user(&type, sizeof(type),
				    (void *)argument(ctx, function, ROLE_PARAMS));
	if (type != NODE_EVENT_RECORD && !has_role(function, ROLE_EVENT))
		return;
	process = process_profile_at(slot);
	if (process && !process->events_elsewhere)
		process->events_elsewhere = 1;
}

/* Runs before the call's family changes anything. */
static __noinline int work_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				 struct thread *thread, struct call *call)
{
	if (may_submit(function->operation))
		begin_submission(thread, call);
	switch (function->operation) {
	case OP_WAIT:
		call->marked = covers_legacy(ctx, function);
		if (call->marked)
			count_legacy_waiting(thread->slot, call, 1);
		break;
	case OP_EVENT_RECORD:
		note_recorded(thread->slot, argument(ctx, function, ROLE_EVENT));
		break;
	case OP_DESTROY:
		if (function->kind != OBJECT_STREAM)
			break;
		call->marked = ends_with_work(thread->slot, argument(ctx, function, ROLE_HANDLE));
		loosen_stream(thread->slot, argument(ctx, function, ROLE_HANDLE));
		break;
	case OP_FREE:
		if (!is_host_kind(function->kind))
			break;
		call->noted = target_goes(thread->slot, argument(ctx, function, ROLE_PTR));
		call->marked = call->noted != 0;
		break;
	case OP_GRAPH: look_for_event_node(ctx, function, thread->slot); break;
	case OP_GRAPH_LAUNCH:
	case OP_HOST_FUNCTION:
		call->noted = stream_id(function, argument(ctx, function, ROLE_STREAM));
		break;
	}
	return 0;
}

/* --- returns --- */

static __always_inline u8 device_of_call(struct thread *thread, const struct call *call)
{
	/* The runtime makes a context current inside a thread's first call. */
	return call->device == DEVICE_UNKNOWN ? current_device(thread) : call->device;
}

/*
 * The thread's first launch of the epoch, or on a different stream. Returns whether it has ended
 * its longest idle time. Global: the verifier goes through it once.
 */
__noinline int note_launch_work(struct thread *thread, struct call *call, u64 where, u64 epoch)
{
	struct work work = {.bytes = HEAVY_WORK, .queue = where >> STREAM_ID_DEVICE_SHIFT};
	u32 number = where >> STREAM_ID_DEVICE_SHIFT;
	struct process_profile *process;
	struct device_queue *queue;
	int longest = 0;

	if (!thread || !call)
		return 0;
	process = process_profile_at(thread->slot);
	queue = process ? queue_at(process, number) : NULL;
	work.stream = call->noted;
	work.start_ns = call->start_ns;
	if (!queue)
		return 0;
	note_work(thread, &work);
	if (queue->empty_ns)
		longest = end_idle_time(thread, call, process, number);
	launch_elsewhere(thread, where, epoch);
	return longest;
}

static __noinline int count_legacy_launch(struct thread *thread, u32 number)
{
	struct process_profile *process = process_profile_at(thread->slot);
	struct thread_profile *profile = profile_of(thread);
	struct device_queue *queue = process ? queue_at(process, number) : NULL;

	if (profile && queue)
		note_legacy_launch(thread, profile, queue, number);
	return 0;
}

/*
 * An executed launch. Another one on the same stream in the same epoch brings nothing new: no wait
 * has begun since, and an earlier wait does not cover it.
 */
static __always_inline int launch_work(struct thread *thread, struct call *call,
				       struct thread_profile *profile)
{
	u32 number = queue_of(device_of_call(thread, call));
	u64 epoch = work_epoch(thread->slot),
	    where = call->noted | (u64)number << STREAM_ID_DEVICE_SHIFT;
	int longest = 0;

	if (!profile || profile->last_stream != where || profile->last_epoch != epoch)
		longest = note_launch_work(thread, call, where, epoch);
	if (call->noted == STREAM_LEGACY)
		count_legacy_launch(thread, number);
	if (!profile)
		return 0;
	if (profile->pending_calls)
		count_pending(thread);
	if (call->operation == OP_LAUNCH && call->flag & LAUNCH_FIRST && !thread->depth &&
	    call->end_ns - call->start_ns >= SLOW_LAUNCH_NS && profile->launches_since_wait > 1)
		add_pending(profile,
			    call->flag & LAUNCH_LOADS ? IMPLICIT_LOAD : IMPLICIT_FIRST_LAUNCH,
			    call->end_ns - call->start_ns);
	return longest ? WANTS_IDLE_STACK : 0;
}

/* Other work; `copies`: copies or sets, which only pause an idle time. */
static __always_inline int other_work(struct thread *thread, struct call *call, u64 id, u32 copies)
{
	struct process_profile *process = process_profile_at(thread->slot);
	u32 number = queue_of(device_of_call(thread, call));
	struct device_queue *queue = process ? queue_at(process, number) : NULL;
	const struct work work = {
		.stream = id,
		.start_ns = call->start_ns,
		.bytes = copies ? call->arg[COPY_BYTES] : HEAVY_WORK,
		.queue = number,
	};

	if (!queue)
		return 0;
	note_work(thread, &work);
	if (copies)
		note_copy_work(queue, call);
	return 0;
}

/* The host has waited for this copy. */
static __noinline int copy_waited(struct thread *thread, struct call *call,
				  const volatile struct function_desc *function)
{
	struct process_profile *process = process_profile_at(thread->slot);
	struct emptying emptying = {.epoch = call->arg[COPY_EPOCH], .since_ns = call->start_ns};
	struct stream_key key;

	if (!process)
		return 0;
	emptying.stream = stream_id(function, call->arg[COPY_STREAM]);
	emptying.context = current_context(thread);
	emptying.queue = queue_of(device_of_call(thread, call));
	emptying.start_ns = call->start_ns;
	key = stream_key_of_id(thread, emptying.stream);
	if (call->kind != COPY_H2H)
		end_idle_of(thread, process, emptying.queue, call->start_ns);
	note_empty(thread, &emptying, call->end_ns);
	note_covered(thread, &key, call->arg[COPY_EPOCH]);
	return 0;
}

static __noinline int copy_queued(struct thread *thread, struct call *call, u64 id)
{
	struct stream_key key = stream_key_of_id(thread, id);

	other_work(thread, call, id, true);
	if (call->kind == COPY_D2H && call->arg[COPY_FLAGS] & TALLY_PINNED && call->noted)
		note_target(&key, call->noted, call->arg[COPY_BYTES]);
	return 0;
}

static __noinline int copy_work(struct thread *thread, struct call *call)
{
	const volatile struct function_desc *function = function_at(call->row);
	struct stream_key key;
	u64 id;

	if (!function || call->arg[COPY_FLAGS] & TALLY_CAPTURED)
		return 0;
	id = stream_id(function, call->arg[COPY_STREAM]);
	if (function->flags & FUNCTION_ASYNC)
		return copy_queued(thread, call, id);
	if (is_synchronous(function, call->kind))
		return copy_waited(thread, call, function);
	/* These may return before they are finished. */
	if (call->kind != COPY_H2H)
		other_work(thread, call, id, true);
	if (call->operation != OP_COPY)
		return 0;
	key = stream_key_of_id(thread, id);
	note_covered(thread, &key, next_epoch(thread->slot));
	return 0;
}

static __noinline int host_function_work(struct thread *thread, struct call *call)
{
	struct stream_key key = stream_key_of_id(thread, call->noted);

	if (call->arg[HOST_FUNCTION_CAPTURE])
		return 0;
	other_work(thread, call, call->noted, false);
	note_followed(&key, next_epoch(thread->slot));
	return 0;
}

/* Sets what a wait for a context proves. Returns whether that is known. */
static __always_inline bool context_emptying(struct thread *thread, const struct call *call,
					     struct emptying *emptying)
{
	u8 device = call->device;

	emptying->context = call->arg[WAITED_OBJECT];
	if (emptying->context != current_context(thread)) {
		device = device_of_context(thread->slot, emptying->context);
		if (device == DEVICE_UNKNOWN)
			return false;
	}
	emptying->queue = queue_of(device);
	return true;
}

/* A stream without a record has had no work, but it may be ordered after others. */
static __always_inline bool stream_emptying(struct thread *thread, const struct call *call,
					    struct stream_key *key, struct emptying *emptying)
{
	const struct stream_record *stream;
	u8 device = call->device;

	key->stream = call->arg[WAITED_STREAM];
	key->scope = call->arg[WAITED_SCOPE];
	key->slot = thread->slot;
	if (!key->stream)
		return false;
	emptying->stream = stream_id_of_key(key->stream, key->scope);
	stream = bpf_map_lookup_elem(&streams, key);
	emptying->context = stream ? stream->context : current_context(thread);
	if (stream && stream->device != DEVICE_UNKNOWN)
		device = stream->device;
	else if (emptying->context)
		device = device_of_context(thread->slot, emptying->context);
	emptying->queue = queue_of(device);
	return true;
}

/* A wait has ended, or a query found the work finished. */
static __noinline int waited(struct thread *thread, struct call *call)
{
	struct process_profile *process = process_profile_at(thread->slot);
	struct emptying emptying = {.epoch = call->arg[WAITED_EPOCH], .start_ns = call->start_ns};
	struct stream_key key = {};
	bool known;

	if (!process)
		return 0;
	if (call->kind == WAIT_CONTEXT)
		known = context_emptying(thread, call, &emptying);
	else
		known = stream_emptying(thread, call, &key, &emptying);
	if (known)
		note_empty(thread, &emptying, call->end_ns);
	if (call->kind != WAIT_CONTEXT && key.stream)
		note_covered(thread, &key, emptying.epoch);
	if (call->kind != WAIT_EVENT)
		return 0;
	return note_unrecorded(thread->slot, call->arg[WAITED_OBJECT], call->operation == OP_QUERY);
}

static __noinline int wait_work(struct thread *thread, struct call *call,
				struct thread_profile *profile, s32 result)
{
	bool legacy = call->marked;

	if (call->operation == OP_WAIT)
		end_legacy_wait(thread, call);
	if (result)
		return 0;
	if (profile && call->operation == OP_WAIT) {
		drop_pending(profile);
		if (legacy)
			add_time(&profile->legacy_waits, call->end_ns - call->start_ns);
	}
	return waited(thread, call) ? WANTS_MISSING_STACK : 0;
}

static __noinline int event_record_work(struct thread *thread, struct call *call)
{
	struct stream_key key = {
		.stream = call->arg[WAITED_STREAM],
		.scope = call->arg[WAITED_SCOPE],
		.slot = thread->slot,
	};

	return key.stream ? note_followed(&key, call->arg[WAITED_EPOCH]) : note_all_done(thread);
}

static __noinline int free_work(struct thread *thread, struct call *call)
{
	const volatile struct function_desc *function = function_at(call->row);
	struct process_profile *process = process_profile_at(thread->slot);

	if (!function || !process || !call->arg[FREE_ADDRESS])
		return 0;
	if (is_blocking_free(function))
		note_all_done(thread);
	if (!call->marked)
		return 0;
	__sync_fetch_and_add(&process->freed_busy, 1);
	add_to_sum(&process->freed_busy_bytes, call->noted);
	return WANTS_MISSING_STACK;
}

static __noinline int destroy_work(struct thread *thread, struct call *call)
{
	struct process_profile *process = process_profile_at(thread->slot);

	if (!process || !call->marked || call->kind != OBJECT_STREAM)
		return 0;
	__sync_fetch_and_add(&process->destroyed_busy, 1);
	return WANTS_MISSING_STACK;
}

/* A stream waits for an event. */
static __noinline int join_work(struct thread *thread, struct call *call)
{
	if (call->kind != CAPTURE_JOIN || call->arg[CAPTURED_ID] & EXTERNAL_EVENT)
		return 0;
	return note_unrecorded(thread->slot, call->arg[CAPTURED_OUT], false) ? WANTS_MISSING_STACK :
									       0;
}

/* Successful calls other than launches and waits. */
static __always_inline int other_leave(struct thread *thread, struct call *call)
{
	switch (call->operation) {
	case OP_COPY:
	case OP_SET: return copy_work(thread, call);
	case OP_FREE: return free_work(thread, call);
	case OP_EVENT_RECORD: return event_record_work(thread, call);
	case OP_DESTROY: return destroy_work(thread, call);
	case OP_HOST_FUNCTION: return host_function_work(thread, call);
	case OP_CAPTURE: return join_work(thread, call);
	default: return 0;
	}
}

static __always_inline void note_implicit(const struct call *call, struct thread_profile *profile)
{
	const volatile struct function_desc *function = function_at(call->row);
	u64 ns = call->end_ns - call->start_ns;

	if (function && ns >= IMPLICIT_MIN_NS && profile->launches_since_wait)
		add_pending(profile, implicit_wait_of(function), ns);
}

/* A thread's outermost call that is not a launch. */
static __noinline int note_outermost(struct thread *thread, struct call *call, s32 result)
{
	struct thread_profile *profile = profile_of(thread);
	struct process_profile *process = process_profile_at(thread->slot);
	struct device_queue *queue;

	if (!profile || !process)
		return 0;
	if (!result)
		note_implicit(call, profile);
	queue = queue_at(process, queue_of(device_of_call(thread, call)));
	if (queue)
		note_inside(profile, queue, call->start_ns, call->end_ns - call->start_ns);
	return 0;
}

static __always_inline bool is_launch(const struct call *call)
{
	return call->operation == OP_LAUNCH || call->operation == OP_GRAPH_LAUNCH;
}

static __always_inline bool is_captured_launch(const struct call *call)
{
	return call->operation == OP_LAUNCH ? call->arg[LAUNCH_CAPTURE] : call->arg[RUN_CAPTURE];
}

/* Launches on several devices: each device is unknown here. */
static __noinline int spoil_unknown(struct thread *thread)
{
	struct process_profile *process = process_profile_at(thread->slot);
	struct device_queue *queue = process ? queue_at(process, UNKNOWN_QUEUE) : NULL;

	if (queue)
		spoil_queue(queue, work_epoch(thread->slot));
	return 0;
}

/* A call has returned, and profile_leave has handled it. Returns WANTS_*, or 0. */
__noinline int work_leave(struct thread *thread, struct call *call, s32 result)
{
	struct thread_profile *profile;
	int wants = 0;

	if (!thread || !call)
		return 0;
	profile = profile_of(thread);
	if (profile && profile->unlisted)
		list_late(thread);
	if (is_launch(call)) {
		wants = result || is_captured_launch(call) ? 0 : launch_work(thread, call, profile);
		end_submission(profile, call);
		return wants;
	}
	/* From now on the same stream handle may refer to another context. */
	if (profile && (call->operation == OP_CONTEXT || call->operation == OP_DEVICE))
		profile->last_epoch = 0;
	if (call->operation == OP_LAUNCH_LIST)
		spoil_unknown(thread);
	else if (call->operation == OP_WAIT || call->operation == OP_QUERY)
		wants = wait_work(thread, call, profile, result);
	else if (!result)
		wants = other_leave(thread, call);
	end_submission(profile, call);
	if (!thread->depth)
		note_outermost(thread, call, result);
	return wants;
}

/* Keeps the call's stack for the finding that it belongs to. */
static __always_inline void keep_profile_stack(struct pt_regs *ctx, struct thread *thread,
					       struct call *call, int wants)
{
	struct process_profile *process = process_profile_at(thread->slot);
	struct thread_profile *profile = profile_of(thread);
	u64 stack = call->stack;

	if (!config.stack_mode)
		stack = 0;
	else if (!stack)
		stack = take_stack(ctx, thread, call->function, false);
	if (profile && wants == WANTS_IDLE_STACK)
		profile->idle_stack = stack;
	else if (wants == WANTS_MISSING_STACK)
		note_missing_site(process, call, stack);
}

/* A call that never returned. Global: the verifier goes through it once. */
__noinline int work_abandoned(struct thread *thread, struct call *call)
{
	struct process_profile *process;
	struct device_queue *queue;

	if (!thread || !call)
		return 0;
	process = process_profile_at(thread->slot);
	queue = process ? queue_at(process, queue_of(call->device)) : NULL;
	switch (call->operation) {
	case OP_WAIT: end_legacy_wait(thread, call); break;
	case OP_LAUNCH:
	case OP_GRAPH_LAUNCH:
	case OP_LAUNCH_LIST:
	case OP_COPY:
	case OP_SET:
	case OP_HOST_FUNCTION:
		if (queue)
			spoil_queue(queue, work_epoch(thread->slot));
		break;
	}
	end_submission(profile_of(thread), call);
	return 0;
}

#endif
