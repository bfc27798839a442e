/* SPDX-License-Identifier: BSD-2-Clause */
/* A copy of a named stack, with its texts: what stack/ keeps may leave. */
#ifndef HOST_KEPT_STACK_H
#define HOST_KEPT_STACK_H

#include "stack/stack.h"

#define KEPT_FRAMES 128		    /* of each stack, the innermost */
#define KEPT_TEXT_BYTES (16u << 10) /* of their texts; no frame is kept behind the one with which it is reached */

/* How much memory the copy takes. */
size_t kept_stack__bytes(const struct stack *stack);

/* One block of memory: free() releases it. NULL without memory. */
struct stack *kept_stack__new(const struct stack *stack);

#endif
