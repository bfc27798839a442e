// SPDX-License-Identifier: BSD-2-Clause
// What a process calls, see counted.h.
#include "compare/counted.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/array.h"
#include "model/user_line.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct counted *)a)->name, ((const struct counted *)b)->name);
}

/* One item for each name. */
static void merge(struct counted_list *list)
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

const struct counted *counted_list__find(const struct counted_list *list, const char *name)
{
	const struct counted key = {.name = name};

	return list->count ? bsearch(&key, list->items, list->count, sizeof(key), by_name) : NULL;
}

/* Returns a text that the process owns; NULL without memory. */
static const char *keep(struct compared_process *process, char *text)
{
	if (!text || ARRAY_APPEND(process->texts, process->text_count, text)) {
		free(text);
		return NULL;
	}
	return text;
}

/* --- kernels --- */

/* Labels are short, and the same kernel may have others in another run: full names are compared. */
static const char *full_name(const struct json_value *kernels, const char *label)
{
	for (; kernels; kernels = kernels->next) {
		const char *other = json_value__string(kernels, "label");
		const char *name = json_value__string(kernels, "name");

		if (other && name && !strcmp(other, label))
			return name;
	}
	return label;
}

static int add_kernel(struct compared_process *process, const struct json_value *kernel,
		      const struct json_value *named)
{
	const char *label = json_value__string(kernel, "label");
	struct counted item = {.shown = label ? label : "(unnamed)"};

	if (!label && json_value__is_true(kernel, "graph"))
		item.shown = "(graph)";
	item.name = label ? full_name(named, label) : item.shown;
	json_value__number(kernel, "launches", &item.count);
	return ARRAY_APPEND(process->kernels.items, process->kernels.count, item);
}

static int read_kernels(struct compared_process *process)
{
	const struct json_value *all = json_value__member(process->json, "kernels");
	const struct json_value *list =
		process->has_steps ? json_value__at(process->json, "steps.kernels") : all;
	int ret = 0;

	process->kernels.known = list && list->type == JSON_ARRAY;
	for (list = process->kernels.known ? list->first : NULL; list && !ret; list = list->next)
		ret = add_kernel(process, list, all ? all->first : NULL);
	merge(&process->kernels);
	return ret;
}

/* --- functions --- */

static enum counted_class class_of(const char *symbol)
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

static int add_function(struct compared_process *process, const struct json_value *function,
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
	item.class = class_of(symbol);
	return ARRAY_APPEND(process->functions.items, process->functions.count, item);
}

/*
 * In the steady time as many steps passed as its launches show. That is known but for a step at its
 * beginning and its end.
 */
static bool steady_scale(const struct compared_process *process, double *scale, double *edges)
{
	double launches, in_step;

	if (!json_value__number(process->json, "steady.launches", &launches) ||
	    !json_value__number(process->json, "steps.launches", &in_step) || launches <= 0 ||
	    in_step <= 0)
		return false;
	*scale = in_step / launches;
	*edges = 2 * *scale;
	return true;
}

static int add_kind_of_copy(struct compared_process *process, const char *what, const char *kind,
			    double calls)
{
	struct counted item = {.class = COUNTED_OTHER, .count = calls};
	char *text = NULL;

	if (asprintf(&text, "%s %.16s copies", what, kind) < 0)
		return -ENOMEM;
	item.name = item.shown = keep(process, text);
	return item.name ? ARRAY_APPEND(process->functions.items, process->functions.count, item) :
			   -ENOMEM;
}

/* Copies that became slower without being more: from pageable memory, or synchronous ones. */
static int add_slow_copies(struct compared_process *process, double scale)
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
			ret = add_kind_of_copy(process, "pageable", kind, calls * scale);
		if (!ret && kind && mode && !strcmp(mode, "sync"))
			ret = add_kind_of_copy(process, "synchronous", kind, calls * scale);
	}
	return ret;
}

static int read_functions(struct compared_process *process)
{
	const struct json_value *list = json_value__member(process->json, "functions");
	double scale = 1;
	int ret = 0;

	if (process->has_steps) {
		list = json_value__at(process->json, "steady.functions");
		if (!steady_scale(process, &scale, &process->functions.edges))
			return 0;
	}
	process->functions.known = list && list->type == JSON_ARRAY;
	for (list = process->functions.known ? list->first : NULL; list && !ret; list = list->next)
		ret = add_function(process, list, scale);
	if (!ret && process->has_steps)
		ret = add_slow_copies(process, scale);
	merge(&process->functions);
	return ret;
}

/* --- places --- */

static bool read_frame(const struct json_value *json, struct stack_frame *frame)
{
	const char *kind = json_value__string(json, "kind");
	double line = 0;

	json_value__number(json, "line", &line);
	*frame = (struct stack_frame){
		.kind = kind && !strcmp(kind, "native") ? FRAME_NATIVE : FRAME_PYTHON,
		.function = json_value__string(json, "function"),
		.object = json_value__string(json, "object"),
		.file = json_value__string(json, "file"),
		.line = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0,
	};
	return kind && strcmp(kind, "mark");
}

/* The line of the user's code that called, as user_line__find finds it. */
static bool find_caller(const struct json_value *place, struct stack_frame *caller)
{
	const struct json_value *frames = json_value__at(place, "stack.frames");
	struct stack_frame frame;
	bool found = false;

	for (frames = frames && frames->type == JSON_ARRAY ? frames->first : NULL; frames;
	     frames = frames->next) {
		if (!read_frame(frames, &frame) || !user_line__is_own(&frame))
			continue;
		if (!found || frame.kind == FRAME_PYTHON)
			*caller = frame;
		found = true;
		if (frame.kind == FRAME_PYTHON)
			break;
	}
	return found && caller->function;
}

/* Synchronous copies are places of both kinds: they count as copies. */
static bool class_of_place(const struct json_value *place, const char *function,
			   enum counted_class *class)
{
	const char *kind = json_value__string(place, "kind");

	*class = class_of(function);
	if (!kind)
		return false;
	return (*class == COUNTED_WAIT && !strcmp(kind, "wait")) ||
	       (*class == COUNTED_COPY && !strcmp(kind, "copy")) ||
	       (*class == COUNTED_ALLOCATION && !strcmp(kind, "allocation"));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Without the line for comparison: it moves when the program is edited. */
static int name_place(struct compared_process *process, struct counted *item, const char *function,
		      const struct stack_frame *caller)
{
	const char *in = caller->file	? base_name(caller->file) :
			 caller->object ? caller->object :
					  "?";
	char *name = NULL, *shown = NULL;

	if (asprintf(&name, "%.100s from %.200s (%.200s)", function, caller->function, in) < 0)
		return -ENOMEM;
	item->name = keep(process, name);
	if (!item->name)
		return -ENOMEM;
	item->shown = item->name;
	if (!caller->line)
		return 0;
	if (asprintf(&shown, "%.100s from %.200s (%.200s:%u)", function, caller->function, in,
		     caller->line) < 0)
		return -ENOMEM;
	item->shown = keep(process, shown);
	return item->shown ? 0 : -ENOMEM;
}

static int add_place(struct compared_process *process, const struct json_value *place, double scale)
{
	const char *function = json_value__string(place, "function");
	double calls = 0, early = 0;
	struct stack_frame caller = {0};
	struct counted item = {0};
	int ret;

	if (!function || !class_of_place(place, function, &item.class) ||
	    !find_caller(place, &caller))
		return 0;
	json_value__number(place, "calls", &calls);
	if (process->has_steps && !json_value__number(place, "early_calls", &early))
		return 0;
	item.count = (calls - early) * scale;
	ret = name_place(process, &item, function, &caller);
	return ret ? ret : ARRAY_APPEND(process->places.items, process->places.count, item);
}

static int read_places(struct compared_process *process)
{
	const struct json_value *list = json_value__at(process->json, "call_sites.calls");
	double scale = 1;
	int ret = 0;

	process->places.known =
		list && list->type == JSON_ARRAY &&
		(!process->has_steps || steady_scale(process, &scale, &process->places.edges));
	for (list = process->places.known ? list->first : NULL; list && !ret; list = list->next)
		ret = add_place(process, list, scale);
	merge(&process->places);
	return ret;
}

int counted__read(struct compared_process *process)
{
	int ret = read_kernels(process);

	if (!ret)
		ret = read_functions(process);
	return ret ? ret : read_places(process);
}
