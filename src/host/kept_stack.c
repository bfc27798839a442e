// SPDX-License-Identifier: BSD-2-Clause
// Copies of named stacks; see kept_stack.h.
#include "host/kept_stack.h"

#include <stdlib.h>
#include <string.h>

static size_t text_size(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static const char *copy_text(const char *text, char **at)
{
	char *copy = *at;

	if (!text)
		return NULL;
	*at = stpcpy(copy, text) + 1;
	return copy;
}

static size_t frame_texts_size(const struct stack_frame *frame)
{
	return text_size(frame->function) + text_size(frame->object) + text_size(frame->file);
}

/* Returns the number of frames to keep, and the size of their texts. */
static uint32_t choose_frames(const struct stack *stack, size_t *texts)
{
	uint32_t count = 0;

	*texts = 0;
	while (count < stack->count && count < KEPT_FRAMES && *texts < KEPT_TEXT_BYTES)
		*texts += frame_texts_size(&stack->frames[count++]);
	return count;
}

size_t kept_stack__bytes(const struct stack *stack)
{
	size_t texts;
	uint32_t count = choose_frames(stack, &texts);

	return sizeof(*stack) + count * sizeof(*stack->frames) + texts;
}

struct stack *kept_stack__new(const struct stack *stack)
{
	size_t texts_size;
	uint32_t count = choose_frames(stack, &texts_size);
	struct stack *kept = malloc(kept_stack__bytes(stack));
	struct stack_frame *frames;
	char *texts;

	if (!kept)
		return NULL;
	frames = (void *)(kept + 1);
	texts = (char *)(frames + count);
	*kept = *stack;
	kept->count = count;
	kept->truncated = stack->truncated || count < stack->count;
	kept->frames = frames;
	for (uint32_t i = 0; i < count; i++) {
		frames[i] = stack->frames[i];
		frames[i].function = copy_text(stack->frames[i].function, &texts);
		frames[i].object = copy_text(stack->frames[i].object, &texts);
		frames[i].file = copy_text(stack->frames[i].file, &texts);
	}
	return kept;
}
