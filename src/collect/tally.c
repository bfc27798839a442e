// SPDX-License-Identifier: BSD-2-Clause
// Adds up the counters of the BPF maps, see tally.h.
#include "collect/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "collect/objects.h"
#include "collect/tally_waits.h"
#include "api/api.h"
#include "model/devices.h"

void tally__reset(struct process *process)
{
	memset(process->memory, 0, sizeof(process->memory));
	process->double_frees = 0;
	process->unfollowed = (struct unfollowed_totals){0};
	memset(process->copies, 0, sizeof(process->copies));
	memset(process->waits, 0, sizeof(process->waits));
	memset(process->queries, 0, sizeof(process->queries));
	memset(&process->copy_waits, 0, sizeof(process->copy_waits));
	memset(&process->free_waits, 0, sizeof(process->free_waits));
	memset(process->covered, 0, sizeof(process->covered));
	process->graph_launches = 0;
	process->captured_graph_launches = 0;
	process->host_functions = 0;
	process->captured_host_functions = 0;
	process->captured_allocations = 0;
	process->recorded_as_nothing = 0;
	process->captured_frees = 0;
	process->first_launches = (struct wait_totals){0};
	process->function_count = 0;
	objects__reset(process);
	device_totals__reset(process->devices, process->device_count);
}

static __int128 wide_bytes(const struct tally *tally)
{
	return (__int128)tally->carries << 64 | tally->bytes;
}

static uint64_t bytes_of(const struct tally *tally)
{
	return saturate__wide(wide_bytes(tally));
}

static void apply_end(struct memory_totals *memory, const struct tally *tally)
{
	memory->live_count -= tally->calls;
	memory->balance -= wide_bytes(tally);
}

static void apply_end_with_context(struct memory_totals *memory, const struct tally *tally)
{
	memory->with_context += tally->calls;
	saturate__add(&memory->with_context_bytes, bytes_of(tally));
	apply_end(memory, tally);
}

static void apply_allocation(struct memory_totals *memory, const struct tally_key *key,
			     const struct tally *tally)
{
	if (key->flags & TALLY_WITH_CONTEXT) {
		apply_end_with_context(memory, tally);
		return;
	}
	if (key->flags & TALLY_REPLACED) {
		/* Their address was allocated again: their free was missed. */
		memory->replaced += tally->calls;
		apply_end(memory, tally);
		return;
	}
	if (key->flags & TALLY_REFERENCE) {
		/*
		 * The memory was already counted. Bytes come only from an import whose size became
		 * known late.
		 */
		memory->balance += wide_bytes(tally);
		return;
	}
	memory->allocation_failures += tally->failures;
	if (key->flags & TALLY_CAPTURED)
		return;
	memory->allocations += tally->calls;
	memory->allocation_ns += tally->ns;
	if (key->flags & TALLY_UNTRACKED) {
		memory->never_live += tally->calls;
		return;
	}
	memory->live_count += tally->calls;
	memory->balance += wide_bytes(tally);
}

static void apply_free(struct process *process, const struct tally_key *key,
		       const struct tally *tally)
{
	struct memory_totals *memory = &process->memory[key->kind];

	if (key->flags & TALLY_WITH_CONTEXT) {
		apply_end_with_context(memory, tally);
		return;
	}
	memory->free_failures += tally->failures;
	if (key->flags & TALLY_DOUBLE)
		process->double_frees += tally->calls + tally->failures;
	if (key->flags & (TALLY_REFERENCE | TALLY_CAPTURED))
		return;
	memory->frees += tally->calls;
	if (key->kind == MEMORY_UNKNOWN) {
		if (!(key->flags & TALLY_DOUBLE))
			memory->unknown_frees += tally->calls;
		return;
	}
	apply_end(memory, tally);
}

/*
 * Mappings and the memory behind them. A failed call is an error but no failed allocation, because
 * it requests no memory.
 */
static void apply_virtual(struct process *process, const struct tally_key *key,
			  const struct tally *tally, enum virtual_change change)
{
	struct memory_totals *memory = &process->memory[key->kind];

	if (key->flags & TALLY_ENDED) {
		memory->frees += tally->calls;
		apply_end(memory, tally);
	} else if (key->flags & (TALLY_REFERENCE | TALLY_REPLACED | TALLY_WITH_CONTEXT)) {
		apply_allocation(memory, key, tally);
	} else if (change == VIRTUAL_MAP || change == VIRTUAL_IMPORT) {
		const struct tally successful = {.calls = tally->calls,
						 .bytes = tally->bytes,
						 .ns = tally->ns,
						 .carries = tally->carries};

		apply_allocation(memory, key, &successful);
	} else if (change == VIRTUAL_MULTICAST) {
		process->recorded_as_nothing += tally->calls;
	}
}

static void apply_copy(struct process *process, const struct tally_key *key,
		       const struct tally *tally, bool async)
{
	struct copy_totals *copies = &process->copies[key->kind][async];

	if (key->flags & TALLY_CAPTURED) {
		copies->captured_calls += tally->calls;
		saturate__add(&copies->captured_bytes, bytes_of(tally));
		return;
	}
	copies->calls += tally->calls;
	saturate__add(&copies->bytes, bytes_of(tally));
	copies->ns += tally->ns;
	if (key->flags & TALLY_PINNED) {
		copies->pinned_calls += tally->calls;
		saturate__add(&copies->pinned_bytes, bytes_of(tally));
	} else if (key->flags & TALLY_PAGEABLE) {
		copies->pageable_calls += tally->calls;
		saturate__add(&copies->pageable_bytes, bytes_of(tally));
	}
}

static void apply_query(struct process *process, const struct tally_key *key,
			const struct tally *tally)
{
	struct query_totals *queries = &process->queries[key->kind];

	queries->calls += tally->calls;
	if (key->flags & TALLY_NOT_READY)
		queries->not_ready += tally->calls;
}

/*
 * Memory ended by a call of another operation, or found to have ended, counts under that call's
 * row.
 */
static bool is_end(const struct tally_key *key, enum operation operation)
{
	return operation == OP_FREE ||
	       key->flags & (TALLY_REPLACED | TALLY_WITH_CONTEXT | TALLY_ENDED);
}

static void apply_device_memory(struct device_totals *device, const struct tally_key *key,
				const struct tally *tally, enum operation operation)
{
	if (key->flags & (TALLY_REFERENCE | TALLY_CAPTURED))
		return;
	if (is_end(key, operation)) {
		device->live_count -= tally->calls;
		device->balance -= wide_bytes(tally);
		return;
	}
	device->allocations += tally->calls;
	if (key->flags & TALLY_UNTRACKED)
		return;
	device->live_count += tally->calls;
	device->balance += wide_bytes(tally);
	saturate__add(&device->allocated_bytes, bytes_of(tally));
}

static bool counts_by_device(enum operation operation, uint8_t kind)
{
	switch (operation) {
	case OP_ALLOC:
	case OP_VIRTUAL: return memory_kind__is_device(kind);
	default:
		return operation == OP_FREE || operation == OP_COPY || operation == OP_SET ||
		       operation == OP_WAIT;
	}
}

/* Adds the counter to the totals by device too. */
static int apply_device(struct process *process, const struct tally_key *key,
			const struct tally *tally, const struct function_desc *function)
{
	enum operation operation = function->operation;
	struct device_totals *device;

	if (!counts_by_device(operation, key->kind))
		return 0;
	device = device_totals__of(&process->devices, &process->device_count, key->device);
	if (!device)
		return -ENOMEM;
	tally_waits__add(process, device, key, tally, function);
	if (operation == OP_ALLOC || operation == OP_FREE || operation == OP_VIRTUAL) {
		if (memory_kind__is_device(key->kind))
			apply_device_memory(device, key, tally, operation);
	} else if (operation == OP_WAIT) {
		device->wait_ns += tally->ns + tally->other_ns;
	} else if (!(key->flags & TALLY_CAPTURED)) {
		device->copies += tally->calls;
		saturate__add(&device->copy_bytes, bytes_of(tally));
	}
	return 0;
}

static int append_function(struct process *process, const struct tally_key *key,
			   const struct tally *tally)
{
	size_t capacity = process->function_capacity ? process->function_capacity * 2 : 32;
	struct function_totals *grown;

	if (process->function_count == process->function_capacity) {
		grown = realloc(process->functions, capacity * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		process->functions = grown;
		process->function_capacity = capacity;
	}
	process->functions[process->function_count++] = (struct function_totals){
		.row = key->row,
		.flags = key->flags,
		.kind = key->kind,
		.device = key->device,
		.calls = tally->calls,
		.failures = tally->failures,
		.bytes = bytes_of(tally),
		.ns = tally->ns,
		.other_ns = tally->other_ns,
	};
	return 0;
}

/* Tallies that are not tied to a function. */
static void apply_rowless(struct process *process, const struct tally_key *key,
			  const struct tally *tally)
{
	struct covered_totals *covered;

	if (!(key->flags & TALLY_COVERED) || key->kind >= COPY_KINDS)
		return;
	covered = &process->covered[key->kind];
	covered->calls += tally->calls;
	saturate__add(&covered->bytes, bytes_of(tally));
	covered->ns += tally->ns;
}

static int apply_function(struct process *process, const struct tally_key *key,
			  const struct tally *tally)
{
	const struct function_desc *function = &api_functions[key->row].desc;
	int ret = apply_device(process, key, tally, function);

	if (ret)
		return ret;
	switch (function->operation) {
	case OP_ALLOC:
		if (key->kind < MEMORY_KINDS)
			apply_allocation(&process->memory[key->kind], key, tally);
		if (key->flags & TALLY_CAPTURED) {
			process->captured_allocations += tally->calls;
			process->recorded_as_nothing += tally->calls;
		}
		break;
	case OP_FREE:
		if (key->kind < MEMORY_KINDS)
			apply_free(process, key, tally);
		if (key->flags & TALLY_CAPTURED)
			process->captured_frees += tally->calls;
		break;
	case OP_VIRTUAL:
		if (key->kind < MEMORY_KINDS)
			apply_virtual(process, key, tally, function->kind);
		break;
	case OP_GRAPH_LAUNCH:
		if (key->flags & TALLY_CAPTURED)
			process->captured_graph_launches += tally->calls;
		else
			process->graph_launches += tally->calls;
		process->graph_launches += tally->failures;
		break;
	case OP_LAUNCH:
		if (key->flags & TALLY_FIRST) {
			process->first_launches.calls += tally->calls;
			process->first_launches.ns += tally->ns;
		}
		break;
	case OP_HOST_FUNCTION:
		if (key->flags & TALLY_CAPTURED)
			process->captured_host_functions += tally->calls;
		else
			process->host_functions += tally->calls;
		break;
	case OP_COPY:
	case OP_SET:
		if (key->kind < COPY_KINDS)
			apply_copy(process, key, tally, function->flags & FUNCTION_ASYNC);
		break;
	case OP_QUERY:
		if (key->kind < WAIT_SCOPES)
			apply_query(process, key, tally);
		break;
	case OP_CREATE:
	case OP_DESTROY:
	case OP_CONTEXT: objects__apply_tally(process, key, tally); break;
	case OP_GRAPH:
	case OP_CAPTURE: objects__apply_graph(process, key, tally); break;
	default: break;
	}
	return 0;
}

/*
 * Adds calls whose return was not followed. Returns whether they count as nothing else: a free of
 * recorded memory also ends it.
 */
static bool apply_unfollowed(struct process *process, const struct tally_key *key,
			     const struct tally *tally)
{
	const struct function_desc *function = &api_functions[key->row].desc;
	struct unfollowed_totals *unfollowed = &process->unfollowed;

	unfollowed->calls += tally->calls;
	switch (function->operation) {
	case OP_ALLOC:
		unfollowed->allocations += tally->calls;
		saturate__add(&unfollowed->allocated_bytes, bytes_of(tally));
		break;
	case OP_FREE: unfollowed->frees += tally->calls; return key->kind == MEMORY_UNKNOWN;
	case OP_COPY:
	case OP_SET:
		if (key->kind < COPY_KINDS) {
			struct copy_totals *copies =
				&process->copies[key->kind]
						[(function->flags & FUNCTION_ASYNC) != 0];

			copies->unfollowed_calls += tally->calls;
			saturate__add(&copies->unfollowed_bytes, bytes_of(tally));
		}
		break;
	case OP_WAIT:
		if (key->kind < WAIT_SCOPES)
			process->waits[key->kind].unfollowed += tally->calls;
		break;
	default: break;
	}
	return true;
}

int tally__apply(struct process *process, const struct tally_key *key, const struct tally *tally)
{
	int ret;

	if (key->row == ROW_NONE)
		apply_rowless(process, key, tally);
	if (key->row >= api_function_count)
		return 0;
	/* Only the objects of libraries above CUDA count. */
	if (api_functions[key->row].desc.layer == LAYER_LIBRARY) {
		objects__apply_tally(process, key, tally);
		return 0;
	}
	ret = append_function(process, key, tally);
	if (!ret && key->flags & TALLY_UNFOLLOWED && apply_unfollowed(process, key, tally))
		return 0;
	return ret ? ret : apply_function(process, key, tally);
}

int tally__apply_missed(struct process *process, struct function_totals *function,
			const struct tally *missed)
{
	const struct tally_key key = {
		.slot = (uint16_t)process->slot,
		.row = function->row,
		.flags = function->flags,
		.kind = function->kind,
		.device = function->device,
	};

	function->calls += missed->calls;
	saturate__add(&function->bytes, missed->bytes);
	function->ns += missed->ns;
	return apply_function(process, &key, missed);
}

static void clamp_devices(struct process *process)
{
	for (size_t i = 0; i < process->device_count; i++) {
		struct device_totals *device = &process->devices[i];

		device->live_bytes = saturate__wide(device->balance);
		if ((int64_t)device->live_count < 0)
			device->live_count = 0;
	}
}

void tally__finish(struct process *process)
{
	process->live_at_exit_bytes = 0;
	process->live_at_exit_count = 0;
	clamp_devices(process);
	for (int kind = 0; kind < MEMORY_KINDS; kind++) {
		/*
		 * A free may be counted before its allocation, since counters change during the
		 * reading.
		 */
		process->memory[kind].live_bytes = saturate__wide(process->memory[kind].balance);
		if ((int64_t)process->memory[kind].live_count < 0)
			process->memory[kind].live_count = 0;
		if (!memory_kind__is_device(kind) || !process->ended)
			continue;
		saturate__add(&process->live_at_exit_bytes, process->memory[kind].live_bytes);
		process->live_at_exit_count += process->memory[kind].live_count;
	}
}

/* The function's totals on the device; those of executed calls if there are captured ones too. */
static struct function_totals *totals_of_open(struct process *process, uint16_t row, uint8_t device)
{
	struct function_totals *found = NULL;

	for (size_t i = 0; i < process->function_count; i++) {
		struct function_totals *function = &process->functions[i];

		if (function->row == row && function->device == device &&
		    (!found || function->flags < found->flags))
			found = function;
	}
	return found;
}

int tally__add_open(struct process *process, uint16_t row, uint8_t device, uint64_t calls,
		    uint64_t ns)
{
	struct function_totals *function = totals_of_open(process, row, device);
	const struct tally_key key = {
		.row = row, .kind = api_functions[row].desc.kind, .device = device};
	int ret;

	if (!function) {
		ret = append_function(process, &key, &(struct tally){0});
		if (ret)
			return ret;
		function = &process->functions[process->function_count - 1];
	}
	function->open += calls;
	function->open_ns += ns;
	return 0;
}
