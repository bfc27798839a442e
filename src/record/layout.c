// SPDX-License-Identifier: BSD-2-Clause
// How a reading is laid out as numbers, see layout.h.
#include "record/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Limits of a file's layout; gpuprobe's own has 90 types of up to 120 fields and 2,600 values. */
#define TYPES_MAX 1024u
#define FIELDS_MAX 1024u
#define VALUES_MAX 65536u
#define NAME_MAX_BYTES 128u

static enum layout_class class_of(enum field_kind kind)
{
	switch (kind) {
	case FIELD_DOUBLE: return LAYOUT_DOUBLE;
	case FIELD_WIDE: return LAYOUT_WIDE;
	case FIELD_TEXT:
	case FIELD_STRING: return LAYOUT_NAME;
	case FIELD_STACK: return LAYOUT_STACK;
	case FIELD_ROW: return LAYOUT_ROW;
	case FIELD_STRUCTS: return LAYOUT_STRUCTS;
	case FIELD_LIST:
	case FIELD_POINTERS:
	case FIELD_SLOTS:
	case FIELD_POINTER:
	case FIELD_MADE: return LAYOUT_LIST;
	default: return LAYOUT_NUMBER;
	}
}

/* Gives a field its places behind the others. -EINVAL: there would be too many values. */
static int place(const struct layout *layout, struct layout_type *type, struct layout_field *field)
{
	uint64_t values = field->count, lists = 0;

	if (field->class == LAYOUT_WIDE) {
		values *= 2;
	} else if (field->class == LAYOUT_STRUCTS) {
		values *= layout->types[field->type].values;
		lists = (uint64_t)field->count * layout->types[field->type].lists;
	} else if (field->class == LAYOUT_LIST) {
		values = 0;
		lists = 1;
	}
	if (values + type->values > VALUES_MAX || lists + type->lists > VALUES_MAX)
		return -EINVAL;
	field->value_at = type->values;
	field->list_at = type->lists;
	type->values += (uint32_t)values;
	type->lists += (uint32_t)lists;
	return 0;
}

/* What the type's lists have, once all fields have their places. */
static int find_list_types(struct layout *layout, struct layout_type *type)
{
	type->list_types = arena__take(&layout->memory, type->lists, sizeof(*type->list_types));
	if (!type->list_types)
		return -ENOMEM;
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct layout_field *field = &type->fields[i];
		const struct layout_type *inner = &layout->types[field->type];
		uint32_t *to = type->list_types + field->list_at;

		if (field->class == LAYOUT_LIST)
			*to = field->type;
		if (field->class != LAYOUT_STRUCTS || !inner->lists)
			continue;
		for (uint32_t j = 0; j < field->count; j++, to += inner->lists)
			memcpy(to, inner->list_types, inner->lists * sizeof(*to));
	}
	return 0;
}

/* --- gpuprobe's own --- */

static int add_own(struct layout *layout, const struct recorded_type *own, uint32_t *index);

static int add_own_field(struct layout *layout, struct layout_type *type,
			 const struct recorded_field *own)
{
	struct layout_field *field = &type->fields[type->field_count++];
	int ret;

	*field = (struct layout_field){
		.name = own->name,
		.class = class_of(own->kind),
		.count = own->kind == FIELD_SLOTS ? 1 : own->count,
		.own = own,
	};
	ret = own->type ? add_own(layout, own->type, &field->type) : 0;
	return ret ? ret : place(layout, type, field);
}

static int add_own(struct layout *layout, const struct recorded_type *own, uint32_t *index)
{
	struct layout_type type = {.name = own->name, .own = own};
	int ret = 0;

	for (*index = 0; *index < layout->count; ++*index)
		if (layout->types[*index].own == own)
			return 0;
	type.fields = arena__take(&layout->memory, own->field_count, sizeof(*type.fields));
	if (!type.fields)
		return -ENOMEM;
	for (size_t i = 0; i < own->field_count && !ret; i++) {
		if (i == own->keys)
			type.keys = type.values;
		if (own->fields[i].kind != FIELD_SKIPPED)
			ret = add_own_field(layout, &type, &own->fields[i]);
	}
	if (!ret)
		ret = find_list_types(layout, &type);
	*index = layout->count;
	if (!ret)
		layout->types[layout->count++] = type;
	return ret;
}

int layout__of(const struct recorded_type *root, struct layout *layout)
{
	uint32_t index;

	*layout = (struct layout){0};
	layout->types = arena__take(&layout->memory, TYPES_MAX, sizeof(*layout->types));
	if (!layout->types)
		return -ENOMEM;
	return add_own(layout, root, &index);
}

void layout__clear(struct layout *layout)
{
	arena__clear(&layout->memory);
	*layout = (struct layout){0};
}

/* --- in a file --- */

void layout__write(const struct layout *layout, struct bytes *out)
{
	bytes__number(out, layout->count);
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct layout_type *type = &layout->types[i];

		bytes__text(out, type->name);
		bytes__number(out, type->keys);
		bytes__number(out, type->field_count);
		for (uint32_t j = 0; j < type->field_count; j++) {
			const struct layout_field *field = &type->fields[j];

			bytes__text(out, field->name);
			bytes__number(out, field->class);
			bytes__number(out, field->count);
			if (field->class >= LAYOUT_STRUCTS)
				bytes__number(out, field->type);
		}
	}
}

static char *read_text(struct layout *layout, struct varint_reader *in)
{
	uint64_t length = varint__take(in) - 1; /* as bytes__text writes it */
	const uint8_t *bytes = length < NAME_MAX_BYTES ? varint__take_bytes(in, length) : NULL;
	char *text = bytes ? arena__take(&layout->memory, length + 1, 1) : NULL;

	if (text)
		memcpy(text, bytes, length);
	return text;
}

static int read_field(struct layout *layout, struct layout_type *type, struct varint_reader *in)
{
	struct layout_field *field = &type->fields[type->field_count++];
	uint64_t class, count, inner = 0;

	field->name = read_text(layout, in);
	class = varint__take(in);
	count = varint__take(in);
	if (class == LAYOUT_STRUCTS || class == LAYOUT_LIST)
		inner = varint__take(in);
	/* Only types that are complete: so none contains itself. */
	if (!field->name || in->failed || class >= LAYOUT_CLASSES || count > VALUES_MAX ||
	    (class >= LAYOUT_STRUCTS && inner >= layout->count))
		return -EINVAL;
	field->class = (enum layout_class) class;
	field->count = (uint32_t)count;
	field->type = (uint32_t)inner;
	return place(layout, type, field);
}

static int read_type(struct layout *layout, struct varint_reader *in)
{
	struct layout_type type = {.name = read_text(layout, in)};
	uint64_t keys = varint__take(in), fields = varint__take(in);
	int ret = 0;

	if (!type.name || in->failed || fields > FIELDS_MAX)
		return -EINVAL;
	type.fields = arena__take(&layout->memory, fields, sizeof(*type.fields));
	if (!type.fields)
		return -ENOMEM;
	while (!ret && type.field_count < fields)
		ret = read_field(layout, &type, in);
	if (!ret && keys > type.values)
		ret = -EINVAL;
	type.keys = (uint32_t)keys;
	if (!ret)
		ret = find_list_types(layout, &type);
	if (!ret)
		layout->types[layout->count++] = type;
	return ret;
}

int layout__read(struct layout *layout, struct varint_reader *in)
{
	uint64_t count = varint__take(in);
	int ret = 0;

	*layout = (struct layout){.memory.limit = 64u << 20};
	if (!count || count > TYPES_MAX)
		return -EINVAL;
	layout->types = arena__take(&layout->memory, count, sizeof(*layout->types));
	if (!layout->types)
		return -ENOMEM;
	while (!ret && layout->count < count)
		ret = read_type(layout, in);
	return ret;
}

uint32_t layout_type__find(const struct layout_type *type, const struct layout_field *field)
{
	for (uint32_t i = 0; i < type->field_count; i++)
		if (type->fields[i].class == field->class &&
		    !strcmp(type->fields[i].name, field->name))
			return i;
	return LAYOUT_NONE;
}
