// SPDX-License-Identifier: BSD-2-Clause
// Texts of stacks, see stacks.h.
#include "output/trace/stacks.h"

#include <stdlib.h>

#include "base/text_stream.h"
#include "output/frame_text.h"

static int write_frames(const struct stack *stack, struct trace_stack_text *text)
{
	FILE *out = text_stream__open(&text->frames, &text->bytes);
	int failed;

	if (!out)
		return -1;
	for (uint32_t i = 1; i < stack->count; i++) {
		frame_text__print_as_is(out, &stack->frames[i]);
		fputc('\0', out);
	}
	failed = ferror(out);
	return fclose(out) || failed ? -1 : 0;
}

const struct trace_stack_text *trace_stacks__text(struct trace_stacks *stacks,
						  const struct stack *stack)
{
	struct trace_stack_text *text;

	if (!stack)
		return NULL;
	text = &stacks->at[stack->serial % TRACE_STACKS];
	if (text->frames && text->serial == stack->serial)
		return text;
	free(text->frames);
	*text = (struct trace_stack_text){.serial = stack->serial,
					  .count = stack->count ? stack->count - 1 : 0};
	if (!write_frames(stack, text))
		return text;
	free(text->frames);
	text->frames = NULL;
	return NULL;
}

void trace_stacks__clear(struct trace_stacks *stacks)
{
	for (size_t i = 0; i < TRACE_STACKS; i++)
		free(stacks->at[i].frames);
}
