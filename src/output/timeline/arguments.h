/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arguments of a timeline's calls and marks, in their order. All formats write the same ones;
 * each has its own way to write one.
 */
#ifndef OUTPUT_TIMELINE_ARGUMENTS_H
#define OUTPUT_TIMELINE_ARGUMENTS_H

#include "output/timeline/form.h"

struct trace_field; /* trace/line.h */

/* How a format writes one argument. `to` is its own. Texts are not NULL and may be hostile. */
struct argument_writer {
	void (*number)(void *to, const char *name, uint64_t value);
	void (*text)(void *to, const char *name, const char *text);
	void (*field)(void *to, const struct trace_field *field);
};

/*
 * The arguments of a call, or of the part that it is: what it was called with belongs to its
 * beginning, its result to its end.
 */
void timeline_call__write(const struct timeline_call *call, const struct argument_writer *writer,
			  void *to);

/* Bytes that the span's texts take at most, in either form. */
size_t timeline_span__room(const struct timeline_span *span);

void timeline_span__write(const struct timeline_span *span, const struct argument_writer *writer,
			  void *to);

/* Bytes that the mark's texts take at most, in either form. */
size_t timeline_mark__room(const struct timeline_mark *mark);

void timeline_mark__write(const struct timeline_mark *mark, const struct argument_writer *writer,
			  void *to);

#endif
