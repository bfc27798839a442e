// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Tensors: allocations and frees of a framework's allocator, at its static probe points. One
 * program for all points; a site's cookie has the number of its point. It is loaded only if tensors
 * are watched.
 *
 * A point inside of the allocator reports each piece once, so there is no nesting and no return. An
 * allocation is known when it has succeeded, a free before the allocator takes the memory back.
 * The tensors of a forked child are its own: its slot is another one.
 */
#ifndef BPF_TENSOR_TENSOR_BPF_H
#define BPF_TENSOR_TENSOR_BPF_H

#include "core/site.bpf.h"
#include "core/sum.bpf.h"
#include "memory/shortage.bpf.h"
#include "process/confined.bpf.h"
#include "stack/take_stack.bpf.h"
#include "tensor/operand.bpf.h"
#include "tensor/state.bpf.h"

/* Higher numbers of devices count as unknown: what a program makes of them is bounded. */
#define TENSOR_DEVICES 128

/* --- call sites --- */

/* The process's Python frames alone, without a native walk. Returns 0 if the thread has none. */
static __always_inline u64 python_stack(struct pt_regs *ctx, struct stack_scratch *scratch,
					const struct process_record *process, u32 slot)
{
	const struct stack_origin origin = {
		.start_ns = process->start_ns,
		.owner = slot,
		.pid = process->pid,
		.interrupted = true,
	};
	struct stack_record *record = &scratch->record;

	record->start_ns = origin.start_ns;
	record->code_version = version_of_code(origin.pid);
	record->function = 0;
	record->owner = origin.owner;
	record->pid = origin.pid;
	record->pythons = 0;
	record->flags = STACK_INTERRUPTED | STACK_PYTHON;
	record->natives = 0;
	record->callers = 0;
	record->copied = 0;
	record->chain = 0;
	keep_registers(record, ctx, &origin);
	walk_python_stack(scratch);
	if (!record->pythons)
		return 0;
	return hash_python(scratch,
			   mix(config.stack_seed, record->start_ns ^ (u64)record->pid << 32));
}

/* The id of the stack of a thread at a probe point; 0: it could not be taken. */
static __noinline u64 tensor_stack(struct pt_regs *ctx, const struct thread *thread)
{
	struct stack_scratch *scratch = stack_scratch();
	struct process_record *process = process_at(thread->slot);
	struct stack_origin origin = {.owner = thread->slot, .interrupted = true};
	u64 id = 0, known;

	if (!scratch || !process)
		return 0;
	if (config.tensor_python)
		id = python_stack(ctx, scratch, process, thread->slot);
	if (!id) {
		origin.start_ns = process->start_ns;
		origin.pid = process->pid;
		id = read_stack(scratch, ctx, ctx, &origin);
		keep_callers(&scratch->record, thread);
	}
	known = reported_stack(&scratch->record, id);
	if (known)
		return known;
	report_stack(&scratch->record);
	return scratch->record.id;
}

/* --- the share of tensors whose stacks are taken --- */

/* A period is over: chooses the share of the next one by what stacks have cost in it. */
static __always_inline void renew_pace(struct tensor_pace *pace, u64 ns)
{
	u64 elapsed = ns - pace->begin_ns, every = pace->every ? pace->every : 1;
	u64 spent = pace->paid_ns + pace->debt_ns / TENSOR_DEBT_PERIODS, allowed;

	elapsed = elapsed < TENSOR_PERIOD_MAX_NS ? elapsed : TENSOR_PERIOD_MAX_NS;
	allowed = (elapsed * config.tensor_share >> 16) + 1;
	/* At most by half, in case that no stack happened to be taken. */
	every = spent < allowed / 2 ? (every + 1) / 2 : (every * spent + allowed - 1) / allowed;
	pace->every = every < TENSOR_EVERY_MAX ? every : TENSOR_EVERY_MAX;
	if (pace->made)
		pace->mean_bytes = pace->made_bytes / pace->made;
	pace->made -= pace->made / TENSOR_PERIODS_MEANT;
	pace->made_bytes -= pace->made_bytes / TENSOR_PERIODS_MEANT;
	pace->debt_ns += pace->paid_ns;
	pace->debt_ns = pace->debt_ns > allowed ? pace->debt_ns - allowed : 0;
	if (pace->debt_ns > TENSOR_DEBT_MAX * TENSOR_PERIOD_NS * config.tensor_share >> 16)
		pace->debt_ns = TENSOR_DEBT_MAX * TENSOR_PERIOD_NS * config.tensor_share >> 16;
	pace->paid_ns = 0;
	pace->begin_ns = ns;
}

/* As how many tensors this one counts at its call site; 0: its stack is not taken. */
static __noinline u32 tensor_weight(struct thread *thread, u64 bytes)
{
	struct tensor_pace *pace = &thread->tensors;
	u64 ns = now(), every;

	if (ns - pace->begin_ns >= TENSOR_PERIOD_NS ||
	    pace->paid_ns > TENSOR_EXCESS * TENSOR_PERIOD_NS * config.tensor_share >> 16)
		renew_pace(pace, ns);
	pace->made++;
	pace->made_bytes += bytes;
	every = pace->every;
	if (bytes > pace->mean_bytes)
		every = every * pace->mean_bytes / bytes;
	if (every <= 1)
		return 1;
	return (bpf_get_prandom_u32() * every) >> 32 ? 0 : every;
}

/* --- counters --- */

static __always_inline struct tensor_device_record *tensor_device(u32 slot, s32 device)
{
	const struct tensor_device_key key = {.slot = slot, .device = device};
	struct tensor_device_record *record = bpf_map_lookup_elem(&tensor_devices, &key), zero = {};
	int error;

	if (record)
		return record;
	error = bpf_map_update_elem(&tensor_devices, &key, &zero, BPF_NOEXIST);
	record = bpf_map_lookup_elem(&tensor_devices, &key);
	if (!record)
		lose_update(error, LOSS_TENSOR_MAP_FULL);
	return record;
}

static __always_inline struct tensor_site_record *tensor_site(u32 slot, u64 stack)
{
	const struct tensor_site_key key = {.slot = slot, .stack = stack};
	struct tensor_site_record *record = bpf_map_lookup_elem(&tensor_sites, &key), zero = {};
	int error;

	if (record)
		return record;
	error = bpf_map_update_elem(&tensor_sites, &key, &zero, BPF_NOEXIST);
	record = bpf_map_lookup_elem(&tensor_sites, &key);
	if (!record)
		lose_update(error, LOSS_SITE_MAP_FULL);
	return record;
}

/* Threads may raise it at once: the highest one that is written last is low by little. */
static __always_inline void raise_peak(u64 *peak, u64 live)
{
	if (live > *(volatile u64 *)peak && live <= ~0ull >> 1)
		*(volatile u64 *)peak = live;
}

static __always_inline void count_made_at(u32 slot, const struct tensor_record *tensor)
{
	struct tensor_site_record *site = tensor->weight ? tensor_site(slot, tensor->stack) : NULL;

	if (!site)
		return;
	__sync_fetch_and_add(&site->made, tensor->weight);
	add_to_sum(&site->made_bytes, tensor->bytes * tensor->weight);
	raise_peak(&site->peak_bytes, site->made_bytes - site->freed_bytes);
}

static __always_inline void count_freed_at(u32 slot, const struct tensor_record *tensor)
{
	struct tensor_site_record *site = tensor->weight ? tensor_site(slot, tensor->stack) : NULL;

	if (!site)
		return;
	__sync_fetch_and_add(&site->freed, tensor->weight);
	add_to_sum(&site->freed_bytes, tensor->bytes * tensor->weight);
}

/*
 * Whether the process may have one more tensor on record. One process may have three quarters of
 * the map, the rest is for others.
 */
static __always_inline bool begin_tensor(u32 slot)
{
	const struct tensor_count_key key = {.slot = slot};
	u64 *live = bpf_map_lookup_elem(&tensor_counts, &key), zero = 0;

	if (!live) {
		bpf_map_update_elem(&tensor_counts, &key, &zero, BPF_NOEXIST);
		live = bpf_map_lookup_elem(&tensor_counts, &key);
	}
	if (!live || *(volatile u64 *)live >= config.max_tensors - config.max_tensors / 4)
		return false;
	__sync_fetch_and_add(live, 1);
	return true;
}

static __always_inline void end_tensor(u32 slot)
{
	const struct tensor_count_key key = {.slot = slot};
	u64 *live = bpf_map_lookup_elem(&tensor_counts, &key);

	if (live)
		__sync_fetch_and_add(live, -1);
}

/* --- events --- */

static __noinline int tell_event(u8 action, const struct tensor_key *key,
				 const struct tensor_record *tensor)
{
	struct tensor_event *event = bpf_ringbuf_reserve(&tensor_ring, sizeof(*event), 0);
	const struct process_record *process = process_at(key->slot);

	if (!event)
		return lose(LOSS_TENSOR_RING_FULL);
	__builtin_memset(event, 0, sizeof(*event));
	event->time_ns = action == TENSOR_ALLOCATES ? tensor->start_ns : now();
	event->address = key->address;
	event->bytes = tensor->bytes;
	event->stack = tensor->stack;
	event->stream = tensor->stream;
	event->device = tensor->device;
	event->pid = process ? process->pid : 0;
	event->action = action;
	/* Userspace looks often enough. */
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
	return 0;
}

/* --- allocations --- */

/* The address is on record: its free was missed. Its tensor ends now. */
static __always_inline int replace_tensor(const struct tensor_key *key,
					  const struct tensor_record *fresh)
{
	struct tensor_record *found = bpf_map_lookup_elem(&tensors, key), old;
	struct tensor_device_record *device;

	if (!found)
		return -1;
	old = *found;
	if (bpf_map_update_elem(&tensors, key, fresh, BPF_EXIST))
		return -1;
	count_freed_at(key->slot, &old);
	device = tensor_device(key->slot, old.device);
	if (device) {
		__sync_fetch_and_add(&device->replaced, 1);
		add_to_sum(&device->replaced_bytes, old.bytes);
	}
	return 0;
}

/* Returns 0 if the tensor is on record. Global: the verifier goes through it once. */
__noinline int record_tensor(const struct tensor_key *at, const struct tensor_record *tensor)
{
	struct tensor_record fresh;
	struct tensor_key key;
	int error;

	if (!at || !tensor)
		return -1;
	key = *at;
	fresh = *tensor;
	error = begin_tensor(key.slot) ? bpf_map_update_elem(&tensors, &key, &fresh, BPF_NOEXIST) :
					 -7 /* E2BIG */;
	if (error && error != -7)
		end_tensor(key.slot);
	if (error == -17 /* EEXIST */)
		error = replace_tensor(&key, &fresh);
	else if (error)
		lose_update(error, LOSS_TENSOR_MAP_FULL);
	if (!error)
		count_made_at(key.slot, &fresh);
	return error;
}

/* What was live on the device before, of tensors on record. */
static __always_inline u64 live_bytes(const struct tensor_device_record *device)
{
	return device->made_bytes - device->freed_bytes - device->replaced_bytes -
	       device->untracked_bytes;
}

static __noinline int tensor_made(u32 slot, u64 address, const struct tensor_record *tensor)
{
	struct tensor_device_record *device = tensor_device(slot, tensor->device);
	const struct tensor_key key = {.address = address, .slot = slot};
	int untracked;

	if (config.tensor_events)
		tell_event(TENSOR_ALLOCATES, &key, tensor);
	/* Without counters nothing is recorded: userspace finds the process's tensors by them. */
	if (!device)
		return 0;
	untracked = record_tensor(&key, tensor);
	__sync_fetch_and_add(&device->made, 1);
	add_to_sum(&device->made_bytes, tensor->bytes);
	if (!tensor->weight)
		__sync_fetch_and_add(&device->unsampled, 1);
	if (untracked) {
		__sync_fetch_and_add(&device->untracked, 1);
		add_to_sum(&device->untracked_bytes, tensor->bytes);
	}
	raise_peak(&device->peak_bytes, live_bytes(device));
	return 0;
}

/* --- frees --- */

static __noinline int keep_late_tensor(const struct tensor_key *at,
				       const struct tensor_record *tensor)
{
	const struct allocation_key key = {
		.address = at->address, .slot = at->slot, .late = LATE_TENSOR};
	const struct allocation_record freed = {
		.size = tensor->bytes,
		.start_ns = tensor->start_ns,
		.kind = MEMORY_DEVICE,
		.device = tensor->device < 0 ? DEVICE_UNKNOWN : tensor->device,
		.references = tensor->weight,
		.stack = tensor->stack,
	};

	return keep_late_free(&key, &freed);
}

static __noinline int tensor_freed(u32 slot, u64 address)
{
	const struct tensor_key key = {.address = address, .slot = slot};
	struct tensor_record *found = bpf_map_lookup_elem(&tensors, &key), old = {};
	struct tensor_device_record *device;
	bool known = found;

	old.device = TENSOR_DEVICE_UNKNOWN;
	if (found)
		old = *found;
	/* If two threads free one address, the second finds no record. */
	if (known && bpf_map_delete_elem(&tensors, &key)) {
		known = false;
		old.device = TENSOR_DEVICE_UNKNOWN;
	}
	if (config.tensor_events)
		tell_event(TENSOR_FREES, &key, &old);
	device = tensor_device(slot, old.device);
	if (known) {
		end_tensor(slot);
		count_freed_at(slot, &old);
		keep_late_tensor(&key, &old);
	}
	if (!device)
		return 0;
	if (!known) {
		__sync_fetch_and_add(&device->unknown_frees, 1);
		return 0;
	}
	__sync_fetch_and_add(&device->freed, 1);
	add_to_sum(&device->freed_bytes, old.bytes);
	return 0;
}

/* --- the program --- */

/* The operand's value; `otherwise` if the point does not have it. */
static __always_inline u64 operand_of(const struct operand_registers *registers,
				      const struct tensor_point *point, enum tensor_role role,
				      u64 otherwise)
{
	u64 value = 0;

	return read_operand(registers, &point->operands[role], &value) ? otherwise : value;
}

static __always_inline s32 device_of(const struct operand_registers *registers,
				     const struct tensor_point *point)
{
	u64 device = operand_of(registers, point, TENSOR_DEVICE, TENSOR_DEVICES);

	return device < TENSOR_DEVICES ? (s32)device : TENSOR_DEVICE_UNKNOWN;
}

/* A framework's allocator is about to fail, also for a limit of its own. */
static __noinline int report_exhausted(struct pt_regs *ctx, const struct tensor_point *point,
				       u32 slot, u64 stack)
{
	struct operand_registers registers;
	struct record_shortage like = {.time_ns = now(), .stack = stack};
	u64 device;

	read_registers(ctx, &registers);
	device = operand_of(&registers, point, TENSOR_DEVICE, DEVICE_UNKNOWN);
	like.device = device < DEVICE_UNKNOWN ? (u8)device : DEVICE_UNKNOWN;
	like.bytes = operand_of(&registers, point, TENSOR_BYTES, 0);
	like.allocated = operand_of(&registers, point, TENSOR_ALLOCATED, 0);
	like.reserved = operand_of(&registers, point, TENSOR_RESERVED, 0);
	return send_shortage_like(slot, RECORD_SHORTAGE_FINAL, &like);
}

/*
 * Returns the address of the operands, and of an allocation also its size and device. A function of
 * its own, since the program's deepest path of calls has just enough stack on Linux 6.1.
 */
static __noinline u64 read_tensor(struct pt_regs *ctx, const struct tensor_point *point,
				  struct tensor_record *tensor)
{
	struct operand_registers registers;

	read_registers(ctx, &registers);
	if (point->action == TENSOR_ALLOCATES) {
		tensor->bytes = operand_of(&registers, point, TENSOR_BYTES, 0);
		tensor->device = device_of(&registers, point);
		if (config.tensor_events)
			tensor->stream = operand_of(&registers, point, TENSOR_STREAM, 0);
	}
	return operand_of(&registers, point, TENSOR_POINTER, 0);
}

/* At a probe point. Always returns 0: before Linux 6.13 a 1 would remove the probe. */
SEC("?uprobe")
int tensor_point(struct pt_regs *ctx)
{
	u32 site = entry_site(ctx), number = (site & SITE_ROW) - TENSOR_ROW;
	struct tensor_record tensor = {.weight = 1};
	struct tensor_point *point;
	struct thread *thread;
	u64 address, sp = ctx->sp;

	barrier_var(sp);
	point = bpf_map_lookup_elem(&tensor_points, &number);
	if (!point || !point->action)
		return 0;
	thread = current_thread();
	if (!thread || is_taken(&thread->taken, site, sp))
		return 0;
	if (point->action == TENSOR_EXHAUSTED)
		return report_exhausted(ctx, point, thread->slot,
					config.stack_mode ? tensor_stack(ctx, thread) : 0);
	address = read_tensor(ctx, point, &tensor);
	if (!address)
		return 0; /* freeing NULL frees nothing; or it was unreadable, which is counted */
	if (point->action == TENSOR_FREES)
		return tensor_freed(thread->slot, address);
	tensor.start_ns = now();
	if (config.tensor_share)
		tensor.weight = tensor_weight(thread, tensor.bytes);
	if (config.stack_mode && tensor.weight)
		tensor.stack = tensor_stack(ctx, thread);
	if (config.tensor_share)
		thread->tensors.paid_ns += now() - tensor.start_ns;
	return tensor_made(thread->slot, address, &tensor);
}

#endif
