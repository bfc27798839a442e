// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory pools: what allocations use of each, and what it keeps reserved. The used size is exact.
 * No call reveals the reserved size unless the program queries the driver. Between such answers it
 * is estimated: an allocation raises it to the used size, a trim or a finished wait lowers it.
 * Waits are accounted for at the pool's next event, since the used size does not change before.
 */
#ifndef BPF_MEMORY_POOL_BPF_H
#define BPF_MEMORY_POOL_BPF_H

#include "object/context.bpf.h"
#include "core/sum.bpf.h"

/* call.arg of OP_POOL; the attribute is in call.extra, the device in call.device */
#define POOL_HANDLE 0
#define POOL_VALUE 1
#define POOL_OUT 2
/* call.arg of OP_CREATE and OP_DESTROY, in addition to those of object/object.bpf.h */
#define POOL_OBJECT 3

/* CUmemPool_attribute */
#define POOL_RELEASE_THRESHOLD 4
#define POOL_RESERVED_CURRENT 5
#define POOL_USED_CURRENT 7

/* CUmemLocation in a CUmemPoolProps or CUmemAllocationProp, and its type for a device */
#define LOCATION_AT 8
#define LOCATION_DEVICE 1
/* CUmemAllocationType: the only one for pools before CUDA 13 */
#define ALLOCATION_PINNED 1

#define RAISE_TRIES 16

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct pool_key);
	__type(value, struct pool_record);
} pools SEC(".maps");

/* The device of a CUmemLocation, or DEVICE_UNKNOWN: host memory, or no location. */
static __always_inline u8 device_of_location(u64 address)
{
	u32 location[2] = {}; /* type, id */

	if (bpf_probe_read_user(location, sizeof(location), (void *)address))
		return DEVICE_UNKNOWN;
	return location[0] == LOCATION_DEVICE && location[1] < DEVICE_UNKNOWN ? location[1] :
										DEVICE_UNKNOWN;
}

static __always_inline struct pool_key pool_key_of(u32 slot, u64 handle, u8 device)
{
	struct pool_key key = {.handle = handle, .slot = slot, .device = handle ? 0 : device};

	return key;
}

/* The pool; NULL if it was not seen yet. */
static __noinline struct pool_record *pool_find(u32 slot, u64 handle, u8 device)
{
	struct pool_key key = pool_key_of(slot, handle, device);
	struct pool_record *pool = bpf_map_lookup_elem(&pools, &key);

	if (!pool || !pool->alias)
		return pool;
	key.handle = 0;
	key.device = pool->device;
	return bpf_map_lookup_elem(&pools, &key);
}

/* The same, but creates a record if needed; NULL, counted as a loss, if there is no room. */
static __noinline struct pool_record *pool_of(u32 slot, u64 handle, u8 device)
{
	struct pool_record *pool = pool_find(slot, handle, device),
			   fresh = {.handle = handle, .device = device};
	struct pool_key key = pool_key_of(slot, handle, device);
	struct process_record *process;
	int error;

	if (pool)
		return pool;
	pool = bpf_map_lookup_elem(&pools, &key);
	if (pool) { /* an alias of a pool that has not been used yet */
		fresh.device = pool->device;
		key = pool_key_of(slot, 0, pool->device);
	}
	process = process_at(slot);
	if (process)
		fresh.waits = process->waits;
	error = bpf_map_update_elem(&pools, &key, &fresh, BPF_NOEXIST);
	pool = bpf_map_lookup_elem(&pools, &key);
	if (!pool)
		lose_update(error, LOSS_POOL_MAP_FULL);
	return pool;
}

/*
 * The carries have signs, so concurrent updates of several threads give the right sum in any order.
 */
static __always_inline void add_used(struct pool_record *pool, u64 size)
{
	if (__sync_fetch_and_add(&pool->used, size) > LARGEST_SUM - size)
		__sync_fetch_and_add(&pool->carries, 1);
}

/* Returns whether nothing is used any more. */
static __always_inline bool take_used(struct pool_record *pool, u64 size)
{
	u64 before = __sync_fetch_and_add(&pool->used, -size);

	if (before < size)
		__sync_fetch_and_add(&pool->carries, -1);
	return before == size && !pool->carries;
}

static __always_inline void raise_reserved(struct pool_record *pool)
{
	u64 used = POOL_STEPS(pool_record__used(pool)), reserved;

	for (int i = 0; i < RAISE_TRIES; i++) {
		reserved = pool->reserved;
		if (used <= reserved)
			return;
		if (__sync_val_compare_and_swap(&pool->reserved, reserved, used) == reserved)
			break;
	}
	pool->estimated = 1;
}

/* Lowers it to `keep` bytes, or to the used size. */
static __always_inline void lower_reserved(struct pool_record *pool, u64 keep)
{
	u64 used = pool_record__used(pool);

	keep = POOL_STEPS(keep < used ? used : keep);
	if (pool->reserved <= keep)
		return;
	pool->reserved = keep;
	pool->estimated = 1;
}

/* Applies the effect of waits since the pool was last examined. */
static __always_inline void settle_waits(u32 slot, struct pool_record *pool)
{
	struct process_record *process = process_at(slot);

	if (!process || pool->waits == process->waits)
		return;
	pool->waits = process->waits;
	lower_reserved(pool, pool->threshold);
}

/*
 * The pool that an allocation comes from, for its record: an alias becomes handle 0, an unnamed
 * pool is the device's current one. *device becomes the pool's device.
 */
__noinline u64 pool_of_allocation(u32 slot, u64 handle, u8 *device)
{
	struct device_key device_key = {.slot = slot, .device = device ? *device : DEVICE_UNKNOWN};
	struct device_record *current;
	struct pool_key key;
	struct pool_record *pool;

	if (!device)
		return handle;
	if (!handle) {
		current = bpf_map_lookup_elem(&devices, &device_key);
		if (!current || !current->pool)
			return 0;
		handle = current->pool;
	}
	key = pool_key_of(slot, handle, 0);
	pool = bpf_map_lookup_elem(&pools, &key);
	if (!pool)
		return handle;
	*device = pool->device;
	return pool->alias ? 0 : handle;
}

/* The device of a pool, or `otherwise` if the pool was not seen yet. */
__noinline int device_of_pool(u32 slot, u64 handle, u32 otherwise)
{
	struct pool_record *pool = pool_find(slot, handle, 0);

	return pool ? pool->device : otherwise;
}

__noinline int pool_allocated(u32 slot, u64 handle, u32 device, u64 size)
{
	struct pool_record *pool = pool_of(slot, handle, device);

	if (!pool)
		return 0;
	settle_waits(slot, pool);
	add_used(pool, size);
	raise_reserved(pool);
	return 0;
}

__noinline int pool_freed(u32 slot, u64 handle, u32 device, u64 size)
{
	struct pool_record *pool = pool_find(slot, handle, device);
	struct pool_key key = pool_key_of(slot, handle, device);

	if (!pool)
		return 0;
	settle_waits(slot, pool);
	if (!take_used(pool, size))
		return 0;
	/* The driver's rounding is gone as well. */
	if (is_seen_from_start(slot))
		pool->beyond = 0;
	if (pool->destroyed)
		bpf_map_delete_elem(&pools, &key);
	return 0;
}

/* The program learned that the pool with handle 0 of `device` is this one. */
__noinline int pool_is_first(u32 slot, u64 handle, u32 device)
{
	struct pool_record alias = {.handle = handle, .device = device, .alias = 1};
	struct pool_key key = pool_key_of(slot, handle, 0);
	struct pool_record *pool = bpf_map_lookup_elem(&pools, &key);
	struct pool_record *first, known;
	int error;

	if (pool && pool->alias)
		return 0;
	first = pool_of(slot, 0, device);
	if (!first)
		return 0;
	first->handle = handle;
	if (pool) { /* it was used by its handle before */
		known = *pool;
		add_used(first, known.used);
		first->carries += known.carries;
		first->reserved = sum_of(first->reserved, known.reserved);
		first->threshold = known.threshold;
	}
	error = bpf_map_update_elem(&pools, &key, &alias, BPF_ANY);
	if (error)
		lose_update(error, LOSS_POOL_MAP_FULL);
	return 0;
}

static __always_inline u8 device_argument(struct pt_regs *ctx,
					  const volatile struct function_desc *function)
{
	u64 device;

	if (!has_role(function, ROLE_DEVICE))
		return device_of_location(argument(ctx, function, ROLE_PARAMS));
	device = argument(ctx, function, ROLE_DEVICE);
	return device < DEVICE_UNKNOWN ? device : DEVICE_UNKNOWN;
}

static __noinline int pool_enter(struct pt_regs *ctx, const volatile struct function_desc *function,
				 struct thread *thread, struct call *call)
{
	u64 value = argument(ctx, function, ROLE_SIZE),
	    attribute = argument(ctx, function, ROLE_KIND);

	call->kind = function->kind;
	call->arg[POOL_HANDLE] = argument(ctx, function, ROLE_POOL);
	call->arg[POOL_OUT] = argument(ctx, function, ROLE_OUT);
	call->extra = attribute < 0xffff ? attribute : 0xffff;
	if (function->kind == POOL_SET && attribute == POOL_RELEASE_THRESHOLD &&
	    bpf_probe_read_user(&value, sizeof(value),
				(void *)argument(ctx, function, ROLE_PARAMS)))
		call->extra = 0xffff; /* the call will fail */
	call->arg[POOL_VALUE] = value;
	if (function->kind >= POOL_CURRENT)
		call->device = device_argument(ctx, function);
	else
		call->device = device_of_pool(thread->slot, call->arg[POOL_HANDLE], call->device);
	return 0;
}

static __always_inline void pool_answered(struct pool_record *pool, u16 attribute, u64 answer)
{
	switch (attribute) {
	case POOL_RELEASE_THRESHOLD: pool->threshold = answer; break;
	case POOL_RESERVED_CURRENT:
		pool->reserved = answer;
		pool->estimated = 0;
		break;
	case POOL_USED_CURRENT: pool->beyond = pool_record__beyond(pool, answer); break;
	}
}

static __always_inline void change_pool(u32 slot, const struct call *call)
{
	struct pool_record *pool = pool_of(slot, call->arg[POOL_HANDLE], call->device);
	u64 answer;

	if (!pool)
		return;
	settle_waits(slot, pool);
	if (call->kind == POOL_TRIM)
		lower_reserved(pool, call->arg[POOL_VALUE]);
	else if (call->kind == POOL_SET && call->extra == POOL_RELEASE_THRESHOLD)
		pool->threshold = call->arg[POOL_VALUE];
	else if (call->kind != POOL_GET)
		return;
	else if (call->extra < POOL_RELEASE_THRESHOLD) /* 32-bit attributes, which are not needed */
		return;
	else if (bpf_probe_read_user(&answer, sizeof(answer), (void *)call->arg[POOL_OUT]))
		lose(LOSS_UNREADABLE);
	else
		pool_answered(pool, call->extra, answer);
}

/*
 * From now on allocations on the device come from that pool; `told`: the program only learned that
 * they already do.
 */
static __always_inline void pool_is_current(u32 slot, u64 handle, u8 device, bool reported)
{
	struct device_record *record = device_record_of(slot, device);
	struct pool_key key = pool_key_of(slot, handle, 0);
	struct pool_record *pool;

	if (!record)
		return;
	if (reported && !record->pool) {
		pool_is_first(slot, handle, device);
		return;
	}
	pool = bpf_map_lookup_elem(&pools, &key);
	record->pool = pool && pool->alias ? 0 : handle;
}

static __always_inline void device_pool_reported(u32 slot, const struct call *call)
{
	u64 handle = 0;

	if (bpf_probe_read_user(&handle, sizeof(handle), (void *)call->arg[POOL_OUT])) {
		lose(LOSS_UNREADABLE);
		return;
	}
	if (!handle)
		return;
	if (call->kind == POOL_TOLD)
		pool_is_current(slot, handle, call->device, true);
	/* The device of a process that was running before may have been given another pool. */
	else if (is_seen_from_start(slot))
		pool_is_first(slot, handle, call->device);
}

__noinline int pool_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (result) {
		count_failure(thread->slot, call, call->kind, 0, result);
		return 0;
	}
	count_success(thread->slot, call, call->kind, 0, 0);
	/*
	 * Pools of managed memory (ROLE_KIND of these calls) and of host memory do not belong to a
	 * device.
	 */
	if (call->kind >= POOL_CURRENT &&
	    (call->device == DEVICE_UNKNOWN || call->extra > ALLOCATION_PINNED))
		return 0;
	if (call->kind < POOL_CURRENT)
		change_pool(thread->slot, call);
	else if (call->kind == POOL_CURRENT)
		pool_is_current(thread->slot, call->arg[POOL_HANDLE], call->device, false);
	else
		device_pool_reported(thread->slot, call);
	return 0;
}

/*
 * OP_CREATE and OP_DESTROY of a pool: the part that object/object.bpf.h does not handle. A
 * destruction takes effect at entry.
 */
__noinline int pool_ends(u32 slot, struct call *call)
{
	struct pool_record *pool;

	if (!call)
		return 0;
	pool = pool_find(slot, call->arg[POOL_OBJECT], 0);
	if (!pool)
		return 0;
	call->device = pool->device;
	pool->destroyed = 1;
	return 0;
}

static __noinline int pool_object_enter(struct pt_regs *ctx,
					const volatile struct function_desc *function,
					struct thread *thread, struct call *call)
{
	if (function->operation == OP_CREATE) {
		call->arg[POOL_OBJECT] = argument(ctx, function, ROLE_OUT);
		/*
		 * An imported pool does not name its device; it belongs to the device that it was
		 * exported from.
		 */
		call->device = has_role(function, ROLE_PARAMS) ?
				       device_of_location(argument(ctx, function, ROLE_PARAMS) +
							  LOCATION_AT) :
				       DEVICE_UNKNOWN;
		return 0;
	}
	call->arg[POOL_OBJECT] = argument(ctx, function, ROLE_HANDLE);
	pool_ends(thread->slot, call);
	return 0;
}

static __always_inline void pool_created(u32 slot, const struct call *call)
{
	struct pool_record fresh = {.device = call->device};
	struct process_record *process = process_at(slot);
	struct pool_key key = {.slot = slot};
	int error;

	/* object/object.bpf.h has counted an unreadable handle as a loss. */
	if (!process ||
	    bpf_probe_read_user(&key.handle, sizeof(key.handle), (void *)call->arg[POOL_OBJECT]))
		return;
	fresh.handle = key.handle;
	fresh.waits = process->waits;
	error = bpf_map_update_elem(&pools, &key, &fresh, BPF_ANY);
	if (error)
		lose_update(error, LOSS_POOL_MAP_FULL);
}

static __always_inline void pool_destroyed(u32 slot, const struct call *call, s32 result)
{
	struct device_key device_key = {.slot = slot, .device = call->device};
	struct pool_key key = {.handle = call->arg[POOL_OBJECT], .slot = slot};
	struct pool_record *pool = bpf_map_lookup_elem(&pools, &key);
	struct device_record *current;

	/* Otherwise the handle already belongs to another pool. */
	if (!pool || !pool->destroyed)
		return;
	if (result) {
		pool->destroyed = 0;
		return;
	}
	current = bpf_map_lookup_elem(&devices, &device_key);
	if (current && current->pool == key.handle)
		current->pool = 0;
	if (!pool->used)
		bpf_map_delete_elem(&pools, &key);
}

__noinline int pool_object_leave(struct thread *thread, struct call *call, s32 result)
{
	if (!thread || !call)
		return 0;
	if (call->operation == OP_DESTROY)
		pool_destroyed(thread->slot, call, result);
	else if (!result)
		pool_created(thread->slot, call);
	return 0;
}

#endif
