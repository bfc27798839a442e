/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name of an argument in a line and the column in which it is shown: by its role, or by its own
 * name and type.
 */
#ifndef TRACE_LABEL_H
#define TRACE_LABEL_H

#include "trace/type.h"

struct trace_label {
	const char *name;
	uint8_t role; /* enum trace_role */
};

struct trace_label trace_label__of(const struct api_function *row,
				   const struct api_argument *argument, enum type_reading reading);

/* The argument word with this role, or TRACE_NO_WORD. */
uint8_t trace_label__word_of(const struct api_function *row, enum role role);

/* Whether this argument has the role; an argument in an xmm register has none. */
bool trace_label__has_role(const struct api_function *row, const struct api_argument *argument,
			   enum role role);

/* Whether a number with that name is a set of flags. */
bool trace_label__is_flags(const char *name);

#endif
