/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of a trace's stacks as text, cached because a program makes calls from few places. */
#ifndef OUTPUT_TRACE_STACKS_H
#define OUTPUT_TRACE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "stack/stack.h"

#define TRACE_STACKS 256

/* The calling frames, without the first one, which is the called function. */
struct trace_stack_text {
	uint64_t serial;
	uint32_t count;
	size_t bytes;
	/*
	 * `count` unescaped texts in the form of frame_text.h, each with its NUL; NULL: an empty
	 * entry
	 */
	char *frames;
};

struct trace_stacks {
	struct trace_stack_text at[TRACE_STACKS];
};

/*
 * Returns the text of a stack, valid until the next call. NULL for NULL and without memory. All
 * stacks must belong to one `struct stacks`.
 */
const struct trace_stack_text *trace_stacks__text(struct trace_stacks *stacks,
						  const struct stack *stack);

/* Frees the contents of `stacks`, which must be zeroed before first use. */
void trace_stacks__clear(struct trace_stacks *stacks);

#endif
