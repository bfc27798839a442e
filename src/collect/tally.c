// SPDX-License-Identifier: BSD-2-Clause
// Adds the counters of the BPF maps up, see tally.h.
#include "collect/tally.h"

#include <string.h>

#include "model/api.h"

void tally__reset(struct process *process)
{
	memset(process->memory, 0, sizeof(process->memory));
	memset(process->copies, 0, sizeof(process->copies));
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

void tally__apply(struct process *process, const struct tally_key *key, const struct tally *tally)
{
	const struct function_desc *function;
	struct copy_totals *copies;

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
		break;
	case OP_GRAPH_LAUNCH:
		process->graph_launches += tally->calls + tally->failures;
		break;
	case OP_COPY:
	case OP_SET:
		if (key->kind >= COPY_KINDS)
			break;
		copies = &process->copies[key->kind][function->flags & FUNCTION_ASYNC ? 1 : 0];
		copies->calls += tally->calls;
		copies->bytes += tally->bytes;
		copies->ns += tally->ns;
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
