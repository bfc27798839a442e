// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The current context and device of each thread, as far as they were seen to
 * change: 0 and DEVICE_UNKNOWN are "not known", as for a thread that was there
 * before gpuprobe. A context is of the device that it was made on; once known,
 * that holds for every thread that makes it current.
 *
 * With a context goes all that lives in it. That is not done here and now: the
 * context's record has the moment, and what is older is dead (userspace clears
 * it away). The moment is that of the call's entry, undone if the call fails.
 */
#ifndef BPF_CONTEXT_H
#define BPF_CONTEXT_H

#include "call.h"
#include "module.h"

/* call.arg */
#define CONTEXT_ARGUMENT 0 /* a context, or where one is written */
#define CONTEXT_DEVICE 1   /* its device's number, or DEVICE_UNKNOWN */
#define CONTEXT_OUT 2
#define CONTEXT_DIED 3 /* died_ns of the context that goes, as it was before */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct device_key);
	__type(value, struct device_record);
} devices SEC(".maps");

static __noinline struct device_record *device_record_of(u32 slot, u8 device)
{
	struct device_key key = {.slot = slot, .device = device};
	struct device_record *record = bpf_map_lookup_elem(&devices, &key), fresh = {};
	long error;

	if (record)
		return record;
	error = bpf_map_update_elem(&devices, &key, &fresh, BPF_NOEXIST);
	record = bpf_map_lookup_elem(&devices, &key);
	if (!record)
		lose_update(error, LOSS_CONTEXT_MAP_FULL);
	return record;
}

static __always_inline struct context_record *context_record_of(u32 slot, u64 context)
{
	struct context_key key = {.context = context, .slot = slot};
	struct context_record *record = bpf_map_lookup_elem(&contexts, &key);
	struct context_record fresh = {.device = DEVICE_UNKNOWN};
	long error;

	if (record || !context)
		return record;
	error = bpf_map_update_elem(&contexts, &key, &fresh, BPF_NOEXIST);
	record = bpf_map_lookup_elem(&contexts, &key);
	if (!record)
		lose_update(error, LOSS_CONTEXT_MAP_FULL);
	return record;
}

/* The context is of that device: told by the call that made it. */
static __always_inline void context_is_on(u32 slot, u64 context, u8 device)
{
	struct context_record *record = context_record_of(slot, context);

	if (record)
		record->device = device;
}

/* The thread's current context, whichever it is, is of that device. */
static __always_inline void current_is_on(struct thread *thread, u8 device)
{
	struct context_record *record;
	u64 context = current_context(thread);

	if (!thread->context_depth) {
		thread->context[0] = 0;
		thread->context_depth = 1;
	}
	thread->device[(thread->context_depth - 1) & (CONTEXT_DEPTH - 1)] = device;
	if (!context)
		return;
	record = context_record_of(thread->slot, context);
	if (record && record->device == DEVICE_UNKNOWN)
		record->device = device;
}

static __always_inline void set_top(struct thread *thread, u64 context, u8 device)
{
	u32 top = (thread->context_depth - 1) & (CONTEXT_DEPTH - 1);

	thread->context[top] = context;
	thread->device[top] = device;
}

static __always_inline void push_context(struct thread *thread, u64 context, u8 device)
{
	if (thread->context_depth >= CONTEXT_DEPTH) {
		lose(LOSS_CONTEXT_MAP_FULL);
		return;
	}
	thread->context_depth++;
	set_top(thread, context, device);
}

/* The context that a call ends, at its entry; 0 where none is known. */
static __always_inline u64 context_that_goes(struct thread *thread, const struct call *call)
{
	struct device_record *record;

	if (call->kind == CONTEXT_DESTROY)
		return call->arg[CONTEXT_ARGUMENT];
	record = device_record_of(thread->slot, call->arg[CONTEXT_DEVICE]);
	if (!record)
		return 0;
	/* Others hold it still. Where not all references were seen taken, the last cannot be told. */
	if (call->kind == CONTEXT_RELEASE && (record->retains != 1 || !is_seen_from_start(thread->slot)))
		return 0;
	return record->primary;
}

static __always_inline void end_context(struct thread *thread, struct call *call)
{
	struct context_record *record;
	u64 context = context_that_goes(thread, call);

	call->arg[CONTEXT_ARGUMENT] = context;
	if (!context)
		return;
	/* Its modules go with it, and their handles may come back. */
	unload_enter(thread, 0);
	record = context_record_of(thread->slot, context);
	if (!record)
		return;
	call->arg[CONTEXT_DIED] = record->died_ns;
	record->died_ns = call->start_ns;
}

static __always_inline bool is_end_of_context(u8 kind)
{
	return kind == CONTEXT_DESTROY || kind == CONTEXT_RESET || kind == CONTEXT_RELEASE;
}

static __noinline int context_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				    struct thread *thread, struct call *call)
{
	u64 device = DEVICE_UNKNOWN;

	call->kind = function->kind;
	call->arg[CONTEXT_ARGUMENT] = argument(ctx, function, ROLE_CTX);
	call->arg[CONTEXT_OUT] = argument(ctx, function, ROLE_OUT);
	if (has_role(function, ROLE_DEVICE))
		device = argument(ctx, function, ROLE_DEVICE);
	else if (function->kind == CONTEXT_RESET)
		device = current_device(thread);
	call->arg[CONTEXT_DEVICE] = device < DEVICE_UNKNOWN ? device : DEVICE_UNKNOWN;
	if (is_end_of_context(call->kind))
		end_context(thread, call);
	return 0;
}

static __always_inline u64 read_context(u64 address)
{
	u64 context = 0;

	if (!bpf_probe_read_user(&context, sizeof(context), (void *)address))
		return context;
	lose(LOSS_UNREADABLE);
	return 0;
}

static __always_inline void count_reference(struct thread *thread, const struct call *call, u64 context)
{
	struct device_record *record = device_record_of(thread->slot, call->arg[CONTEXT_DEVICE]);

	if (!record)
		return;
	record->primary = context;
	__sync_fetch_and_add(&record->retains, 1);
}

static __always_inline void drop_reference(struct thread *thread, const struct call *call)
{
	struct device_record *record = device_record_of(thread->slot, call->arg[CONTEXT_DEVICE]);

	if (record && record->retains)
		__sync_fetch_and_add(&record->retains, -1);
}

/* A context that is current when destroyed is popped as well. */
static __always_inline void pop_destroyed(struct thread *thread, u64 context)
{
	if (context && thread->context_depth && current_context(thread) == context)
		thread->context_depth--;
}

static __noinline int change_context(struct thread *thread, struct call *call)
{
	u64 context;
	u8 device;

	if (!thread || !call)
		return 0;
	context = call->arg[CONTEXT_ARGUMENT];
	device = call->arg[CONTEXT_DEVICE];
	switch (call->kind) {
	case CONTEXT_CREATE:
		context = read_context(context);
		context_is_on(thread->slot, context, device);
		push_context(thread, context, device);
		break;
	case CONTEXT_RETAIN:
		context = read_context(context);
		context_is_on(thread->slot, context, device);
		count_reference(thread, call, context);
		break;
	case CONTEXT_RELEASE:
		drop_reference(thread, call);
		break;
	case CONTEXT_GREEN:
		context_is_on(thread->slot, read_context(call->arg[CONTEXT_OUT]), device);
		break;
	case CONTEXT_DERIVE:
		context_is_on(thread->slot, read_context(call->arg[CONTEXT_OUT]),
			      device_of_context(thread->slot, context));
		break;
	case CONTEXT_PUSH:
		push_context(thread, context, device_of_context(thread->slot, context));
		break;
	case CONTEXT_SET:
		if (!thread->context_depth)
			thread->context_depth = 1;
		set_top(thread, context, device_of_context(thread->slot, context));
		break;
	case CONTEXT_POP:
		if (thread->context_depth)
			thread->context_depth--;
		break;
	case CONTEXT_DESTROY:
		pop_destroyed(thread, context);
		break;
	}
	return 0;
}

/* The call failed: what lived in the context lives on. */
static __always_inline void undo_end(u32 slot, const struct call *call)
{
	struct context_record *record;

	if (!call->arg[CONTEXT_ARGUMENT])
		return;
	record = context_record_of(slot, call->arg[CONTEXT_ARGUMENT]);
	if (record && record->died_ns == call->start_ns)
		record->died_ns = call->arg[CONTEXT_DIED];
}

static __noinline int context_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (is_end_of_context(call->kind) && is_end_of_driver(result))
		return 0;
	if (!result) {
		count_success(thread->slot, call, call->kind, 0, 0);
		change_context(thread, call);
		return 0;
	}
	count_failure(thread->slot, call, call->kind, 0, result);
	if (is_end_of_context(call->kind))
		undo_end(thread->slot, call);
	return 0;
}

#endif
