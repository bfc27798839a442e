/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value of a call's argument as text and as JSON. Functions write to `at` as those of
 * output/trace/text.h do.
 */
#ifndef OUTPUT_TRACE_FIELD_H
#define OUTPUT_TRACE_FIELD_H

#include "trace/line.h"

/* Limit for showing an argument's name, which is ours and shorter, and the names of constants. */
#define TRACE_WORD_SIZE 64

/* `doubled`: see trace_text__escaped. */
char *trace_field__text(const struct trace_field *field, bool doubled, char *at);
char *trace_field__json(const struct trace_field *field, char *at);

/* Room for everything that a line shows of its fields, in any format. */
size_t trace_field__room(const struct trace_line *line);

#endif
