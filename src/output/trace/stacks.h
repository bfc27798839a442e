/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of a trace's stacks as text, cached because a program has few call sites. */
#ifndef OUTPUT_TRACE_STACKS_H
#define OUTPUT_TRACE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stack/stack.h"

#define TRACE_STACKS 256

/* The calling frames, without the first one, which is the called function; a line each. */
struct trace_stack_text {
	uint64_t serial;
	uint32_t count;
	size_t bytes;
	/* `count` texts, each with its NUL; NULL: an empty entry */
	char *lines;
};

struct trace_stacks {
	/*
	 * Lines are escaped and in the form of folded_stack.h. Otherwise they are unescaped frames
	 * in the form of frame_text.h.
	 */
	bool folded;
	struct trace_stack_text at[TRACE_STACKS];
};

/*
 * Returns the text of a stack, valid until the next call. NULL for NULL and without memory. All
 * stacks must belong to one `struct stacks`.
 */
const struct trace_stack_text *trace_stacks__text(struct trace_stacks *stacks,
						  const struct stack *stack);

/* Frees the contents of `stacks`, which, except for `folded`, must be zeroed before first use. */
void trace_stacks__clear(struct trace_stacks *stacks);

#endif
