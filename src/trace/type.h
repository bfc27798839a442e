/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a C type of the API table means for showing an argument of it: how its
 * value reads, and what is read through it where it is a pointer.
 *
 * A pointer is read through at entry where it points to const: a string, a
 * structure of layout.h or box.h, a UUID. It is read through at return where
 * it does not point to const: a number, an enumeration, a handle, a pointer, a
 * string, a structure of layout.h. Of everything else (void *, arrays by their
 * const, structures that are not known) the address is shown. Where this rule
 * is wrong for an argument, functions.tsv says so (address=, given=).
 */
#ifndef TRACE_TYPE_H
#define TRACE_TYPE_H

#include "api/api.h"
#include "trace/copy_descriptor.h"
#include "trace/layout.h"
#include "trace/line.h"

/* What a step of decoding yields, besides the plain forms of a value. */
enum type_sort {
	SORT_VALUE = 0, /* .form and .size */
	SORT_WORD,	/* an int with names: .values */
	SORT_RESULT,	/* an error code of .layer */
	SORT_STRUCTURE, /* .layout */
	SORT_BOX,	/* .box */
	SORT_UNKNOWN,	/* void, and structures of which nothing is shown */
};

/* The value itself, or with a pointer what is behind it. */
struct trace_type {
	uint8_t sort; /* enum type_sort */
	uint8_t form; /* enum trace_form: UNSIGNED, SIGNED, ADDRESS, REAL, DIM3, BYTES or TEXT (char) */
	uint8_t size; /* bytes; 0 where it is not known */
	uint8_t layer;
	const struct api_value *values;
	size_t value_count;
	const struct trace_layout *layout;
	const struct copy_layout *box;
};

enum type_reading {
	READING_NONE = 0, /* by value: nothing is read through it */
	READING_ADDRESS,  /* a pointer that is not read through */
	READING_AT_ENTRY, /* what it points to is as trace_type says */
	READING_AT_RETURN,
	READING_TEXT_BEHIND, /* at return: a pointer to a string is written there */
};

/* What an argument of this type, passed so, means. */
enum type_reading trace_type__of(const char *type, enum api_passing passing, struct trace_type *out);

/* Names of cudaMemcpyKind, as reports have them: "H2D". NULL for another value. */
const char *trace_type__copy_kind(int64_t kind);

#endif
