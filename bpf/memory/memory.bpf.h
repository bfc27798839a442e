// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Allocation and free. An allocation is recorded at its return, when its address is known but
 * before the program can use it. A free takes effect at its entry, since the driver may give the
 * address to another thread before the free has returned; if the call fails, the record is
 * restored.
 *
 * Memory of an ended context is dead, although its record remains until userspace deletes it or the
 * address is reused.
 */
#ifndef BPF_MEMORY_MEMORY_BPF_H
#define BPF_MEMORY_MEMORY_BPF_H

#include "profile/size.bpf.h"
#include "copy/arrays.bpf.h"
#include "launch/capture.bpf.h"
#include "memory/freed.bpf.h"
#include "memory/pool.bpf.h"
#include "memory/ranges.bpf.h"
#include "memory/shortage.bpf.h"

/* call.arg of an allocation */
#define ALLOC_OUT 0 /* where the address is written; for registered memory the address itself */
#define ALLOC_SIZE 1
#define ALLOC_PITCHOUT 2 /* where the pitch is written; 0: the size is known */
#define ALLOC_POOL 2	 /* the pool, for pool memory */
#define ALLOC_HEIGHT 3
/*
 * call.arg of a free. The kind is in call.kind, the record's row in call.extra, a free_state in
 * call.flag
 */
#define FREE_ADDRESS 0
#define FREED_SIZE 1
#define FREED_START 2
#define FREED_CONTEXT 3 /* or the pool */

enum free_state {
	FREE_UNKNOWN = 0,
	FREE_TAKEN,	/* the record has moved to the call */
	FREE_REFERENCE, /* the memory has other references */
	FREE_DOUBLE,	/* the address had been freed before */
	FREE_CAPTURED,	/* captured into a graph */
};

/* call.flag of an allocation: captured into a graph; recorded, so that its end will be seen */
#define ALLOC_CAPTURED 1
#define ALLOC_ON_RECORD 2

/* Offset of the pitch in cudaPitchedPtr. */
#define PITCHED_PITCH 8
/* CUDA_EXTERNAL_MEMORY_BUFFER_DESC, cudaExternalMemoryBufferDesc */
#define BUFFER_SIZE_AT 8

static __always_inline u8 space_of(const volatile struct function_desc *function)
{
	switch (function->kind) {
	case MEMORY_REGISTERED: return SPACE_REGISTERED;
	case MEMORY_ARRAY: return SPACE_ARRAY;
	case MEMORY_PHYSICAL: return SPACE_PHYSICAL;
	case MEMORY_RESERVED: return SPACE_RESERVED;
	default: return function->params == PARAMS_EXTERNAL_ARRAY ? SPACE_ARRAY : SPACE_ADDRESS;
	}
}

/*
 * Whether memory/ranges.bpf.h must index memory of this kind. Host memory determines copies' sides;
 * other kinds only on demand.
 */
static __always_inline bool is_ranged(u32 slot, u8 kind)
{
	struct process_record *process;

	if (is_host_kind(kind) || kind == MEMORY_MAPPED)
		return true;
	if (kind != MEMORY_DEVICE && kind != MEMORY_MANAGED && kind != MEMORY_POOL &&
	    kind != MEMORY_IMPORTED)
		return false;
	process = process_at(slot);
	return process && process->unified;
}

static __always_inline void add_to_ranges(const struct allocation_key *key,
					  const struct allocation_record *record)
{
	struct range_record range = {
		.address = key->address,
		.size = record->size,
		.space = key->space,
		.kind = record->kind,
		.device = record->device,
	};

	if (is_ranged(key->slot, record->kind))
		range_add(key->slot, &range);
}

static __always_inline void remove_from_ranges(const struct allocation_key *key, u8 kind, u64 size)
{
	if (is_ranged(key->slot, kind))
		range_remove(key->slot, key->address, size);
}

/*
 * Profile: memory freed as a side effect counts as freed by this call. Its duration is not
 * attributed: it covers more than the free.
 */
static __always_inline void count_ended_size(u32 slot, const struct allocation_record *record,
					     u32 flags)
{
	struct size_key key = {.size = record->size,
			       .slot = slot,
			       .row = record->row,
			       .kind = record->kind,
			       .device = record->device};

	size_ended(&key, flags & TALLY_ENDED ? 1 : 0, 0);
}

/* Counts memory freed as a side effect, or found to be freed; `flags` says how. */
__noinline int count_end(u32 slot, u32 row, const struct allocation_record *record, u32 flags)
{
	struct tally *tally;

	if (!record)
		return 0;
	if (config.profile)
		count_ended_size(slot, record, flags);
	tally = tally_of(slot, row, record->kind, flags, record->device);
	if (!tally)
		return 0;
	__sync_fetch_and_add(&tally->calls, 1);
	add_bytes(tally, record->size);
	return 0;
}

/* The requested bytes, as far as they are known at entry; the rest goes to call->arg. */
static __always_inline u64 requested_bytes(struct pt_regs *ctx,
					   const volatile struct function_desc *function,
					   struct call *call)
{
	struct extent extent = {};
	u64 size = 0;

	switch (function->params) {
	case PARAMS_ARRAY:
	case PARAMS_ARRAY_V1:
	case PARAMS_ARRAY3D:
	case PARAMS_ARRAY3D_V1:
	case PARAMS_CHANNELS: return requested_array_bytes(ctx, function);
	case PARAMS_PITCHED:
		if (bpf_probe_read_user(&extent, sizeof(extent),
					(void *)stack_address(ctx, function, ROLE_EXTENT)))
			return SIZE_UNREADABLE;
		call->arg[ALLOC_PITCHOUT] = call->arg[ALLOC_OUT] + PITCHED_PITCH;
		call->arg[ALLOC_HEIGHT] = product_of(extent.height, extent.depth);
		return 0;
	case PARAMS_BUFFER:
		if (bpf_probe_read_user(
			    &size, sizeof(size),
			    (void *)(argument(ctx, function, ROLE_PARAMS) + BUFFER_SIZE_AT)))
			return SIZE_UNREADABLE;
		return size;
	case PARAMS_PHYSICAL:
		call->device =
			device_of_location(argument(ctx, function, ROLE_PARAMS) + LOCATION_AT);
		break;
	}
	return argument(ctx, function, ROLE_SIZE);
}

/* Whether the call is captured: memory of a graph is allocated and freed when the graph runs. */
static __always_inline bool goes_into_graph(struct pt_regs *ctx,
					    const volatile struct function_desc *function,
					    struct thread *thread)
{
	if (!has_role(function, ROLE_STREAM) || !has_captures(thread->slot))
		return false;
	return is_capturing(thread, function, argument(ctx, function, ROLE_STREAM));
}

static __noinline int alloc_enter(struct pt_regs *ctx,
				  const volatile struct function_desc *function,
				  struct thread *thread, struct call *call)
{
	call->kind = function->kind;
	call->flag = goes_into_graph(ctx, function, thread) ? ALLOC_CAPTURED : 0;
	call->arg[ALLOC_OUT] =
		argument(ctx, function, has_role(function, ROLE_OUT) ? ROLE_OUT : ROLE_PTR);
	call->arg[ALLOC_PITCHOUT] = argument(ctx, function, ROLE_PITCHOUT);
	call->arg[ALLOC_HEIGHT] = argument(ctx, function, ROLE_HEIGHT);
	call->arg[ALLOC_SIZE] = requested_bytes(ctx, function, call);
	if (call->kind == MEMORY_POOL)
		call->arg[ALLOC_POOL] = argument(ctx, function, ROLE_POOL);
	return 0;
}

/*
 * The address is live in our records. Returns TALLY_* flags of the call, which now owns the
 * address.
 */
static __always_inline int replace_allocation(const struct allocation_key *key,
					      const struct call *call,
					      const struct allocation_record *fresh)
{
	struct allocation_record *found, old;
	u16 flags = TALLY_REPLACED; /* its free was missed */

	found = bpf_map_lookup_elem(&allocations, key);
	if (!found)
		return TALLY_UNTRACKED;
	/* If an address is reused while its context is being ended, it ended with that context. */
	if (context_took(key->slot, found, true)) {
		flags = TALLY_WITH_CONTEXT;
	} else if (found->kind == MEMORY_IMPORTED && fresh->kind == MEMORY_IMPORTED) {
		/* Opening it again returns the same address. */
		__sync_fetch_and_add(&found->references, 1);
		return TALLY_REFERENCE;
	}
	old = *found;
	if (bpf_map_update_elem(&allocations, key, fresh, BPF_EXIST))
		return TALLY_UNTRACKED;
	remove_from_ranges(key, old.kind, old.size);
	if (old.kind == MEMORY_POOL)
		pool_freed(key->slot, old.pool, old.device, old.size);
	/* MEMORY_UNKNOWN entries are not allocations, so there is no end to count. */
	if (old.kind != MEMORY_UNKNOWN)
		count_end(key->slot, call->row, &old, flags);
	return 0;
}

/* Records the allocation. Returns TALLY_* flags of the call. */
__noinline int record_allocation(const struct allocation_key *at, const struct call *call,
				 const struct allocation_record *fresh)
{
	struct allocation_record record;
	struct allocation_key key;
	int error;
	int flags = 0;

	if (!at || !call || !fresh)
		return TALLY_UNTRACKED;
	key = *at;
	record = *fresh;
	error = begin_live(key.slot) ?
			bpf_map_update_elem(&allocations, &key, &record, BPF_NOEXIST) :
			-7 /* E2BIG */;
	if (error && error != -7)
		end_live(key.slot);
	if (error == -17 /* EEXIST */) {
		flags = replace_allocation(&key, call, &record);
	} else if (error) {
		lose_update(error, LOSS_ALLOCATION_MAP_FULL);
		forget_freed(&key);
		flags = TALLY_UNTRACKED;
	}
	if (!flags)
		add_to_ranges(&key, &record);
	return flags;
}

static __always_inline u64 context_of_allocation(struct thread *thread,
						 const volatile struct function_desc *function,
						 u8 device)
{
	u64 context = current_context(thread);

	if (context || function->layer != LAYER_RUNTIME || device == DEVICE_UNKNOWN)
		return context;
	return primary_standin(device);
}

/* Where the memory lives: in a pool, in the current context, or in neither. */
static __always_inline void locate_allocation(struct thread *thread,
					      const volatile struct function_desc *function,
					      struct call *call, struct allocation_record *record)
{
	if (call->kind == MEMORY_RESERVED)
		call->device = DEVICE_UNKNOWN;
	if (call->kind == MEMORY_POOL)
		record->pool =
			pool_of_allocation(thread->slot, call->arg[ALLOC_POOL], &call->device);
	else if (memory_lives_in_context(call->kind) && !has_role(function, ROLE_POOL))
		record->context = context_of_allocation(thread, function, call->device);
	record->device = call->device;
}

static __always_inline bool read_result(const volatile struct function_desc *function, u64 *value,
					u64 address)
{
	u32 narrow;

	if (!(function->flags & FUNCTION_OUT_32))
		return !bpf_probe_read_user(value, sizeof(*value), (void *)address);
	if (bpf_probe_read_user(&narrow, sizeof(narrow), (void *)address))
		return false;
	*value = narrow;
	return true;
}

/* Reads address and size, which are known now; the address is 0 if it cannot be read. */
static __always_inline u64 read_allocation(const volatile struct function_desc *function,
					   struct call *call)
{
	u64 address = call->arg[ALLOC_OUT], pitch = 0;
	bool pitched = call->kind != MEMORY_POOL && call->arg[ALLOC_PITCHOUT];
	bool readable = true;

	if (has_role(function, ROLE_OUT))
		readable = read_result(function, &address, call->arg[ALLOC_OUT]);
	if (readable && pitched) {
		readable = read_result(function, &pitch, call->arg[ALLOC_PITCHOUT]);
		call->arg[ALLOC_SIZE] = product_of(pitch, call->arg[ALLOC_HEIGHT]);
	}
	if (call->arg[ALLOC_SIZE] == SIZE_OF_UNKNOWN_FORMAT) {
		lose(LOSS_ARRAY_FORMAT);
		call->arg[ALLOC_SIZE] = 0;
	} else if (call->arg[ALLOC_SIZE] == SIZE_UNREADABLE) {
		lose(LOSS_UNREADABLE);
		call->arg[ALLOC_SIZE] = 0;
	}
	if (readable)
		return address;
	lose(LOSS_UNREADABLE);
	return 0;
}

static __always_inline void alloc_succeeded(struct thread *thread, struct call *call)
{
	const volatile struct function_desc *function = function_at(call->row);
	struct allocation_record record = {
		.start_ns = call->start_ns,
		.row = call->row,
		.kind = call->kind,
		.references = 1,
		.stack = call->stack,
	};
	struct allocation_key key = {.slot = thread->slot};
	u16 flags = TALLY_UNTRACKED;

	if (!function)
		return;
	key.address = read_allocation(function, call);
	key.space = space_of(function);
	record.size = call->arg[ALLOC_SIZE];
	if (call->flag == ALLOC_CAPTURED) {
		/*
		 * Recorded as MEMORY_UNKNOWN, so that its free does not count as one of unknown
		 * memory.
		 */
		record.kind = MEMORY_UNKNOWN;
		record.size = 0;
		if (key.address)
			record_allocation(&key, call, &record);
		count_success(thread->slot, call, call->kind, TALLY_CAPTURED,
			      call->arg[ALLOC_SIZE]);
		return;
	}
	locate_allocation(thread, function, call, &record);
	/* An allocation of zero bytes has no address, and nothing is live. */
	if (key.address)
		flags = record_allocation(&key, call, &record);
	if (call->kind == MEMORY_POOL && !(flags & TALLY_UNTRACKED))
		pool_allocated(thread->slot, record.pool, record.device, record.size);
	if (!(flags & (TALLY_UNTRACKED | TALLY_REFERENCE)))
		call->flag = ALLOC_ON_RECORD;
	count_success(thread->slot, call, call->kind, flags,
		      flags & TALLY_REFERENCE ? 0 : record.size);
}

/*
 * Whether the memory has references other than the one being dropped now. A graph keeps what it has
 * captured: it allocates at the same address when it runs again.
 */
static __always_inline bool has_other_references(struct allocation_record *record, u8 space)
{
	if (record->kind == MEMORY_UNKNOWN && space == SPACE_ADDRESS)
		return true;
	if (space != SPACE_PHYSICAL && record->kind != MEMORY_IMPORTED)
		return false;
	return __sync_fetch_and_add(&record->references, -1) > 1;
}

/* Moves the record of live memory at the address, if any, from the map to the call. */
static __always_inline void take_allocation(const struct allocation_key *key, struct call *call)
{
	struct allocation_record *record = bpf_map_lookup_elem(&allocations, key), old;

	if (!record) {
		call->flag = was_freed(key) ? FREE_DOUBLE : FREE_UNKNOWN;
		return;
	}
	if (died_with_context(key->slot, record)) {
		old = *record;
		if (bpf_map_delete_elem(&allocations, key))
			return;
		end_live(key->slot);
		remove_from_ranges(key, old.kind, old.size);
		count_end(key->slot, call->row, &old, TALLY_WITH_CONTEXT);
		return;
	}
	call->kind = record->kind;
	call->device = record->device;
	call->arg[FREED_SIZE] = record->size;
	call->arg[FREED_START] = record->start_ns;
	call->arg[FREED_CONTEXT] = record->context;
	call->freed_stack = record->stack;
	call->extra = record->row;
	call->flag = FREE_REFERENCE;
	if (has_other_references(record, key->space))
		return;
	call->flag = FREE_TAKEN;
	/* If two threads free one address, the second finds no record. */
	if (!bpf_map_delete_elem(&allocations, key)) {
		end_live(key->slot);
		return;
	}
	call->flag = FREE_UNKNOWN;
	call->kind = MEMORY_UNKNOWN;
}

/* The part of a free's entry that needs no arguments: removes what is at FREE_ADDRESS. */
__noinline int free_begins(u32 slot, struct call *call)
{
	const volatile struct function_desc *function;
	struct allocation_key key = {.slot = slot};

	if (!call)
		return 0;
	function = function_at(call->row);
	if (!function)
		return 0;
	key.space = space_of(function);
	key.address = call->arg[FREE_ADDRESS];
	take_allocation(&key, call);
	if (call->flag != FREE_TAKEN)
		return 0;
	remove_from_ranges(&key, call->kind, call->arg[FREED_SIZE]);
	if (call->kind == MEMORY_POOL)
		pool_freed(slot, call->arg[FREED_CONTEXT], call->device, call->arg[FREED_SIZE]);
	return 0;
}

static __noinline int free_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				 struct thread *thread, struct call *call)
{
	call->kind = MEMORY_UNKNOWN;
	call->arg[FREE_ADDRESS] =
		argument(ctx, function, has_role(function, ROLE_PTR) ? ROLE_PTR : ROLE_HANDLE);
	call->arg[FREED_SIZE] = 0;
	if (!call->arg[FREE_ADDRESS])
		return 0;
	if (goes_into_graph(ctx, function, thread)) {
		call->kind = function->kind;
		call->flag = FREE_CAPTURED;
	} else {
		free_begins(thread->slot, call);
	}
	return 0;
}

/* Restores what the failed call had removed. */
static __always_inline int undo_free(const struct allocation_key *key, const struct call *call)
{
	struct allocation_record *found, record = {.references = 1};
	int error;

	if (call->flag == FREE_REFERENCE) {
		found = bpf_map_lookup_elem(&allocations, key);
		if (found)
			__sync_fetch_and_add(&found->references, 1);
		return 0;
	}
	record.size = call->arg[FREED_SIZE];
	record.start_ns = call->arg[FREED_START];
	record.context = call->arg[FREED_CONTEXT];
	record.row = call->extra;
	record.kind = call->kind;
	record.device = call->device;
	record.stack = call->freed_stack;
	error = bpf_map_update_elem(&allocations, key, &record, BPF_NOEXIST);
	if (error == -17 /* EEXIST */) {
		/*
		 * The address was reused: the memory was freed by a call that its thread never
		 * returned from.
		 */
		count_end(key->slot, record.row, &record, TALLY_REPLACED);
		return 0;
	}
	if (error) {
		lose_update(error, LOSS_ALLOCATION_MAP_FULL);
		return 0;
	}
	begin_live(key->slot);
	add_to_ranges(key, &record);
	if (record.kind == MEMORY_POOL)
		pool_allocated(key->slot, record.pool, record.device, record.size);
	return 0;
}

static __always_inline u16 flags_of_free(const struct call *call)
{
	if (call->flag == FREE_DOUBLE)
		return TALLY_DOUBLE;
	if (call->flag == FREE_CAPTURED)
		return TALLY_CAPTURED;
	return call->flag == FREE_REFERENCE ? TALLY_REFERENCE : 0;
}

/* A function of its own: the deepest path of calls has little stack. */
static __noinline int keep_late_allocation(const struct allocation_key *at, const struct call *call)
{
	const struct allocation_key key = {
		.address = at->address, .slot = at->slot, .space = at->space, .late = LATE_MEMORY};
	const struct allocation_record freed = {
		.size = call->arg[FREED_SIZE],
		.start_ns = call->arg[FREED_START],
		.row = call->extra,
		.kind = call->kind,
		.device = call->device,
		.stack = call->freed_stack,
	};

	return keep_late_free(&key, &freed);
}

static __always_inline void free_returned(u32 slot, struct call *call, s32 result)
{
	const volatile struct function_desc *function = function_at(call->row);
	struct allocation_key key = {.address = call->arg[FREE_ADDRESS], .slot = slot};
	u16 flags = flags_of_free(call);

	if (!function)
		return;
	key.space = space_of(function);
	/* Freeing NULL succeeds and frees nothing. */
	if (!key.address && !result)
		return;
	if (result) {
		count_failure(slot, call, call->kind, flags & TALLY_DOUBLE, result);
		if (call->flag == FREE_TAKEN || call->flag == FREE_REFERENCE)
			undo_free(&key, call);
		return;
	}
	/* The handle has no memory of its own (multicast): not a free of unknown memory. */
	if (call->flag == FREE_TAKEN && call->kind == MEMORY_UNKNOWN)
		flags = TALLY_REFERENCE;
	count_success(slot, call, call->kind, flags,
		      flags & TALLY_REFERENCE ? 0 : call->arg[FREED_SIZE]);
	if (call->flag == FREE_TAKEN) {
		remember_freed(&key, call->kind);
		keep_late_allocation(&key, call);
	}
}

__noinline int alloc_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	/* The runtime makes a context current inside a thread's first call. */
	if (call->device == DEVICE_UNKNOWN && call->kind != MEMORY_PHYSICAL)
		call->device = current_device(thread);
	if (result) {
		count_failure(thread->slot, call, call->kind, 0, result);
		if (result == CUDA_OUT_OF_MEMORY)
			shortage_begins(thread, call, call->arg[ALLOC_SIZE]);
		return 0;
	}
	alloc_succeeded(thread, call);
	shortage_ends(thread, call, call->arg[ALLOC_SIZE]);
	return 0;
}

__noinline int free_leave(struct thread *thread, struct call *call, s32 result)
{
	if (thread && call)
		free_returned(thread->slot, call, result);
	return 0;
}

#endif
