// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The current context and device of each thread, from the changes that were seen. 0 and
 * DEVICE_UNKNOWN mean unknown, as for a thread that existed before gpuprobe. A context belongs to
 * the device that it was created on; once known, that holds for every thread that makes it current.
 *
 * When a context ends, everything in it ends too. The entries are not deleted here: the context's
 * record stores the time, older objects count as dead, and userspace deletes them. The time is that
 * of the call's entry; it is restored if the call fails.
 */
#ifndef BPF_OBJECT_CONTEXT_BPF_H
#define BPF_OBJECT_CONTEXT_BPF_H

#include "wait/inflight.bpf.h"
#include "launch/module.bpf.h"

/*
 * call.arg; calls that end a context also use those of object/live.bpf.h. call.named is the device
 * that the call names.
 */
#define CONTEXT_ARGUMENT OBJECT_HANDLE /* a context, or the address where one is written */
#define CONTEXT_OUT 1
#define CONTEXT_DIED 3 /* previous died_ns of the context that ends */

/* call.flag */
#define CONTEXT_COUNTS 1    /* the call creates or ends a context */
#define CONTEXT_ON_RECORD 2 /* that context has a record, or had one */
#define CONTEXT_DROPPED 4   /* it dropped one reference to its device's primary context */

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
	int error;

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
	int error;

	if (record || !context)
		return record;
	error = bpf_map_update_elem(&contexts, &key, &fresh, BPF_NOEXIST);
	record = bpf_map_lookup_elem(&contexts, &key);
	if (!record)
		lose_update(error, LOSS_CONTEXT_MAP_FULL);
	return record;
}

/* The call that created the context named its device. */
static __always_inline void context_is_on(u32 slot, u64 context, u8 device)
{
	struct context_record *record = context_record_of(slot, context);

	if (record)
		record->device = device;
}

/* The thread's current context, even if unknown, belongs to that device. */
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

static __always_inline void pop_context(struct thread *thread)
{
	if (thread->context_depth)
		thread->context_depth--;
}

/* Replaces the top of the stack. Context 0 is not pushed: it pops the top. */
static __always_inline void set_context(struct thread *thread, u64 context)
{
	if (!context) {
		pop_context(thread);
		return;
	}
	if (!thread->context_depth)
		thread->context_depth = 1;
	set_top(thread, context, device_of_context(thread->slot, context));
}

/* Drops a reference to the device's primary context. Returns whether it was the last. */
static __always_inline bool drop_reference(struct thread *thread, struct call *call,
					   struct device_record *record)
{
	if (!record->retains)
		return false;
	call->flag |= CONTEXT_DROPPED;
	/* The last one is only recognized if all references were seen being taken. */
	return __sync_fetch_and_add(&record->retains, -1) == 1 && is_seen_from_start(thread->slot);
}

/*
 * If only the runtime's calls are watched, no call reveals the handle of the primary context: a
 * small number derived from the device stands for it.
 */
static __always_inline u64 primary_standin(u8 device)
{
	return (u64)device + 1;
}

/* The context that a call ends, at its entry; 0 if unknown. */
static __always_inline u64 context_that_goes(struct thread *thread, struct call *call)
{
	struct device_record *record;

	if (call->kind == CONTEXT_DESTROY)
		return call->arg[CONTEXT_ARGUMENT];
	record = device_record_of(thread->slot, call->named);
	if (!record)
		return 0;
	if (call->kind == CONTEXT_RELEASE && !drop_reference(thread, call, record))
		return 0;
	if (!record->primary && call->kind == CONTEXT_RESET && call->named != DEVICE_UNKNOWN)
		return primary_standin(call->named);
	return record->primary;
}

static __always_inline void add_attached(u32 slot, u64 context)
{
	struct context_record *record = context_record_of(slot, context);

	if (record)
		__sync_fetch_and_add(&record->attached, 1);
}

/* Drops a reference other than the maker's. Returns whether there was one. */
static __always_inline bool drop_attached(u32 slot, u64 context)
{
	struct context_record *record = context_record_of(slot, context);

	if (!record || !record->attached)
		return false;
	if ((s32)__sync_fetch_and_add(&record->attached, -1) > 0)
		return true;
	__sync_fetch_and_add(&record->attached, 1);
	return false;
}

static __always_inline void end_context(struct thread *thread, struct call *call)
{
	struct context_record *record;
	u64 context = context_that_goes(thread, call);

	call->arg[CONTEXT_ARGUMENT] = context;
	if (!context)
		return;
	/* Its modules end with it, and their handles may be reused. */
	unload_enter(thread, 0);
	/* A reset keeps the context itself for those who hold it. */
	if (call->kind != CONTEXT_RESET) {
		call->flag |= CONTEXT_COUNTS;
		if (object_ends(thread->slot, call, OBJECT_CONTEXT, context))
			call->flag |= CONTEXT_ON_RECORD;
	}
	record = context_record_of(thread->slot, context);
	if (!record)
		return;
	call->arg[CONTEXT_DIED] = record->died_ns;
	record->dying = 1;
	record->died_ns = call->start_ns;
}

static __always_inline bool is_end_of_context(u8 kind)
{
	return kind == CONTEXT_DESTROY || kind == CONTEXT_RESET || kind == CONTEXT_RELEASE;
}

static __noinline int context_enter(struct pt_regs *ctx,
				    const volatile struct function_desc *function,
				    struct thread *thread, struct call *call)
{
	u64 device;

	call->kind = function->kind;
	call->arg[CONTEXT_ARGUMENT] = argument(ctx, function, ROLE_CTX);
	call->arg[CONTEXT_OUT] = argument(ctx, function, ROLE_OUT);
	device = has_role(function, ROLE_DEVICE) ? argument(ctx, function, ROLE_DEVICE) :
						   call->device;
	call->named = device < DEVICE_UNKNOWN ? device : DEVICE_UNKNOWN;
	if (call->kind == CONTEXT_DETACH &&
	    !drop_attached(thread->slot, call->arg[CONTEXT_ARGUMENT]))
		call->kind = CONTEXT_DESTROY;
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

static __always_inline void context_begins(u32 slot, struct call *call, u64 context)
{
	struct context_record *record = context_record_of(slot, context);

	if (record) {
		record->device = call->named;
		record->attached = 0;
	}
	call->flag |= CONTEXT_COUNTS;
	if (object_begins(slot, call, OBJECT_CONTEXT, context, 0))
		call->flag |= CONTEXT_ON_RECORD;
}

/*
 * The first reference creates the primary context. If several threads' first references race, one
 * of them counts as the creation.
 */
static __always_inline void count_reference(struct thread *thread, struct call *call, u64 context)
{
	struct object_key key = {.handle = context, .slot = thread->slot, .kind = OBJECT_CONTEXT};
	struct device_record *record = device_record_of(thread->slot, call->named);
	struct object_record fresh = {
		.start_ns = call->start_ns,
		.stack = call->stack,
		.row = call->row,
		.device = call->named,
	};
	int error;

	context_is_on(thread->slot, context, call->named);
	if (record) {
		record->primary = context;
		__sync_fetch_and_add(&record->retains, 1);
	}
	if (!context)
		return;
	error = keep_object(&key, &fresh);
	if (error == -17 /* EEXIST */)
		return;
	call->flag |= CONTEXT_COUNTS;
	if (error)
		lose_update(error, LOSS_OBJECT_MAP_FULL);
	else
		call->flag |= CONTEXT_ON_RECORD;
}

/* Destroying the current context also pops it. */
static __always_inline void pop_destroyed(struct thread *thread, u64 context)
{
	if (context && thread->context_depth && current_context(thread) == context)
		thread->context_depth--;
}

__noinline int change_context(struct thread *thread, struct call *call)
{
	u64 context;

	if (!thread || !call)
		return 0;
	context = call->arg[CONTEXT_ARGUMENT];
	switch (call->kind) {
	case CONTEXT_CREATE:
		context = read_context(context);
		context_begins(thread->slot, call, context);
		push_context(thread, context, call->named);
		break;
	case CONTEXT_RETAIN: count_reference(thread, call, read_context(context)); break;
	case CONTEXT_GREEN:
		context_begins(thread->slot, call, read_context(call->arg[CONTEXT_OUT]));
		break;
	case CONTEXT_DERIVE:
		context_is_on(thread->slot, read_context(call->arg[CONTEXT_OUT]),
			      device_of_context(thread->slot, context));
		break;
	case CONTEXT_ATTACH: add_attached(thread->slot, read_context(context)); break;
	case CONTEXT_PUSH:
		push_context(thread, context, device_of_context(thread->slot, context));
		break;
	case CONTEXT_SET: set_context(thread, context); break;
	case CONTEXT_POP: pop_context(thread); break;
	case CONTEXT_DESTROY: pop_destroyed(thread, context); break;
	}
	return 0;
}

/* TALLY_* flags of a successful call. */
static __always_inline u16 context_flags(const struct call *call)
{
	if (!(call->flag & CONTEXT_COUNTS))
		return 0;
	return call->flag & CONTEXT_ON_RECORD ? TALLY_OBJECT : TALLY_OBJECT | TALLY_UNTRACKED;
}

/* The context is gone: its copies are no longer in flight, finished or not. */
static __always_inline void context_ended(struct thread *thread, const struct call *call)
{
	struct context_record *record =
		context_record_of(thread->slot, call->arg[CONTEXT_ARGUMENT]);
	struct process_record *process = process_at(thread->slot);

	if (record) {
		record->died_epoch = next_epoch(thread->slot);
		record->dying = 0;
	}
	forget_context_orders(thread->slot, call->arg[CONTEXT_ARGUMENT]);
	/* After the above: whoever sees the new count may delete what lived in the context. */
	if (process)
		__sync_fetch_and_add(&process->deaths, 1);
}

/* The call failed: the context's contents live on. */
static __always_inline void context_lives_on(struct thread *thread, const struct call *call)
{
	u64 context = call->arg[CONTEXT_ARGUMENT];
	struct context_record *record = context_record_of(thread->slot, context);
	struct device_record *device;

	if (record && record->died_ns == call->start_ns)
		record->died_ns = call->arg[CONTEXT_DIED];
	if (record)
		record->dying = 0;
	if (call->flag & CONTEXT_ON_RECORD)
		object_lives_on(thread->slot, call, OBJECT_CONTEXT, context);
	if (!(call->flag & CONTEXT_DROPPED))
		return;
	device = device_record_of(thread->slot, call->named);
	if (device)
		__sync_fetch_and_add(&device->retains, 1);
}

/*
 * Undoes what the call's entry did. A function of its own, so that an abandoned call does not need
 * the stack space of a successful one.
 */
__noinline int context_failed(struct thread *thread, struct call *call, s32 result)
{
	bool ends;

	if (!thread || !call)
		return 0;
	ends = is_end_of_context(call->kind);
	if (ends)
		context_lives_on(thread, call);
	else if (call->kind == CONTEXT_DETACH)
		add_attached(thread->slot, call->arg[CONTEXT_ARGUMENT]);
	if (!ends || !is_end_of_driver(result))
		count_failure(thread->slot, call, call->kind, 0, result);
	return 0;
}

__noinline int context_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (result)
		return context_failed(thread, call, result);
	change_context(thread, call);
	if (is_end_of_context(call->kind) && call->arg[CONTEXT_ARGUMENT])
		context_ended(thread, call);
	count_success(thread->slot, call, call->kind, context_flags(call), 0);
	return 0;
}

#endif
