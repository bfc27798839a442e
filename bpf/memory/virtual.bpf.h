// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Virtual memory management: physical memory by its handle, and where it is mapped. Physical memory
 * lives while it has references: handles and mappings. memory/memory.bpf.h handles reserving
 * ranges, creating and releasing.
 *
 * One unmap call may end any number of mappings, so its bookkeeping walks over its range.
 * References are dropped at entry, since the driver may reuse a handle before the call has
 * returned; physical memory that ends this way waits in SPACE_ENDING, to be restored if the call
 * fails. The program may reuse the addresses only after the return.
 */
#ifndef BPF_MEMORY_VIRTUAL_BPF_H
#define BPF_MEMORY_VIRTUAL_BPF_H

#include "memory/memory.bpf.h"

/* call.arg */
#define VIRTUAL_ADDRESS 0
#define VIRTUAL_SIZE 1
#define VIRTUAL_HANDLE 2 /* or where a handle is written */
#define VIRTUAL_OFFSET 3

#define UNMAP_STEPS 16384 /* mappings of one call */
/* The smallest possible mapping: the step over memory that was mapped before gpuprobe started. */
#define MAP_GRANULARITY (2ull << 20)
#define GROW_TRIES 16

enum unmap_walk_kind {
	UNMAP_BEGIN = 0,   /* drops references */
	UNMAP_COMMIT,	   /* deletes mappings and counts the memory that has ended */
	UNMAP_RESTORE,	   /* restores memory that had ended, without references */
	UNMAP_REREFERENCE, /* restores references */
};

struct unmap_walk {
	u64 address, end;
	u32 slot;
	u16 row;
	u8 kind; /* enum unmap_walk_kind */
};

/* The physical memory behind a mapping, unless its handle was reused. */
static __always_inline struct allocation_record *
physical_of(u32 slot, const struct allocation_record *mapping)
{
	struct allocation_key key = {
		.address = mapping->handle, .slot = slot, .space = SPACE_PHYSICAL};
	struct allocation_record *physical = bpf_map_lookup_elem(&allocations, &key);

	return physical && physical->start_ns <= mapping->start_ns ? physical : NULL;
}

static __always_inline void drop_mapping_reference(const struct allocation_key *at,
						   const struct allocation_record *mapping)
{
	struct allocation_key key = {
		.address = mapping->handle, .slot = at->slot, .space = SPACE_PHYSICAL};
	struct allocation_key ending = {
		.address = at->address, .slot = at->slot, .space = SPACE_ENDING};
	struct allocation_record *physical = physical_of(at->slot, mapping), old;
	int error;

	if (!physical || __sync_fetch_and_add(&physical->references, -1) != 1)
		return;
	old = *physical;
	if (bpf_map_delete_elem(&allocations, &key))
		return;
	error = bpf_map_update_elem(&allocations, &ending, &old, BPF_ANY);
	if (!error)
		return;
	end_live(at->slot);
	lose_update(error, LOSS_ALLOCATION_MAP_FULL);
}

static __always_inline void end_mapping(const struct allocation_key *at,
					const struct allocation_record *mapping, u16 row)
{
	struct allocation_key key = {
		.address = mapping->handle, .slot = at->slot, .space = SPACE_PHYSICAL};
	struct allocation_key ending = {
		.address = at->address, .slot = at->slot, .space = SPACE_ENDING};
	struct allocation_record *found = bpf_map_lookup_elem(&allocations, &ending),
				 old = *mapping;

	if (!bpf_map_delete_elem(&allocations, at)) {
		end_live(at->slot);
		remove_from_ranges(at, old.kind, old.size);
		count_end(at->slot, row, &old, TALLY_ENDED);
	}
	if (!found)
		return;
	old = *found;
	if (bpf_map_delete_elem(&allocations, &ending))
		return;
	end_live(at->slot);
	count_end(at->slot, row, &old, TALLY_ENDED);
	remember_freed(&key, old.kind);
}

static __always_inline void restore_physical(const struct allocation_key *at,
					     const struct allocation_record *mapping)
{
	struct allocation_key key = {
		.address = mapping->handle, .slot = at->slot, .space = SPACE_PHYSICAL};
	struct allocation_key ending = {
		.address = at->address, .slot = at->slot, .space = SPACE_ENDING};
	struct allocation_record *found = bpf_map_lookup_elem(&allocations, &ending), back;
	int error;

	if (!found)
		return;
	back = *found;
	back.references = 0;
	bpf_map_delete_elem(&allocations, &ending);
	error = bpf_map_update_elem(&allocations, &key, &back, BPF_NOEXIST);
	if (error)
		end_live(at->slot);
	if (error == -17 /* EEXIST, as in undo_free */)
		count_end(at->slot, back.row, &back, TALLY_REPLACED);
	else if (error)
		lose_update(error, LOSS_ALLOCATION_MAP_FULL);
}

/* A step of bpf_loop: one mapping, or the addresses of one that is unknown. */
static long unmap_step(u64 index, struct unmap_walk *walk)
{
	struct allocation_key at = {
		.address = walk->address, .slot = walk->slot, .space = SPACE_MAPPED};
	struct allocation_record *mapping = bpf_map_lookup_elem(&allocations, &at), *physical;

	(void)index;
	walk->address += mapping && mapping->size ? mapping->size : MAP_GRANULARITY;
	if (!mapping)
		return walk->address >= walk->end;
	switch (walk->kind) {
	case UNMAP_BEGIN: drop_mapping_reference(&at, mapping); break;
	case UNMAP_COMMIT: end_mapping(&at, mapping, walk->row); break;
	case UNMAP_RESTORE: restore_physical(&at, mapping); break;
	default:
		physical = physical_of(walk->slot, mapping);
		if (physical)
			__sync_fetch_and_add(&physical->references, 1);
	}
	return walk->address >= walk->end;
}

__noinline int unmap_walk(u32 slot, const struct call *call, u32 kind)
{
	struct unmap_walk walk = {.slot = slot, .kind = kind};

	if (!call || !call->arg[VIRTUAL_SIZE])
		return 0;
	walk.row = call->row;
	walk.address = call->arg[VIRTUAL_ADDRESS];
	walk.end = walk.address + call->arg[VIRTUAL_SIZE];
	bpf_loop(UNMAP_STEPS, unmap_step, &walk, 0);
	if (kind == UNMAP_COMMIT && walk.address < walk.end)
		lose(LOSS_UNMAP_TOO_LONG);
	return 0;
}

static __always_inline u8 kind_of_virtual(u8 change)
{
	switch (change) {
	case VIRTUAL_RETAIN: return MEMORY_PHYSICAL;
	case VIRTUAL_IMPORT: return MEMORY_IMPORTED;
	case VIRTUAL_MULTICAST: return MEMORY_UNKNOWN;
	default: return MEMORY_MAPPED;
	}
}

static __noinline int virtual_enter(struct pt_regs *ctx,
				    const volatile struct function_desc *function,
				    struct thread *thread, struct call *call)
{
	call->kind = kind_of_virtual(function->kind);
	call->arg[VIRTUAL_ADDRESS] = argument(ctx, function, ROLE_PTR);
	call->arg[VIRTUAL_SIZE] = argument(ctx, function, ROLE_SIZE);
	call->arg[VIRTUAL_HANDLE] =
		argument(ctx, function, has_role(function, ROLE_OUT) ? ROLE_OUT : ROLE_HANDLE);
	call->arg[VIRTUAL_OFFSET] = argument(ctx, function, ROLE_OFFSET);
	if (function->kind == VIRTUAL_UNMAP)
		unmap_walk(thread->slot, call, UNMAP_BEGIN);
	return 0;
}

/*
 * By how much the size has grown. If threads map at once, each gets only the part that the others
 * have not counted.
 */
static __always_inline u64 raise_size(u64 *size, u64 to)
{
	u64 seen;

	for (int i = 0; i < GROW_TRIES; i++) {
		seen = *(volatile u64 *)size;
		if (to <= seen)
			break;
		if (__sync_val_compare_and_swap(size, seen, to) == seen)
			return to - seen;
	}
	return 0;
}

/* The size of imported memory is known only from its mappings. */
static __always_inline void grow_import(u32 slot, const struct call *call,
					struct allocation_record *import)
{
	u64 grown = raise_size(&import->size,
			       sum_of(call->arg[VIRTUAL_OFFSET], call->arg[VIRTUAL_SIZE]));
	struct tally *tally;

	if (!grown)
		return;
	tally = tally_of(slot, call->row, MEMORY_IMPORTED, TALLY_REFERENCE, import->device);
	if (tally)
		add_bytes(tally, grown);
}

__noinline int map_succeeded(u32 slot, struct call *call)
{
	struct allocation_key key = {.slot = slot, .space = SPACE_MAPPED},
			      physical_key = {.slot = slot};
	struct allocation_record *physical, mapping = {.kind = MEMORY_MAPPED, .references = 1};
	int flags;

	if (!call)
		return 0;
	physical_key.address = call->arg[VIRTUAL_HANDLE];
	physical_key.space = SPACE_PHYSICAL;
	physical = bpf_map_lookup_elem(&allocations, &physical_key);
	call->device = physical ? physical->device : DEVICE_UNKNOWN;
	key.address = call->arg[VIRTUAL_ADDRESS];
	mapping.size = call->arg[VIRTUAL_SIZE];
	mapping.start_ns = call->start_ns;
	mapping.handle = call->arg[VIRTUAL_HANDLE];
	mapping.row = call->row;
	mapping.device = call->device;
	flags = record_allocation(&key, call, &mapping);
	if (physical && !flags) {
		__sync_fetch_and_add(&physical->references, 1);
		if (physical->kind == MEMORY_IMPORTED)
			grow_import(slot, call, physical);
	}
	count_success(slot, call, MEMORY_MAPPED, flags, mapping.size);
	return 0;
}

/*
 * A handle obtained without a size: another reference to known memory, or a handle of unknown
 * memory.
 */
__noinline int handle_given(u32 slot, struct call *call, u32 change)
{
	struct allocation_key key = {.slot = slot, .space = SPACE_PHYSICAL};
	struct allocation_record *physical, record = {.references = 1};
	int flags = 0;

	if (!call)
		return 0;
	if (bpf_probe_read_user(&key.address, sizeof(key.address),
				(void *)call->arg[VIRTUAL_HANDLE])) {
		lose(LOSS_UNREADABLE);
		flags = TALLY_UNTRACKED;
		goto count;
	}
	physical = bpf_map_lookup_elem(&allocations, &key);
	if (physical && change != VIRTUAL_MULTICAST) {
		__sync_fetch_and_add(&physical->references, 1);
		call->device = physical->device;
		call->kind = physical->kind;
		flags = TALLY_REFERENCE;
		goto count;
	}
	/* The memory of a mapping from before gpuprobe started stays unknown. */
	flags = TALLY_REFERENCE | TALLY_UNTRACKED;
	if (change == VIRTUAL_RETAIN)
		goto count;
	call->device = DEVICE_UNKNOWN;
	record.start_ns = call->start_ns;
	record.row = call->row;
	record.kind = call->kind;
	record.device = DEVICE_UNKNOWN;
	flags = record_allocation(&key, call, &record);
count:
	count_success(slot, call, call->kind, flags, 0);
	return 0;
}

/*
 * Undoes what the call's entry did. A function of its own, so that an abandoned call does not need
 * the stack space of a successful one.
 */
__noinline int virtual_failed(struct thread *thread, struct call *call, s32 result)
{
	const volatile struct function_desc *function;

	if (!thread || !call)
		return 0;
	function = function_at(call->row);
	if (!function)
		return 0;
	count_failure(thread->slot, call, call->kind, 0, result);
	if (function->kind != VIRTUAL_UNMAP)
		return 0;
	unmap_walk(thread->slot, call, UNMAP_RESTORE);
	unmap_walk(thread->slot, call, UNMAP_REREFERENCE);
	return 0;
}

__noinline int virtual_leave(struct thread *thread, struct call *call, s32 result)
{
	const volatile struct function_desc *function;

	if (!thread || !call)
		return 0;
	function = function_at(call->row);
	if (!function)
		return 0;
	if (result)
		return virtual_failed(thread, call, result);
	if (function->kind == VIRTUAL_MAP) {
		map_succeeded(thread->slot, call);
	} else if (function->kind == VIRTUAL_UNMAP) {
		count_success(thread->slot, call, call->kind, 0, 0);
		unmap_walk(thread->slot, call, UNMAP_COMMIT);
	} else {
		handle_given(thread->slot, call, function->kind);
	}
	return 0;
}

#endif
