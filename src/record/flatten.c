// SPDX-License-Identifier: BSD-2-Clause
// Makes numbers of a structure of the model, see flatten.h.
#include "record/flatten.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/table.h"
#include "record/types.h"

struct flattener {
	const struct layout *layout;
	struct names_writer *names;
	struct arena *memory;
	struct flatten_cache *cache; /* NULL: none */
};

/* The values and lists of an ended process. */
struct cached_process {
	uint64_t serial;
	uint64_t *values;
	struct tree_list *lists;
	UT_hash_handle hh;
};

static int flatten_into(const struct flattener *flattener, uint32_t type, const void *object,
			uint64_t *values, struct tree_list *lists);

/* --- values --- */

static uint64_t load(const void *from, uint32_t size, bool has_sign)
{
	switch (size) {
	case 1: return has_sign ? (uint64_t) * (const int8_t *)from : *(const uint8_t *)from;
	case 2: return has_sign ? (uint64_t) * (const int16_t *)from : *(const uint16_t *)from;
	case 4: return has_sign ? (uint64_t) * (const int32_t *)from : *(const uint32_t *)from;
	default: return *(const uint64_t *)from;
	}
}

/* "cuMemAlloc_v2", "cudaGetDeviceProperties@11" for the form of an earlier soname, "#70000". */
static uint64_t flatten_row(const struct flattener *flattener, uint64_t row)
{
	char text[256];

	if (row >= api_function_count)
		snprintf(text, sizeof(text), "#%llu", (unsigned long long)row);
	else if (api_functions[row].soname)
		snprintf(text, sizeof(text), "%s@%u", api_functions[row].symbol,
			 api_functions[row].soname);
	else
		return names_writer__text(flattener->names, api_functions[row].symbol, SIZE_MAX);
	return names_writer__text(flattener->names, text, sizeof(text));
}

static void flatten_values(const struct flattener *flattener, const struct recorded_field *field,
			   const char *from, uint64_t *values)
{
	switch (field->kind) {
	case FIELD_TEXT:
		*values = *from ? names_writer__name(flattener->names, field->hides, from,
						     field->size) :
				  0;
		return;
	case FIELD_STRING:
		*values = names_writer__name(flattener->names, field->hides,
					     *(const char *const *)from, SIZE_MAX);
		return;
	case FIELD_STACK:
		*values = names_writer__stack(flattener->names, *(const struct stack *const *)from);
		return;
	case FIELD_ROW: *values = flatten_row(flattener, load(from, field->size, false)); return;
	case FIELD_WIDE: memcpy(values, from, sizeof(__int128)); return;
	default: break;
	}
	for (uint32_t i = 0; i < field->count; i++, from += field->size)
		values[i] = load(from, field->size, field->kind == FIELD_SIGNED);
}

/* --- ended processes --- */

void flatten_cache__clear(struct flatten_cache *cache)
{
	TABLE_CLEAR(cache->processes, free);
	arena__clear(&cache->memory);
}

/* Makes them in the cache's memory. 0 or -ENOMEM. */
static int fill_cached(const struct flattener *flattener, uint32_t type_index,
		       const struct process *process, struct cached_process *cached)
{
	const struct layout_type *type = &flattener->layout->types[type_index];
	struct flattener lasting = *flattener;

	lasting.memory = &flattener->cache->memory;
	lasting.cache = NULL;
	cached->values = arena__take(lasting.memory, type->values, sizeof(*cached->values));
	cached->lists = arena__take(lasting.memory, type->lists, sizeof(*cached->lists));
	if (!cached->values || !cached->lists)
		return -ENOMEM;
	return flatten_into(&lasting, type_index, process, cached->values, cached->lists);
}

/* NULL: it is no such process, or there is no memory to keep it. */
static const struct cached_process *cached_of(const struct flattener *flattener,
					      uint32_t type_index, const void *item)
{
	const struct process *process = item;
	struct flatten_cache *cache = flattener->cache;
	struct cached_process *cached;

	if (!cache || flattener->layout->types[type_index].own != &recorded_process ||
	    !process->ended || !process->kept_bytes)
		return NULL;
	cached = TABLE_TAKE(cache->processes, serial, &process->serial);
	if (!cached || cached->lists || !fill_cached(flattener, type_index, process, cached))
		return cached;
	HASH_DEL(cache->processes, cached);
	free(cached);
	return NULL;
}

/* --- lists --- */

static int flatten_list(const struct flattener *flattener, uint32_t type_index, const void *items,
			size_t count, bool pointers, struct tree_list *list)
{
	const struct layout_type *type = &flattener->layout->types[type_index];
	int ret = tree_list__make(list, type, count, flattener->memory);

	for (size_t i = 0; i < count && !ret; i++) {
		const void *item = pointers ? ((void *const *)items)[i] :
					      (const char *)items + i * type->own->size;

		const struct cached_process *cached = cached_of(flattener, type_index, item);
		uint64_t *values = list->values + i * type->values;
		struct tree_list *lists = list->lists + i * type->lists;

		if (!cached) {
			ret = flatten_into(flattener, type_index, item, values, lists);
			continue;
		}
		memcpy(values, cached->values, type->values * sizeof(*values));
		memcpy(lists, cached->lists, type->lists * sizeof(*lists));
	}
	return ret;
}

static int flatten_made(const struct flattener *flattener, const struct layout_field *field,
			const void *object, struct tree_list *list)
{
	struct made_list made = {0};
	int ret = field->own->make(object, &made);

	if (!ret)
		ret = flatten_list(flattener, field->type, made.items, made.count, false, list);
	free(made.memory);
	return ret;
}

static int flatten_lists(const struct flattener *flattener, const struct layout_field *field,
			 const void *object, struct tree_list *list)
{
	const struct recorded_field *own = field->own;
	const void *member = (const char *)object + own->offset;
	void *items = *(void *const *)member;
	size_t count;

	if (own->kind == FIELD_MADE)
		return flatten_made(flattener, field, object, list);
	if (own->kind == FIELD_POINTER)
		return flatten_list(flattener, field->type, items, items ? 1 : 0, false, list);
	count = *(const size_t *)((const char *)object + own->count_offset);
	if (own->kind == FIELD_SLOTS)
		return flatten_list(flattener, field->type, member, count, true, list);
	return flatten_list(flattener, field->type, items, count, own->kind == FIELD_POINTERS,
			    list);
}

/* --- structures --- */

static int flatten_structs(const struct flattener *flattener, const struct layout_field *field,
			   const char *from, uint64_t *values, struct tree_list *lists)
{
	const struct layout_type *inner = &flattener->layout->types[field->type];
	int ret = 0;

	for (uint32_t i = 0; i < field->count && !ret; i++)
		ret = flatten_into(flattener, field->type, from + i * inner->own->size,
				   values + (size_t)i * inner->values,
				   lists + (size_t)i * inner->lists);
	return ret;
}

static int flatten_into(const struct flattener *flattener, uint32_t type_index, const void *object,
			uint64_t *values, struct tree_list *lists)
{
	const struct layout_type *type = &flattener->layout->types[type_index];
	int ret = 0;

	for (uint32_t i = 0; i < type->field_count && !ret; i++) {
		const struct layout_field *field = &type->fields[i];
		const char *from = (const char *)object + field->own->offset;

		if (field->class == LAYOUT_STRUCTS)
			ret = flatten_structs(flattener, field, from, values + field->value_at,
					      lists + field->list_at);
		else if (field->class == LAYOUT_LIST)
			ret = flatten_lists(flattener, field, object, lists + field->list_at);
		else
			flatten_values(flattener, field->own, from, values + field->value_at);
	}
	return ret;
}

int flatten(const struct layout *layout, const void *object, struct names_writer *names,
	    struct flatten_cache *cache, struct arena *memory, struct tree_list *list)
{
	const struct flattener flattener = {
		.layout = layout, .names = names, .memory = memory, .cache = cache};

	return flatten_list(&flattener, layout->count - 1, object, 1, false, list);
}
