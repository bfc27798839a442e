/* SPDX-License-Identifier: BSD-2-Clause */
/* A copy of a named stack with its texts, because stack/ may drop the original. */
#ifndef HOST_KEPT_STACK_H
#define HOST_KEPT_STACK_H

#include "stack/stack.h"

#define KEPT_FRAMES 128		    /* the innermost ones of each stack */
#define KEPT_TEXT_BYTES (16u << 10) /* per stack; the frame that reaches the limit is the last */

/* The memory that the copy takes, in bytes. */
size_t kept_stack__bytes(const struct stack *stack);

/* Returns one block of memory, released with free(). NULL if out of memory. */
struct stack *kept_stack__new(const struct stack *stack);

#endif
