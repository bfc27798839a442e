// SPDX-License-Identifier: BSD-2-Clause
// Counts objects, see objects.h.
#include "collect/objects.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "api/api.h"
#include "model/devices.h"

void objects__reset(struct process *process)
{
	memset(process->objects, 0, sizeof(process->objects));
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		process->objects[kind].with_context = process->objects_cleared[kind];
}

static void apply_made(struct object_totals *objects, const struct tally_key *key,
		       const struct tally *tally)
{
	objects->created += tally->calls;
	objects->ns += tally->ns;
	if (!(key->flags & TALLY_IN_LAUNCH))
		return;
	objects->in_launch += tally->calls;
	objects->in_launch_ns += tally->ns;
}

/* The kind of object that a graph or capture call creates or destroys; OBJECT_KINDS if none. */
static enum object_kind of_graph(const struct function_desc *function, const struct tally_key *key,
				 bool *is_made)
{
	*is_made = true;
	if (function->operation == OP_CAPTURE)
		return key->kind == CAPTURE_END ? OBJECT_GRAPH : OBJECT_KINDS;
	switch (function->kind) {
	case GRAPH_CREATE:
	case GRAPH_CLONE: return OBJECT_GRAPH;
	case GRAPH_INSTANTIATE: return OBJECT_GRAPH_EXEC;
	case GRAPH_DESTROY: *is_made = false; return OBJECT_GRAPH;
	case GRAPH_DESTROY_EXEC: *is_made = false; return OBJECT_GRAPH_EXEC;
	default: return OBJECT_KINDS;
	}
}

void objects__apply_graph(struct process *process, const struct tally_key *key,
			  const struct tally *tally)
{
	enum object_kind kind;
	bool is_made;

	kind = of_graph(&api_functions[key->row].desc, key, &is_made);
	if (kind == OBJECT_KINDS || key->flags & TALLY_REPLACED)
		return;
	if (is_made) {
		apply_made(&process->objects[kind], key, tally);
		return;
	}
	process->objects[kind].destroyed += tally->calls;
	if (key->flags & TALLY_UNTRACKED)
		process->objects[kind].unknown_destroyed += tally->calls;
}

static bool makes(const struct function_desc *function)
{
	if (function->operation == OP_CREATE)
		return true;
	return function->operation == OP_CONTEXT &&
	       (function->kind == CONTEXT_CREATE || function->kind == CONTEXT_RETAIN ||
		function->kind == CONTEXT_GREEN);
}

void objects__apply_tally(struct process *process, const struct tally_key *key,
			  const struct tally *tally)
{
	const struct function_desc *function = &api_functions[key->row].desc;
	bool is_context = function->operation == OP_CONTEXT;
	struct object_totals *objects;

	if (!is_context && key->kind >= OBJECT_KINDS)
		return;
	objects = &process->objects[is_context ? OBJECT_CONTEXT : key->kind];
	/* These tallies count objects whose end was noticed later, not calls. */
	if (key->flags & TALLY_REPLACED)
		return;
	if (key->flags & TALLY_WITH_CONTEXT) {
		objects->with_context += tally->calls;
		return;
	}
	if (is_context && !(key->flags & TALLY_OBJECT))
		return;
	if (makes(function)) {
		apply_made(objects, key, tally);
		return;
	}
	objects->destroyed += tally->calls;
	if (key->flags & TALLY_UNTRACKED)
		objects->unknown_destroyed += tally->calls;
}

int objects__add(struct process *process, const struct contexts *contexts,
		 const struct object_key *key, const struct object_record *record)
{
	struct device_totals *device;

	if (key->kind >= OBJECT_KINDS)
		return 0;
	if (contexts__took(contexts, key->slot, record->context, record->start_ns)) {
		process->objects[key->kind].with_context++;
		return 0;
	}
	process->objects[key->kind].live++;
	device = device_totals__of(&process->devices, &process->device_count, record->device);
	if (!device)
		return -ENOMEM;
	device->objects[key->kind]++;
	return 0;
}

bool objects__clear_away(struct process *process, const struct contexts *contexts,
			 const struct bpf_map *map, const struct object_key *key)
{
	struct object_record record;

	if (bpf_map__lookup_and_delete_elem(map, key, sizeof(*key), &record, sizeof(record), 0))
		return false;
	if (!contexts__took(contexts, key->slot, record.context, record.start_ns)) {
		bpf_map__update_elem(map, key, sizeof(*key), &record, sizeof(record), BPF_NOEXIST);
		return false;
	}
	process->objects_cleared[key->kind]++;
	return true;
}
