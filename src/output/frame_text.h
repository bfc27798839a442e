/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames of stacks as text:
 *
 *   grow_cache(Cache&, unsigned long)+0x41 [server] cache.cc:88
 *   malloc+0x1b [libc.so.6]              where no line is known
 *   server+0x1234                        where no function is
 *   0x7f0012345678                       in no file
 *   forward (model.py:123)               Python's
 *
 * Everything is escaped, where nothing else is said.
 */
#ifndef OUTPUT_FRAME_TEXT_H
#define OUTPUT_FRAME_TEXT_H

#include <stdio.h>

#include "stack/stack.h"

/* Without a newline. */
void frame_text__print(FILE *out, const struct stack_frame *frame);

/* The same, not escaped: for who escapes the whole. */
void frame_text__print_as_is(FILE *out, const struct stack_frame *frame);

/* One frame a line, innermost first, each after `indent` blanks. NULL: "[stack not known]". */
void frame_text__print_stack(FILE *out, const struct stack *stack, int indent);

/* What a flame graph calls it: without the offset; of Python with file and line. */
void frame_text__print_label(FILE *out, const struct stack_frame *frame);

/* The end of a path; all of a text that is none. */
const char *frame_text__base_name(const char *path);

#endif
