// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Allocation and free. An allocation is recorded at its return, when its
 * address is known and before the program can know it. A free takes effect
 * at its entry, since the driver may give the address to another thread
 * before the free has returned; if the call fails, the record is put back.
 */
#ifndef BPF_MEMORY_H
#define BPF_MEMORY_H

#include "call.h"

/* call.arg of an allocation */
#define ALLOC_OUT 0
#define ALLOC_SIZE 1
#define ALLOC_PITCHOUT 2
#define ALLOC_HEIGHT 3
/* call.arg of a free; its kind is in call.kind, call.flag tells that there was a record */
#define FREE_ADDRESS 0
#define FREED_SIZE 1
#define FREED_START 2
#define FREED_ROW 3

static __noinline int alloc_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				  struct call *call)
{
	call->kind = function->kind;
	call->arg[ALLOC_OUT] = argument(ctx, function, ROLE_OUT);
	call->arg[ALLOC_SIZE] = argument(ctx, function, ROLE_SIZE);
	call->arg[ALLOC_PITCHOUT] = argument(ctx, function, ROLE_PITCHOUT);
	call->arg[ALLOC_HEIGHT] = argument(ctx, function, ROLE_HEIGHT);
	return 0;
}

/* Takes the record of `address` out of the map into the call. */
static __noinline int free_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				 struct thread *thread, struct call *call)
{
	struct allocation_key key = {.slot = thread->slot};
	struct allocation_record *record;

	key.address = argument(ctx, function, ROLE_PTR);
	call->kind = MEMORY_UNKNOWN;
	call->arg[FREE_ADDRESS] = key.address;
	call->arg[FREED_SIZE] = 0;
	record = bpf_map_lookup_elem(&allocations, &key);
	if (!record)
		return 0;
	call->arg[FREED_SIZE] = record->size;
	call->arg[FREED_START] = record->start_ns;
	call->arg[FREED_ROW] = record->row;
	call->kind = record->kind;
	call->device = record->device;
	/* Of two threads that free one address, one finds the record gone. */
	if (bpf_map_delete_elem(&allocations, &key))
		call->kind = MEMORY_UNKNOWN;
	else
		call->flag = 1;
	return 0;
}

/* The address is live by our account, so its free escaped us: the old one is gone. */
static __always_inline void replace_allocation(const struct allocation_key *key, const struct call *call,
					       const struct allocation_record *fresh)
{
	struct allocation_record *old = bpf_map_lookup_elem(&allocations, key);
	struct tally *tally;
	u64 size;
	u8 kind, device;

	if (!old)
		return;
	size = old->size;
	kind = old->kind;
	device = old->device;
	if (bpf_map_update_elem(&allocations, key, fresh, BPF_EXIST))
		return;
	tally = tally_of(key->slot, call->row, kind, TALLY_REPLACED, device);
	if (!tally)
		return;
	__sync_fetch_and_add(&tally->calls, 1);
	__sync_fetch_and_add(&tally->bytes, size);
}

static __always_inline bool record_allocation(u32 slot, const struct call *call, u64 address, u64 size)
{
	struct allocation_key key = {.address = address, .slot = slot};
	struct allocation_record record = {
		.size = size, .row = call->row, .kind = call->kind, .device = call->device};
	long error;

	record.start_ns = call->start_ns;
	error = bpf_map_update_elem(&allocations, &key, &record, BPF_NOEXIST);
	if (error == -17 /* EEXIST */) {
		replace_allocation(&key, call, &record);
		return true;
	}
	if (error)
		lose_update(error, LOSS_ALLOCATION_MAP_FULL);
	return !error;
}

static __always_inline void alloc_succeeded(u32 slot, struct call *call)
{
	const volatile struct function_desc *function = function_at(call->row);
	u64 address = 0, size = call->arg[ALLOC_SIZE], pitch = 0;
	long error;

	if (!function)
		return;
	if (function->flags & FUNCTION_OUT_32)
		error = bpf_probe_read_user(&address, 4, (void *)call->arg[ALLOC_OUT]);
	else
		error = bpf_probe_read_user(&address, 8, (void *)call->arg[ALLOC_OUT]);
	if (has_role(function, ROLE_PITCHOUT)) {
		if (function->flags & FUNCTION_OUT_32)
			error |= bpf_probe_read_user(&pitch, 4, (void *)call->arg[ALLOC_PITCHOUT]);
		else
			error |= bpf_probe_read_user(&pitch, 8, (void *)call->arg[ALLOC_PITCHOUT]);
		size = pitch * call->arg[ALLOC_HEIGHT];
	}
	if (error) {
		lose(LOSS_UNREADABLE);
		address = 0;
	}
	/* An allocation of no bytes has no address, and nothing is live. */
	if (!address || !record_allocation(slot, call, address, size))
		count_success(slot, call, call->kind, TALLY_UNTRACKED, size);
	else
		count_success(slot, call, call->kind, 0, size);
}

static __always_inline void remember_freed(u32 slot, u64 address)
{
	struct process_record *process = process_at(slot);
	u32 n;

	if (!process)
		return;
	n = __sync_fetch_and_add(&process->freed_next, 1);
	process->freed[n % FREED_KEPT] = address;
}

static __always_inline void free_returned(u32 slot, struct call *call, s32 result)
{
	struct allocation_key key = {.address = call->arg[FREE_ADDRESS], .slot = slot};
	struct allocation_record record = {.size = call->arg[FREED_SIZE]};
	long error;

	/* Freeing NULL is a success that frees nothing. */
	if (!key.address && !result)
		return;
	if (!result) {
		count_success(slot, call, call->kind, 0, record.size);
		if (call->flag && call->kind != MEMORY_HOST)
			remember_freed(slot, key.address);
		return;
	}
	count_failure(slot, call, call->kind, 0, result);
	if (!call->flag)
		return;
	record.start_ns = call->arg[FREED_START];
	record.row = call->arg[FREED_ROW];
	record.kind = call->kind;
	record.device = call->device;
	error = bpf_map_update_elem(&allocations, &key, &record, BPF_NOEXIST);
	if (error)
		lose_update(error, LOSS_ALLOCATION_MAP_FULL);
}

static __noinline int alloc_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	/* The runtime makes a context current inside a thread's first call. */
	if (call->device == DEVICE_UNKNOWN)
		call->device = current_device(thread);
	if (result)
		count_failure(thread->slot, call, call->kind, 0, result);
	else
		alloc_succeeded(thread->slot, call);
	return 0;
}

static __noinline int free_leave(struct thread *thread, struct call *call, s32 result)
{
	if (thread && call)
		free_returned(thread->slot, call, result);
	return 0;
}

#endif
