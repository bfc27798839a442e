// SPDX-License-Identifier: BSD-2-Clause
// The lines of a program that wait, copy and allocate, from the call sites of stat's JSON.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "compare/counted.h"
#include "model/user_line.h"

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

	*class = counted__class(function);
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
	item->name = counted__keep(process, name);
	if (!item->name)
		return -ENOMEM;
	item->shown = item->name;
	if (!caller->line)
		return 0;
	if (asprintf(&shown, "%.100s from %.200s (%.200s:%u)", function, caller->function, in,
		     caller->line) < 0)
		return -ENOMEM;
	item->shown = counted__keep(process, shown);
	return item->shown ? 0 : -ENOMEM;
}

static int add_place(struct compared_process *process, struct counted_list *places,
		     const struct json_value *place, bool steady, double scale)
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
	if (steady && !json_value__number(place, "early_calls", &early))
		return 0;
	item.count = (calls - early) * scale;
	ret = name_place(process, &item, function, &caller);
	return ret ? ret : ARRAY_APPEND(places->items, places->count, item);
}

int counted__read_places(struct compared_process *process, enum figure_scope scope)
{
	struct counted_list *places = &process->lists[scope].places;
	const struct json_value *list = json_value__at(process->json, "call_sites.calls");
	double scale;
	int ret = 0;

	places->known = list && list->type == JSON_ARRAY &&
			counted__scale(process, scope, &scale, &places->edges);
	for (list = places->known ? list->first : NULL; list && !ret; list = list->next)
		ret = add_place(process, places, list, scope == SCOPE_STEP, scale);
	counted__merge(places);
	return ret;
}
