// SPDX-License-Identifier: BSD-2-Clause
// Texts of stacks, see stacks.h.
#include "output/trace/stacks.h"

#include <stdlib.h>

#include "base/text_stream.h"
#include "output/clip.h"
#include "output/folded_stack.h"
#include "output/frame_text.h"

static void print_frames(FILE *out, const struct stack *stack, struct trace_stack_text *text)
{
	for (uint32_t i = 1; i < stack->count; i++, text->count++) {
		frame_text__print_as_is(out, &stack->frames[i]);
		fputc('\0', out);
	}
}

static void print_folded(FILE *out, const struct stack *stack, struct trace_stack_text *text)
{
	struct folded_line lines[FOLDED_LINES];
	size_t count = folded_stack__lines(stack, lines);

	for (size_t i = 1; i < count; i++, text->count++) {
		folded_stack__print_line(out, stack, &lines[i], CLIP_WHOLE);
		fputc('\0', out);
	}
}

static int write_lines(const struct stack *stack, bool folded, struct trace_stack_text *text)
{
	FILE *out = text_stream__open(&text->lines, &text->bytes);
	int failed;

	if (!out)
		return -1;
	if (folded)
		print_folded(out, stack, text);
	else
		print_frames(out, stack, text);
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
	if (text->lines && text->serial == stack->serial)
		return text;
	free(text->lines);
	*text = (struct trace_stack_text){.serial = stack->serial};
	if (!write_lines(stack, stacks->folded, text))
		return text;
	free(text->lines);
	text->lines = NULL;
	return NULL;
}

void trace_stacks__clear(struct trace_stacks *stacks)
{
	for (size_t i = 0; i < TRACE_STACKS; i++)
		free(stacks->at[i].lines);
}
