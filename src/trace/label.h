/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an argument of a row of the API table is called in a line, and in which
 * column it is shown: by its role, or by its own name and type.
 */
#ifndef TRACE_LABEL_H
#define TRACE_LABEL_H

#include "trace/type.h"

struct trace_label {
	const char *name;
	uint8_t role; /* enum trace_role */
};

struct trace_label trace_label__of(const struct api_function *row, const struct api_argument *argument,
				   enum type_reading reading);

/* The argument word that has the role, or TRACE_NO_WORD. */
uint8_t trace_label__word_of(const struct api_function *row, enum role role);

/* Whether it is this argument that has the role; one in an xmm register has none. */
bool trace_label__has_role(const struct api_function *row, const struct api_argument *argument,
			   enum role role);

/* Whether a number of that name is a set of bits. */
bool trace_label__is_flags(const char *name);

#endif
