// SPDX-License-Identifier: BSD-2-Clause
// Live objects by kind and call site, see object_sites.h.
#include "model/object_sites.h"

#include <errno.h>
#include <stdlib.h>

#include "api/api.h"
#include "base/table.h"

struct object_place {
	uint64_t stack;
	uint64_t kind;
};

struct object_count {
	struct object_place place;
	uint64_t live, oldest_ns, newest_ns;
	UT_hash_handle hh;
};

struct object_table {
	struct object_count *counts; /* a uthash table */
};

struct object_table *object_table__new(void)
{
	return calloc(1, sizeof(struct object_table));
}

void object_table__free(struct object_table *table)
{
	if (!table)
		return;
	TABLE_CLEAR(table->counts, free);
	free(table);
}

size_t object_table__bytes(const struct object_table *table)
{
	return table ? sizeof(*table) + HASH_COUNT(table->counts) * sizeof(*table->counts) : 0;
}

void object_table__begin(struct object_table *table)
{
	TABLE_CLEAR(table->counts, free);
}

int object_table__add(struct object_table *table, uint8_t kind, uint64_t stack, uint64_t start_ns)
{
	struct object_place place = {.stack = stack, .kind = kind};
	struct object_count *count = TABLE_TAKE(table->counts, place, &place);

	if (!count)
		return -ENOMEM;
	if (!count->live++ || start_ns < count->oldest_ns)
		count->oldest_ns = start_ns;
	if (start_ns > count->newest_ns)
		count->newest_ns = start_ns;
	return 0;
}

static enum object_kind made_by_graph(uint8_t change)
{
	switch (change) {
	case GRAPH_CREATE:
	case GRAPH_CLONE: return OBJECT_GRAPH;
	case GRAPH_INSTANTIATE: return OBJECT_GRAPH_EXEC;
	default: return OBJECT_KINDS;
	}
}

enum object_kind object_kind__made_by(uint16_t row)
{
	const struct function_desc *function;

	if (row >= api_function_count)
		return OBJECT_KINDS;
	function = &api_functions[row].desc;
	switch (function->operation) {
	case OP_CREATE: return (enum object_kind)function->kind;
	case OP_CONTEXT: return OBJECT_CONTEXT;
	case OP_CAPTURE: return OBJECT_GRAPH;
	case OP_GRAPH: return made_by_graph(function->kind);
	default: return OBJECT_KINDS;
	}
}

const char *object_kind__plural(enum object_kind kind)
{
	static const char *const plurals[OBJECT_KINDS] = {
		[OBJECT_STREAM] = "streams",
		[OBJECT_EVENT] = "events",
		[OBJECT_CONTEXT] = "contexts",
		[OBJECT_MODULE] = "modules",
		[OBJECT_LIBRARY] = "libraries",
		[OBJECT_GRAPH] = "graphs",
		[OBJECT_GRAPH_EXEC] = "executable graphs",
		[OBJECT_POOL] = "pools",
		[OBJECT_CUBLAS] = "cuBLAS handles",
		[OBJECT_CUBLASLT] = "cuBLASLt handles",
		[OBJECT_CUDNN] = "cuDNN handles",
		[OBJECT_CUSPARSE] = "cuSPARSE handles",
		[OBJECT_CUSOLVER] = "cuSOLVER handles",
		[OBJECT_CUFFT] = "cuFFT plans",
		[OBJECT_CURAND] = "cuRAND generators",
		[OBJECT_NCCL] = "NCCL communicators",
	};

	return kind < OBJECT_KINDS ? plurals[kind] : "objects";
}

/* --- lists --- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_identity(const void *a, const void *b)
{
	const struct object_site *x = a, *y = b;
	int order = compare((uintptr_t)x->stack, (uintptr_t)y->stack);

	return order ? order : compare(x->kind, y->kind);
}

static uint64_t serial_of(const struct object_site *site)
{
	return site->stack ? site->stack->serial : UINT64_MAX;
}

static int by_live(const void *a, const void *b)
{
	const struct object_site *x = a, *y = b;
	int order = compare(y->live, x->live);

	if (!order)
		order = compare(x->kind, y->kind);
	return order ? order : compare(serial_of(x), serial_of(y));
}

static size_t merge(struct object_site *sites, size_t count)
{
	size_t used = 0;

	if (count)
		qsort(sites, count, sizeof(*sites), by_identity);
	for (size_t i = 0; i < count; i++) {
		struct object_site *last = used ? &sites[used - 1] : NULL;

		if (!last || by_identity(last, &sites[i])) {
			sites[used++] = sites[i];
			continue;
		}
		last->live += sites[i].live;
		if (sites[i].oldest_ns < last->oldest_ns)
			last->oldest_ns = sites[i].oldest_ns;
		if (sites[i].newest_ns > last->newest_ns)
			last->newest_ns = sites[i].newest_ns;
	}
	return used;
}

/* Adds up the calls that created objects at the sites, which are in the order of by_identity. */
static void count_made(struct process *process)
{
	const struct call_site *calls =
		process->sites ? process->sites + process->site_count : NULL;

	for (size_t i = 0; calls && i < process->object_call_count; i++) {
		struct object_site key = {.stack = calls[i].stack,
					  .kind = (uint8_t)object_kind__made_by(calls[i].row)};
		struct object_site *site =
			process->object_site_count ?
				bsearch(&key, process->object_sites, process->object_site_count,
					sizeof(key), by_identity) :
				NULL;

		if (site)
			site->made += calls[i].calls;
	}
}

int object_table__list(const struct object_table *table, struct process *process,
		       site_stack_fn find, void *arg)
{
	size_t room = HASH_COUNT(table->counts), count = 0;
	struct object_site *list =
		realloc(process->object_sites, (room ? room : 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	process->object_sites = list;
	for (const struct object_count *at = table->counts; at; at = at->hh.next)
		list[count++] = (struct object_site){
			.stack = find && at->place.stack ? find(arg, at->place.stack) : NULL,
			.kind = (uint8_t)at->place.kind,
			.live = at->live,
			.made = find ? 0 : process->objects[at->place.kind].created,
			.oldest_ns = at->oldest_ns,
			.newest_ns = at->newest_ns,
		};
	process->object_site_count = merge(list, count);
	if (find)
		count_made(process);
	if (process->object_site_count)
		qsort(list, process->object_site_count, sizeof(*list), by_live);
	return 0;
}
