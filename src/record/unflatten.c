// SPDX-License-Identifier: BSD-2-Clause
// Makes structures of the model from the numbers of a recording, see flatten.h.
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "record/flatten.h"

struct unflatten_maps {
	const struct layout *own, *file;
	/* by own type and file's type: for each own field the file's, or LAYOUT_NONE */
	uint32_t **fields;
};

struct unflattener {
	struct unflatten_maps *maps;
	const struct names_reader *names;
	struct arena *memory;
	uint64_t left_out;
	bool unknown; /* in the innermost structure, or a structure in it */
};

static int unflatten_into(struct unflattener *unflattener, uint32_t own, uint32_t file,
			  const uint64_t *values, const struct tree_list *lists, void *object);

/* --- which fields correspond --- */

struct unflatten_maps *unflatten_maps__new(const struct layout *own, const struct layout *file)
{
	struct unflatten_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return NULL;
	*maps = (struct unflatten_maps){.own = own, .file = file};
	maps->fields = calloc((size_t)own->count * file->count, sizeof(*maps->fields));
	if (maps->fields)
		return maps;
	free(maps);
	return NULL;
}

void unflatten_maps__free(struct unflatten_maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < (size_t)maps->own->count * maps->file->count; i++)
		free(maps->fields[i]);
	free(maps->fields);
	free(maps);
}

static const uint32_t *fields_of(struct unflatten_maps *maps, uint32_t own, uint32_t file)
{
	uint32_t **made = &maps->fields[(size_t)own * maps->file->count + file], *fields = *made;
	const struct layout_type *type = &maps->own->types[own];

	if (fields)
		return fields;
	fields = calloc(type->field_count + 1, sizeof(*fields));
	for (uint32_t i = 0; fields && i < type->field_count; i++)
		fields[i] = layout_type__find(&maps->file->types[file], &type->fields[i]);
	*made = fields;
	return fields;
}

/* --- values --- */

static void store(void *to, uint32_t size, uint64_t value)
{
	switch (size) {
	case 1: *(uint8_t *)to = (uint8_t)value; break;
	case 2: *(uint16_t *)to = (uint16_t)value; break;
	case 4: *(uint32_t *)to = (uint32_t)value; break;
	default: *(uint64_t *)to = value; break;
	}
}

/* The row of a function as flatten_row writes it; UINT64_MAX: this gpuprobe does not know it. */
static uint64_t row_of(const char *text)
{
	const char *at = text ? strchr(text, '@') : NULL;
	char symbol[128];
	int row;

	if (!text || *text == '#')
		return UINT64_MAX;
	if (!at) {
		row = api__find(text, API_NEWEST);
		return row < 0 ? UINT64_MAX : (uint64_t)row;
	}
	if ((size_t)(at - text) >= sizeof(symbol))
		return UINT64_MAX;
	memcpy(symbol, text, (size_t)(at - text));
	symbol[at - text] = 0;
	row = api__find(symbol, (int)strtoul(at + 1, NULL, 10));
	return row < 0 ? UINT64_MAX : (uint64_t)row;
}

static void unflatten_row(struct unflattener *unflattener, const struct recorded_field *field,
			  uint64_t value, void *to)
{
	uint64_t row = row_of(names_reader__text(unflattener->names, value));

	if (row == UINT64_MAX)
		unflattener->unknown = true;
	else
		store(to, field->size, row);
}

static void unflatten_string(struct unflattener *unflattener, const struct recorded_field *field,
			     uint64_t value, const char **to)
{
	*to = names_reader__text(unflattener->names, value);
	if (!*to && field->needed)
		*to = "";
}

static void unflatten_text(struct unflattener *unflattener, const struct recorded_field *field,
			   uint64_t value, char *to)
{
	const char *text = names_reader__text(unflattener->names, value);

	if (text)
		memcpy(to, text, strnlen(text, field->size - 1));
}

static void unflatten_values(struct unflattener *unflattener, const struct recorded_field *field,
			     const uint64_t *values, uint32_t count, char *to)
{
	switch (field->kind) {
	case FIELD_TEXT: unflatten_text(unflattener, field, *values, to); return;
	case FIELD_STRING: unflatten_string(unflattener, field, *values, (const char **)to); return;
	case FIELD_STACK:
		*(const struct stack **)to = names_reader__stack(unflattener->names, *values);
		return;
	case FIELD_ROW: unflatten_row(unflattener, field, *values, to); return;
	case FIELD_WIDE: memcpy(to, values, sizeof(__int128)); return;
	default: break;
	}
	for (uint32_t i = 0; i < count && i < field->count; i++, to += field->size) {
		if (field->limit && values[i] >= field->limit)
			unflattener->unknown = true;
		else
			store(to, field->size, values[i]);
	}
}

/* --- lists --- */

/* Into `items`, `size` bytes each, without the unknown ones. Returns their number or -ENOMEM. */
static int64_t unflatten_items(struct unflattener *unflattener, const struct layout_field *field,
			       uint32_t file, const struct tree_list *list, char *items)
{
	const struct layout_type *own = &unflattener->maps->own->types[field->type],
				 *other = &unflattener->maps->file->types[file];
	bool outer = unflattener->unknown;
	int64_t count = 0;
	int ret = 0;

	for (uint32_t i = 0; i < list->count && !ret; i++) {
		void *item = items + (size_t)count * own->own->size;

		unflattener->unknown = false;
		ret = unflatten_into(unflattener, field->type, file,
				     list->values + (size_t)i * other->values,
				     list->lists + (size_t)i * other->lists, item);
		if (unflattener->unknown) {
			memset(item, 0, own->own->size);
			unflattener->left_out++;
		} else {
			count++;
		}
	}
	unflattener->unknown = outer;
	return ret ? ret : count;
}

static int unflatten_list(struct unflattener *unflattener, const struct layout_field *field,
			  uint32_t file, const struct tree_list *list, void *object)
{
	const struct recorded_field *own = field->own;
	size_t size = own->type->size;
	bool pointers = own->kind == FIELD_POINTERS || own->kind == FIELD_SLOTS;
	void *member = (char *)object + own->offset;
	char *items;
	int64_t count;

	/* Lists are NULL where there is nothing, as they often are in the live model. */
	if (!list->count)
		return 0;
	items = arena__take(unflattener->memory, list->count, size);
	if (!items)
		return -ENOMEM;
	count = unflatten_items(unflattener, field, file, list, items);
	if (count <= 0)
		return (int)count;
	if (own->kind == FIELD_SLOTS && count > own->count)
		count = own->count;
	if (own->kind == FIELD_POINTERS)
		*(void **)member = arena__take(unflattener->memory, (size_t)count, sizeof(void *));
	if (own->kind == FIELD_POINTERS && !*(void **)member)
		return -ENOMEM;
	if (own->kind == FIELD_POINTERS)
		member = *(void **)member;
	for (int64_t i = 0; pointers && i < count; i++)
		((void **)member)[i] = items + (size_t)i * size;
	if (!pointers)
		*(void **)member = items;
	if (own->kind != FIELD_POINTER)
		*(size_t *)((char *)object + own->count_offset) = (size_t)count;
	return 0;
}

/* --- structures --- */

/* A structure in an array keeps its place: an unknown one is all zero. */
static int unflatten_structs(struct unflattener *unflattener, const struct layout_field *field,
			     const struct layout_field *from, const uint64_t *values,
			     const struct tree_list *lists, char *to)
{
	const struct layout_type *inner = &unflattener->maps->file->types[from->type];
	size_t size = field->own->type->size;
	bool outer = unflattener->unknown, only = field->count == 1;
	int ret = 0;

	for (uint32_t i = 0; i < field->count && i < from->count && !ret; i++, to += size) {
		unflattener->unknown = false;
		ret = unflatten_into(unflattener, field->type, from->type,
				     values + (size_t)i * inner->values,
				     lists + (size_t)i * inner->lists, to);
		/* A single one is a part of the structure around it. */
		outer = outer || (only && unflattener->unknown);
		if (unflattener->unknown && !only) {
			memset(to, 0, size);
			unflattener->left_out++;
		}
	}
	unflattener->unknown = outer;
	return ret;
}

static int unflatten_into(struct unflattener *unflattener, uint32_t own_index, uint32_t file_index,
			  const uint64_t *values, const struct tree_list *lists, void *object)
{
	const struct layout_type *own = &unflattener->maps->own->types[own_index],
				 *file = &unflattener->maps->file->types[file_index];
	const uint32_t *fields = fields_of(unflattener->maps, own_index, file_index);
	int ret = fields ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < own->field_count && !ret; i++) {
		const struct layout_field *field = &own->fields[i], *from;
		char *to = (char *)object + field->own->offset;

		if (fields[i] == LAYOUT_NONE)
			continue;
		from = &file->fields[fields[i]];
		if (field->class == LAYOUT_STRUCTS)
			ret = unflatten_structs(unflattener, field, from, values + from->value_at,
						lists + from->list_at, to);
		else if (field->class == LAYOUT_LIST)
			ret = unflatten_list(unflattener, field, from->type, &lists[from->list_at],
					     object);
		else if (from->count)
			unflatten_values(unflattener, field->own, values + from->value_at,
					 from->count, to);
	}
	return ret;
}

int unflatten(struct unflatten_maps *maps, const struct tree_list *list,
	      const struct names_reader *names, struct arena *memory, void **object,
	      uint64_t *left_out)
{
	struct unflattener unflattener = {.maps = maps, .names = names, .memory = memory};
	const struct layout_type *own = &maps->own->types[maps->own->count - 1];
	int ret;

	if (list->count != 1)
		return -EINVAL;
	*object = arena__take(memory, 1, own->own->size);
	if (!*object)
		return -ENOMEM;
	ret = unflatten_into(&unflattener, maps->own->count - 1, maps->file->count - 1,
			     list->values, list->lists, *object);
	*left_out = unflattener.left_out + unflattener.unknown;
	return ret;
}
