// SPDX-License-Identifier: BSD-2-Clause
// Adds the counters of the BPF maps up, see tally.h.
#include "collect/tally.h"

#include <string.h>

#include "model/api.h"

void tally__reset(struct process *process)
{
	memset(process->memory, 0, sizeof(process->memory));
	memset(process->copies, 0, sizeof(process->copies));
	memset(process->waits, 0, sizeof(process->waits));
	memset(process->queries, 0, sizeof(process->queries));
	memset(&process->copy_waits, 0, sizeof(process->copy_waits));
	memset(&process->free_waits, 0, sizeof(process->free_waits));
	process->graph_launches = 0;
}

static void apply_allocation(struct memory_totals *memory, const struct tally_key *key, const struct tally *tally)
{
	if (key->flags & TALLY_REPLACED) {
		/* Their address came again: they were freed where we did not see it. */
		memory->live_count -= tally->calls;
		memory->live_bytes -= tally->bytes;
		return;
	}
	memory->allocations += tally->calls;
	memory->allocation_failures += tally->failures;
	memory->allocation_ns += tally->ns;
	if (key->flags & TALLY_UNTRACKED)
		return;
	memory->live_count += tally->calls;
	memory->live_bytes += tally->bytes;
}

static void apply_free(struct process *process, const struct tally_key *key, const struct tally *tally)
{
	struct memory_totals *memory = &process->memory[key->kind];

	memory->free_failures += tally->failures;
	memory->frees += tally->calls;
	if (key->kind == MEMORY_UNKNOWN) {
		memory->unknown_frees += tally->calls;
		return;
	}
	memory->live_count -= tally->calls;
	memory->live_bytes -= tally->bytes;
}

static void apply_wait(struct wait_totals *waits, const struct tally *tally)
{
	waits->calls += tally->calls;
	waits->ns += tally->ns;
}

static void apply_copy(struct process *process, const struct tally_key *key, const struct tally *tally,
		       bool async)
{
	struct copy_totals *copies = &process->copies[key->kind][async];

	copies->calls += tally->calls;
	copies->bytes += tally->bytes;
	copies->ns += tally->ns;
	if (!async)
		apply_wait(&process->copy_waits, tally);
}

static void apply_query(struct process *process, const struct tally_key *key, const struct tally *tally)
{
	struct query_totals *queries = &process->queries[key->kind];

	queries->calls += tally->calls;
	if (key->flags & TALLY_NOT_READY)
		queries->not_ready += tally->calls;
}

void tally__apply(struct process *process, const struct tally_key *key, const struct tally *tally)
{
	const struct function_desc *function;

	if (key->row >= api_function_count)
		return;
	function = &api_functions[key->row].desc;
	switch (function->operation) {
	case OP_ALLOC:
		if (key->kind < MEMORY_KINDS)
			apply_allocation(&process->memory[key->kind], key, tally);
		break;
	case OP_FREE:
		if (key->kind < MEMORY_KINDS)
			apply_free(process, key, tally);
		if (!(function->flags & FUNCTION_ASYNC))
			apply_wait(&process->free_waits, tally);
		break;
	case OP_GRAPH_LAUNCH:
		process->graph_launches += tally->calls + tally->failures;
		break;
	case OP_COPY:
	case OP_SET:
		if (key->kind < COPY_KINDS)
			apply_copy(process, key, tally, function->flags & FUNCTION_ASYNC);
		break;
	case OP_WAIT:
		if (key->kind < WAIT_SCOPES)
			apply_wait(&process->waits[key->kind], tally);
		break;
	case OP_QUERY:
		if (key->kind < WAIT_SCOPES)
			apply_query(process, key, tally);
		break;
	default:
		break;
	}
}

void tally__finish(struct process *process)
{
	process->live_at_exit_bytes = 0;
	process->live_at_exit_count = 0;
	for (int kind = 0; kind < MEMORY_KINDS; kind++) {
		/* The counters of a moment: a free may be counted whose allocation is not yet. */
		if ((int64_t)process->memory[kind].live_bytes < 0)
			process->memory[kind].live_bytes = 0;
		if ((int64_t)process->memory[kind].live_count < 0)
			process->memory[kind].live_count = 0;
		if (kind == MEMORY_HOST || !process->ended)
			continue;
		process->live_at_exit_bytes += process->memory[kind].live_bytes;
		process->live_at_exit_count += process->memory[kind].live_count;
	}
}
