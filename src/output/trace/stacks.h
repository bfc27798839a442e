/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames of a trace's stacks as text, kept from line to line: a program calls from few places. */
#ifndef OUTPUT_TRACE_STACKS_H
#define OUTPUT_TRACE_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "stack/stack.h"

#define TRACE_STACKS 256

/* The frames that the call came from: without the first, which is the function called. */
struct trace_stack_text {
	uint64_t serial;
	uint32_t count;
	size_t bytes;
	char *frames; /* `count` texts as frame_text.h has them, not escaped, each with its NUL; NULL: an empty place */
};

struct trace_stacks {
	struct trace_stack_text at[TRACE_STACKS];
};

/* Valid until the next call. NULL for NULL and without memory. All stacks are those of one `struct stacks`. */
const struct trace_stack_text *trace_stacks__text(struct trace_stacks *stacks, const struct stack *stack);

/* Frees what `stacks`, zero at first, holds. */
void trace_stacks__clear(struct trace_stacks *stacks);

#endif
