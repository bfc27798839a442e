/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user's own line in a stack: the innermost Python frame of a file that is neither installed (site-packages,
 * dist-packages) nor Python's own; where no Python runs, the innermost frame of the program itself, or else of a library
 * that is neither the system's nor one of CUDA or PyTorch. Where there is none such, the innermost frame that has a name.
 */
#ifndef MODEL_USER_LINE_H
#define MODEL_USER_LINE_H

#include "model/stack.h"

/* Which of stack->frames, whose count is returned where no frame has a name. `program`: base name of the executable, or NULL. */
uint32_t user_line__find(const struct stack *stack, const char *program);

/* The next of the user's own lines further out than frame `i`, or stack->count: of a native one those of the same file. */
uint32_t user_line__caller(const struct stack *stack, uint32_t i);

#endif
