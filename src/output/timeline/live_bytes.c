// SPDX-License-Identifier: BSD-2-Clause
// Counts live device memory, see live_bytes.h.
#include "output/timeline/live_bytes.h"

#include <stdio.h>

#include "api/api.h"
#include "output/timeline/later.h"

#define ALLOCATION_MAX (1ull << 44) /* bytes; LIVE_MAX of them fit a number */

struct counter_key {
	uint32_t process; /* number of the struct trace_process */
	int32_t device;
};

struct counter {
	struct counter_key key;
	struct timeline_track track;
	uint64_t bytes;
	UT_hash_handle hh;
};

struct live_key {
	uint64_t process, address;
};

struct live_allocation {
	struct live_key key;
	uint64_t bytes;
	struct counter_key counter;
	UT_hash_handle hh;
};

/* Memory of a call that has a line and has not returned at the time of the latest line. */
struct pending {
	uint64_t time_ns; /* of its return */
	struct live_key key;
	struct counter_key counter;
	uint64_t bytes;
};

struct live_bytes {
	struct timeline_tracks *tracks;
	struct timeline_form *form;
	struct counter *counters;
	struct live_allocation *allocations;
	struct later pending; /* struct pending; without room the earliest counts at once */
	bool is_full;
};

struct live_bytes *live_bytes__new(struct timeline_tracks *tracks, struct timeline_form *form)
{
	struct live_bytes *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->tracks = tracks;
	live->form = form;
	if (!later__init(&live->pending, sizeof(struct pending)))
		return live;
	free(live);
	return NULL;
}

void live_bytes__free(struct live_bytes *live)
{
	if (!live)
		return;
	TABLE_CLEAR(live->counters, free);
	TABLE_CLEAR(live->allocations, free);
	later__clear(&live->pending);
	free(live);
}

bool live_bytes__is_full(const struct live_bytes *live)
{
	return live->is_full;
}

static bool is_counted_kind(uint8_t kind)
{
	return kind == MEMORY_DEVICE || kind == MEMORY_MANAGED || kind == MEMORY_POOL;
}

bool live_bytes__concerns(const struct api_function *row)
{
	const struct function_desc *desc = &row->desc;

	if (desc->operation == OP_ALLOC || desc->operation == OP_FREE)
		return is_counted_kind(desc->kind);
	return desc->operation == OP_CONTEXT && desc->kind == CONTEXT_RESET;
}

/* NULL if there is no room: the counter is of no use then. */
static struct counter *take_counter(struct live_bytes *live, struct timeline_process *process,
				    const struct counter_key *key)
{
	struct counter *counter = TABLE_FIND(live->counters, key, key);
	char name[TRACK_NAME_SIZE] = "live device memory";

	if (counter || HASH_COUNT(live->counters) >= COUNTERS_MAX)
		return counter;
	counter = TABLE_ADD_NEW(live->counters, key, key);
	if (!counter)
		return NULL;
	if (key->device >= 0)
		snprintf(name, sizeof(name), "live device memory, device %d", key->device);
	timeline_tracks__add(live->tracks, process, TRACK_BYTES, name, &counter->track);
	return counter;
}

static void change(struct live_bytes *live, struct counter *counter,
		   const struct live_allocation *allocation, bool is_free, uint64_t time_ns)
{
	int64_t bytes = is_free ? -(int64_t)allocation->bytes : (int64_t)allocation->bytes;
	struct timeline_value value = {
		.track = &counter->track,
		.time_ns = time_ns,
		.change = bytes,
		.address = allocation->key.address,
		.device = counter->key.device,
	};

	counter->bytes += (uint64_t)bytes;
	value.amount = counter->bytes;
	live->form->ops->value(live->form, &value);
}

static void drop(struct live_bytes *live, struct live_allocation *allocation, uint64_t time_ns)
{
	struct counter *counter = TABLE_FIND(live->counters, key, &allocation->counter);

	HASH_DEL(live->allocations, allocation);
	if (counter)
		change(live, counter, allocation, true, time_ns);
	free(allocation);
}

static struct live_allocation *add(struct live_bytes *live, const struct pending *pending)
{
	struct counter *counter = TABLE_FIND(live->counters, key, &pending->counter);
	struct live_allocation *allocation = TABLE_FIND(live->allocations, key, &pending->key);

	/* Its free was lost. */
	if (allocation)
		drop(live, allocation, pending->time_ns);
	allocation = counter && HASH_COUNT(live->allocations) < LIVE_MAX ?
			     TABLE_ADD_NEW(live->allocations, key, &pending->key) :
			     NULL;
	if (!allocation)
		return NULL;
	allocation->bytes = pending->bytes;
	allocation->counter = pending->counter;
	change(live, counter, allocation, false, pending->time_ns);
	return allocation;
}

void live_bytes__advance(struct live_bytes *live, uint64_t time_ns)
{
	struct pending earliest;

	while (!live->is_full && later__take(&live->pending, time_ns, &earliest))
		live->is_full = !add(live, &earliest);
}

/* Without room for further ones. */
static void take_earliest(struct live_bytes *live)
{
	struct pending earliest;

	if (later__take(&live->pending, UINT64_MAX, &earliest))
		live->is_full = !add(live, &earliest);
}

/*
 * Memory counts from the return of its call on: until then its address may be that of memory which
 * another thread frees.
 */
static void add_later(struct live_bytes *live, struct timeline_process *process,
		      const struct timeline_call *call, uint64_t address, uint64_t bytes)
{
	const struct pending pending = {
		.time_ns = call->end_ns,
		.key = {call->line->process->number, address},
		.counter = {call->line->process->number, call->line->device},
		.bytes = bytes,
	};

	if (!take_counter(live, process, &pending.counter)) {
		live->is_full = true;
		return;
	}
	if (later__is_full(&live->pending))
		take_earliest(live);
	if (!live->is_full)
		later__add(&live->pending, &pending);
}

/* cudaDeviceReset ends all memory of the process on the device. */
static void drop_all(struct live_bytes *live, const struct timeline_call *call)
{
	struct live_allocation *allocation = NULL, *next = NULL;

	HASH_ITER (hh, live->allocations, allocation, next) {
		if (allocation->counter.process == call->line->process->number &&
		    allocation->counter.device == call->line->device)
			drop(live, allocation, call->line->start_ns);
	}
}

static uint64_t number_of(const struct trace_line *line, enum trace_role role)
{
	for (size_t i = 0; i < line->field_count; i++) {
		const struct trace_field *field = &line->fields[i];

		if (field->role == role &&
		    (field->form == FORM_UNSIGNED || field->form == FORM_ADDRESS))
			return field->number;
	}
	return 0;
}

void live_bytes__take(struct live_bytes *live, struct timeline_process *process,
		      const struct timeline_call *call)
{
	uint64_t address = number_of(call->line, TRACE_PTR);
	uint64_t bytes = number_of(call->line, TRACE_SIZE);
	const struct live_key key = {call->line->process->number, address};
	struct live_allocation *allocation;

	if (live->is_full || call->line->result)
		return;
	switch ((enum operation)call->row->desc.operation) {
	case OP_ALLOC:
		if (address && bytes && bytes < ALLOCATION_MAX)
			add_later(live, process, call, address, bytes);
		break;
	case OP_FREE:
		allocation = TABLE_FIND(live->allocations, key, &key);
		if (allocation)
			drop(live, allocation, call->line->start_ns);
		break;
	default: drop_all(live, call);
	}
}
