// SPDX-License-Identifier: BSD-2-Clause
// What a process calls, see counted.h.
#include "compare/counted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/array.h"

#define FUNCTIONS_MAX 4096 /* CUDA has fewer: a file with more is not compared by them */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct counted *)a)->name, ((const struct counted *)b)->name);
}

void counted__merge(struct counted_list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_name);
	for (size_t i = 0; i < list->count; i++) {
		const struct counted *item = &list->items[i];

		if (kept && !strcmp(list->items[kept - 1].name, item->name))
			list->items[kept - 1].count += item->count;
		else
			list->items[kept++] = *item;
	}
	list->count = kept;
}

/* The item with that name, or NULL. */
static const struct counted *find(const struct counted_list *list, const char *name)
{
	const struct counted key = {.name = name};

	return list->count ? bsearch(&key, list->items, list->count, sizeof(key), by_name) : NULL;
}

const char *counted__keep(struct compared_process *process, char *text)
{
	if (!text || ARRAY_APPEND(process->texts, process->text_count, text)) {
		free(text);
		return NULL;
	}
	return text;
}

/* --- kernels --- */

/*
 * Labels are short, and the same kernel may have others in another run: full names are compared.
 * *names, ordered by label, is released with free(3).
 */
static int list_names(const struct json_value *kernels, struct counted_list *names)
{
	for (; kernels; kernels = kernels->next) {
		const struct counted item = {.name = json_value__string(kernels, "label"),
					     .shown = json_value__string(kernels, "name")};

		if (item.name && item.shown && ARRAY_APPEND(names->items, names->count, item))
			return -ENOMEM;
	}
	counted__merge(names);
	return 0;
}

static int add_kernel(struct counted_list *kernels, const struct json_value *kernel,
		      const struct counted_list *names)
{
	const char *label = json_value__string(kernel, "label");
	const struct counted *named = label ? find(names, label) : NULL;
	struct counted item = {.shown = label ? label : "(unnamed)"};

	if (!label && json_value__is_true(kernel, "graph"))
		item.shown = "(graph)";
	item.whole = named ? named->shown : NULL;
	item.name = named ? named->shown : item.shown;
	json_value__number(kernel, "launches", &item.count);
	return ARRAY_APPEND(kernels->items, kernels->count, item);
}

static int read_kernels(struct compared_process *process, enum figure_scope scope,
			const struct counted_list *names)
{
	struct counted_list *kernels = &process->lists[scope].kernels;
	const struct json_value *list =
		json_value__at(process->json, scope == SCOPE_STEP ? "steps.kernels" : "kernels");
	int ret = 0;

	kernels->known = list && list->type == JSON_ARRAY;
	for (list = kernels->known ? list->first : NULL; list && !ret; list = list->next)
		ret = add_kernel(kernels, list, names);
	counted__merge(kernels);
	return ret;
}

static int read_all_kernels(struct compared_process *process)
{
	const struct json_value *all = json_value__member(process->json, "kernels");
	struct counted_list names = {0};
	int ret = list_names(all && all->type == JSON_ARRAY ? all->first : NULL, &names);

	for (enum figure_scope scope = 0; scope < SCOPE_PROCESS && !ret; scope++)
		ret = read_kernels(process, scope, &names);
	free(names.items);
	return ret;
}

/* --- functions --- */

enum counted_class counted__class(const char *symbol)
{
	int row = api__find(symbol, API_NEWEST);

	switch (row < 0 ? OP_NONE : api_functions[row].desc.operation) {
	case OP_LAUNCH:
	case OP_LAUNCH_LIST:
	case OP_GRAPH_LAUNCH: return COUNTED_LAUNCH;
	case OP_WAIT: return COUNTED_WAIT;
	case OP_COPY: return COUNTED_COPY;
	case OP_ALLOC: return COUNTED_ALLOCATION;
	case OP_FREE: return COUNTED_FREE;
	case OP_QUERY:
	case OP_ASK:
	case OP_DEVICE: return COUNTED_ASK;
	default: return COUNTED_OTHER;
	}
}

static int add_function(struct counted_list *functions, const struct json_value *function,
			double scale)
{
	const char *symbol = json_value__string(function, "function");
	struct counted item = {.name = symbol, .shown = symbol};
	double calls = 0, ns = 0;

	if (!symbol)
		return 0;
	json_value__number(function, "calls", &calls);
	json_value__number(function, "total_ns", &ns);
	item.count = calls * scale;
	item.ns = calls > 0 ? ns / calls : 0;
	item.class = counted__class(symbol);
	return ARRAY_APPEND(functions->items, functions->count, item);
}

bool counted__scale(const struct compared_process *process, enum figure_scope scope, double *scale,
		    double *edges)
{
	double launches, in_step;

	*scale = 1;
	if (scope != SCOPE_STEP)
		return true;
	if (!json_value__number(process->json, "steady.launches", &launches) ||
	    !json_value__number(process->json, "steps.launches", &in_step) || launches <= 0 ||
	    in_step <= 0)
		return false;
	*scale = in_step / launches;
	*edges = 2 * *scale;
	return true;
}

static int add_kind_of_copy(struct compared_process *process, struct counted_list *functions,
			    const char *what, const char *kind, double calls)
{
	struct counted item = {.class = COUNTED_OTHER, .count = calls};
	char *text = NULL;

	if (asprintf(&text, "%s %.16s copies", what, kind) < 0)
		return -ENOMEM;
	item.name = item.shown = counted__keep(process, text);
	return item.name ? ARRAY_APPEND(functions->items, functions->count, item) : -ENOMEM;
}

/* Copies that became slower without being more: from pageable memory, or synchronous ones. */
static int add_slow_copies(struct compared_process *process, struct counted_list *functions,
			   double scale)
{
	const struct json_value *list = json_value__at(process->json, "steady.copies");
	int ret = 0;

	for (list = list && list->type == JSON_ARRAY ? list->first : NULL; list && !ret;
	     list = list->next) {
		const char *kind = json_value__string(list, "kind");
		const char *mode = json_value__string(list, "mode");
		const char *host = json_value__string(list, "host");
		double calls = 0;

		json_value__number(list, "calls", &calls);
		if (kind && host && !strcmp(host, "pageable"))
			ret = add_kind_of_copy(process, functions, "pageable", kind, calls * scale);
		if (!ret && kind && mode && !strcmp(mode, "sync"))
			ret = add_kind_of_copy(process, functions, "synchronous", kind,
					       calls * scale);
	}
	return ret;
}

static int read_functions(struct compared_process *process, enum figure_scope scope)
{
	struct counted_list *functions = &process->lists[scope].functions;
	const struct json_value *list = json_value__at(
		process->json, scope == SCOPE_STEP ? "steady.functions" : "functions");
	double scale;
	int ret = 0;

	functions->known = list && list->type == JSON_ARRAY &&
			   counted__scale(process, scope, &scale, &functions->edges);
	for (list = functions->known ? list->first : NULL; list && !ret; list = list->next)
		ret = add_function(functions, list, scale);
	if (!ret && functions->known && scope == SCOPE_STEP)
		ret = add_slow_copies(process, functions, scale);
	counted__merge(functions);
	functions->known = functions->known && functions->count <= FUNCTIONS_MAX;
	return ret;
}

int counted__read(struct compared_process *process)
{
	int ret = read_all_kernels(process);

	for (enum figure_scope scope = 0; scope < SCOPE_PROCESS && !ret; scope++) {
		ret = read_functions(process, scope);
		if (!ret)
			ret = counted__read_places(process, scope);
	}
	return ret;
}
