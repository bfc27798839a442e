// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Live objects other than memory: streams, events, contexts, modules, libraries. A call that ends
 * an object removes its record at entry, since the handle may be reused before the call returns,
 * and restores it if the call fails. Objects that ended with their context stay in the map until
 * userspace deletes them.
 */
#ifndef BPF_OBJECT_LIVE_BPF_H
#define BPF_OBJECT_LIVE_BPF_H

#include "call/call.bpf.h"

/* call.arg of a call that ends an object; call.flag says whether there was a record */
#define OBJECT_HANDLE 0
#define OBJECT_CONTEXT_OF 1
#define OBJECT_START 2

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, struct object_key);
	__type(value, struct object_record);
} objects SEC(".maps");

/* Whether an object created in the context at that time ended with it. */
static __always_inline bool is_gone(u32 slot, u64 context, u64 start_ns)
{
	struct context_key key = {.context = context, .slot = slot};
	const struct context_record *record;

	if (!context)
		return false;
	record = bpf_map_lookup_elem(&contexts, &key);
	return record && record->died_ns > start_ns;
}

static __always_inline const struct object_record *live_object(u32 slot, u8 kind, u64 handle)
{
	struct object_key key = {.handle = handle, .slot = slot, .kind = kind};
	const struct object_record *record = bpf_map_lookup_elem(&objects, &key);

	return record && !is_gone(slot, record->context, record->start_ns) ? record : NULL;
}

/* Adds the record of a new object, if the process may have one more. Returns the map's error. */
static __always_inline int keep_object(const struct object_key *key,
				       const struct object_record *record)
{
	int error = may_add_object(key->slot) ?
			    bpf_map_update_elem(&objects, key, record, BPF_NOEXIST) :
			    -7 /* E2BIG */;

	if (!error)
		change_objects(key->slot, 1);
	return error;
}

/* The handle is live in our records, so its end was missed, unless it ended with its context. */
static __always_inline void replace_object(const struct object_key *key,
					   const struct object_record *fresh)
{
	struct object_record *old = bpf_map_lookup_elem(&objects, key);
	struct tally *tally;
	bool gone;

	if (!old)
		return;
	gone = is_gone(key->slot, old->context, old->start_ns);
	if (bpf_map_update_elem(&objects, key, fresh, BPF_ANY))
		return;
	tally = tally_of(key->slot, fresh->row, key->kind,
			 gone ? TALLY_WITH_CONTEXT : TALLY_REPLACED, fresh->device);
	if (tally)
		__sync_fetch_and_add(&tally->calls, 1);
}

/*
 * Records a new object that the call has created in `context`. Returns false if there is no room.
 */
__noinline int object_begins(u32 slot, const struct call *call, u8 kind, u64 handle, u64 context)
{
	struct object_key key = {.handle = handle, .slot = slot, .kind = kind};
	struct object_record fresh = {.context = context};
	int error;

	if (!call || !handle)
		return false;
	fresh.start_ns = call->start_ns;
	fresh.row = call->row;
	fresh.stack = call->stack;
	if (call->operation == OP_CREATE)
		fresh.flags = call->marked;
	fresh.device = kind == OBJECT_CONTEXT ? call->named : call->device;
	error = keep_object(&key, &fresh);
	if (error == -17 /* EEXIST */) {
		replace_object(&key, &fresh);
		return true;
	}
	if (error)
		lose_update(error, LOSS_OBJECT_MAP_FULL);
	return !error;
}

/* Removes the record of the object that the call ends. Returns whether there was one. */
__noinline int object_ends(u32 slot, struct call *call, u8 kind, u64 handle)
{
	struct object_key key = {.handle = handle, .slot = slot, .kind = kind};
	const struct object_record *record;

	if (!call)
		return false;
	record = live_object(slot, kind, handle);
	if (!record)
		return false;
	call->arg[OBJECT_CONTEXT_OF] = record->context;
	call->arg[OBJECT_START] = record->start_ns;
	call->freed_stack = record->stack;
	/*
	 * An object's end counts for the object's device, a context's end for the thread's device.
	 */
	if (kind == OBJECT_CONTEXT)
		call->named = record->device;
	else
		call->device = record->device;
	/* If two threads end one object, the second finds no record. */
	if (bpf_map_delete_elem(&objects, &key))
		return false;
	change_objects(slot, -1);
	return true;
}

/* The call failed: the object lives on, but the function that created it is no longer known. */
__noinline int object_lives_on(u32 slot, const struct call *call, u8 kind, u64 handle)
{
	struct object_key key = {.handle = handle, .slot = slot, .kind = kind};
	struct object_record record = {.row = ROW_NONE};
	int error;

	if (!call)
		return 0;
	record.context = call->arg[OBJECT_CONTEXT_OF];
	record.start_ns = call->arg[OBJECT_START];
	record.stack = call->freed_stack;
	record.device = kind == OBJECT_CONTEXT ? call->named : call->device;
	error = keep_object(&key, &record);
	if (error)
		lose_update(error, LOSS_OBJECT_MAP_FULL);
	return 0;
}

#endif
