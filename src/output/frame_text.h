/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stack frames as text:
 *
 *   grow_cache(Cache&, unsigned long)+0x41 [server] cache.cc:88
 *   malloc+0x1b [libc.so.6]              without a known line
 *   server+0x1234                        without a known function
 *   0x7f0012345678                       outside any file
 *   forward (model.py:123)               a Python frame
 *
 * All output is escaped unless a function says otherwise.
 */
#ifndef OUTPUT_FRAME_TEXT_H
#define OUTPUT_FRAME_TEXT_H

#include <stdio.h>

#include "stack/stack.h"

/* Without a newline. */
void frame_text__print(FILE *out, const struct stack_frame *frame);

/* The same without escaping: for callers that escape the whole text. */
void frame_text__print_as_is(FILE *out, const struct stack_frame *frame);

/*
 * Prints one frame a line, innermost first, each after `indent` blanks. NULL prints "[stack not
 * known]".
 */
void frame_text__print_stack(FILE *out, const struct stack *stack, int indent);

/* The frame's label in a flame graph: without the offset; a Python frame with file and line. */
void frame_text__print_label(FILE *out, const struct stack_frame *frame);

/* The last component of a path, or the whole text if it is not a path. */
const char *frame_text__base_name(const char *path);

#endif
