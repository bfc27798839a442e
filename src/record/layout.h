/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a reading is laid out as numbers: each structure has a fixed number of 64-bit values and of
 * lists of other structures. gpuprobe's own layout comes from the tables of record/fields.h; that
 * of a recording is in the file.
 */
#ifndef RECORD_LAYOUT_H
#define RECORD_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/arena.h"
#include "record/bytes.h"
#include "record/fields.h"
#include "record/varint.h"

#define LAYOUT_NONE UINT32_MAX

/* What a field's values mean. The numbers are in files. */
enum layout_class {
	LAYOUT_NUMBER = 0,
	LAYOUT_DOUBLE, /* its bits */
	LAYOUT_WIDE,   /* two values: the lower half first */
	LAYOUT_NAME,   /* a text's number in record/names.h; 0: none */
	LAYOUT_STACK,  /* a stack's number there; 0: none */
	LAYOUT_ROW,    /* the number of the text with the function's symbol */
	LAYOUT_STRUCTS,
	LAYOUT_LIST,
	LAYOUT_CLASSES,
};

struct layout_field {
	const char *name;
	enum layout_class class;
	uint32_t count; /* values or structures */
	uint32_t type;	/* index of the structures' type */
	uint32_t value_at, list_at;
	const struct recorded_field *own; /* NULL in a file's layout */
};

struct layout_type {
	const char *name;
	struct layout_field *fields;
	uint32_t field_count;
	uint32_t values, lists; /* of one structure */
	uint32_t keys;		/* the first values, which find a structure in the reading before */
	uint32_t *list_types;	/* by list */
	const struct recorded_type *own;
};

/* A type comes after those that it contains or lists. The last one is that of a reading. */
struct layout {
	struct layout_type *types;
	uint32_t count;
	bool has_runs; /* lists of this layout have runs, see record/tree.h */
	struct arena memory;
};

/* gpuprobe's own. Returns 0 or -ENOMEM. */
int layout__of(const struct recorded_type *root, struct layout *layout);

void layout__write(const struct layout *layout, struct bytes *out);

/* Returns 0, -ENOMEM, or -EINVAL for a malformed one. */
int layout__read(struct layout *layout, struct varint_reader *in);

void layout__clear(struct layout *layout);

/* The index of the field in the file's type with the name and the class; LAYOUT_NONE: none. */
uint32_t layout_type__find(const struct layout_type *type, const struct layout_field *field);

#endif
