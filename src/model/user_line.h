/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user's own line in a stack: the innermost Python frame of a file that is neither installed
 * (site-packages, dist-packages) nor part of Python. Without one, it is the innermost frame of the
 * program itself, not of a shared library or the interpreter.
 */
#ifndef MODEL_USER_LINE_H
#define MODEL_USER_LINE_H

#include "stack/stack.h"

/*
 * Whether a Python file is installed, part of Python, or not a file: "<frozen importlib>", code
 * that was compiled from a string, or that torch.compile generated.
 */
bool user_line__is_installed(const char *file);

bool user_line__is_own(const struct stack_frame *frame);

/* NULL: the stack has none, or is NULL. */
const struct stack_frame *user_line__find(const struct stack *stack);

#endif
