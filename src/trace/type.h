/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a C type of the API table means for printing an argument: how to read its value, and what to
 * read through it if it is a pointer.
 *
 * A pointer to const is read through at entry: a string, a structure of layout.h or
 * copy_descriptor.h, a UUID. A pointer to non-const is read through at return: a number, an
 * enumeration, a handle, a pointer, a string, a structure of layout.h. For everything else (void *,
 * arrays recognised by their const, unknown structures) the address is printed. functions.tsv lists
 * the arguments for which this rule is wrong (address=, given=).
 */
#ifndef TRACE_TYPE_H
#define TRACE_TYPE_H

#include "api/api.h"
#include "trace/copy_descriptor.h"
#include "trace/layout.h"
#include "trace/line.h"

/* The result of a step of decoding, besides the plain forms of a value. */
enum type_sort {
	SORT_VALUE = 0, /* .form and .size */
	SORT_WORD,	/* an int with names: .values */
	SORT_RESULT,	/* an error code of .layer */
	SORT_STRUCTURE, /* .layout */
	SORT_BOX,	/* .box */
	SORT_UNKNOWN,	/* void, and structures whose members are not printed */
};

/* The type of the value itself or, for a pointer, of its target. */
struct trace_type {
	uint8_t sort; /* enum type_sort */
	uint8_t form; /* enum trace_form: UNSIGNED, SIGNED, ADDRESS, REAL, DIM3, BYTES or TEXT */
	uint8_t size; /* bytes; 0 if unknown */
	uint8_t layer;
	const struct api_value *values;
	size_t value_count;
	const struct trace_layout *layout;
	const struct copy_layout *box;
};

enum type_reading {
	READING_NONE = 0, /* by value: nothing to read through it */
	READING_ADDRESS,  /* a pointer that is not read through */
	READING_AT_ENTRY, /* its target is described by trace_type */
	READING_AT_RETURN,
	READING_TEXT_BEHIND, /* at return: the call writes a pointer to a string there */
};

/* How to read an argument of this type that is passed like this. */
enum type_reading trace_type__of(const char *type, enum api_passing passing,
				 struct trace_type *out);

/* Names of cudaMemcpyKind as in reports: "H2D". NULL for another value. */
const char *trace_type__copy_kind(int64_t kind);

#endif
