// SPDX-License-Identifier: BSD-2-Clause
// Reads texts and stacks of a recording and keeps equal ones once, see names.h.
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "record/names.h"

#define FRAMES_MAX 4096u

struct kept_text {
	UT_hash_handle hh;
	char text[];
};

/* The key is `serial` up to the last frame: frames have no other padding than zeros. */
struct kept_stack {
	UT_hash_handle hh;
	struct stack stack;
	uint64_t serial;
	uint64_t flags;
	struct stack_frame frames[];
};

struct names_reader {
	struct kept_text *kept_texts;
	struct kept_stack *kept_stacks;
	size_t kept_bytes;
	/* by number - 1 */
	const char **texts;
	size_t text_count;
	const struct stack **stacks;
	size_t stack_count;
};

struct names_reader *names_reader__new(void)
{
	return calloc(1, sizeof(struct names_reader));
}

void names_reader__restart(struct names_reader *names)
{
	names->text_count = 0;
	names->stack_count = 0;
}

void names_reader__free(struct names_reader *names)
{
	if (!names)
		return;
	TABLE_CLEAR(names->kept_texts, free);
	TABLE_CLEAR(names->kept_stacks, free);
	free(names->texts);
	free(names->stacks);
	free(names);
}

static bool has_room(struct names_reader *names, size_t bytes)
{
	if (bytes > NAMES_MAX_BYTES || names->kept_bytes > NAMES_MAX_BYTES - bytes)
		return false;
	names->kept_bytes += bytes;
	return true;
}

/* --- texts --- */

static const char *keep_text(struct names_reader *names, const uint8_t *bytes, size_t length)
{
	struct kept_text *kept;

	HASH_FIND(hh, names->kept_texts, bytes, length, kept);
	if (kept)
		return kept->text;
	kept = has_room(names, sizeof(*kept) + length) ? calloc(1, sizeof(*kept) + length + 1) :
							 NULL;
	if (!kept)
		return NULL;
	memcpy(kept->text, bytes, length);
	HASH_ADD_KEYPTR(hh, names->kept_texts, kept->text, length, kept);
	if (kept->hh.tbl)
		return kept->text;
	free(kept);
	return NULL;
}

static int read_text(struct names_reader *names, struct varint_reader *in)
{
	uint64_t length = varint__take(in);
	const uint8_t *bytes = varint__take_bytes(in, length);
	const char *text;

	if (in->failed || memchr(bytes, 0, length))
		return -EINVAL;
	text = keep_text(names, bytes, length);
	return text ? ARRAY_APPEND(names->texts, names->text_count, text) : -ENOMEM;
}

const char *names_reader__text(const struct names_reader *names, uint64_t number)
{
	return number && number <= names->text_count ? names->texts[number - 1] : NULL;
}

/* --- stacks --- */

static void read_frame(const struct names_reader *names, struct varint_reader *in,
		       struct stack_frame *frame)
{
	uint64_t kind;

	frame->function = names_reader__text(names, varint__take(in));
	frame->object = names_reader__text(names, varint__take(in));
	frame->file = names_reader__text(names, varint__take(in));
	frame->offset = varint__take(in);
	frame->line = (uint32_t)varint__take(in);
	kind = varint__take(in);
	frame->kind = kind <= FRAME_MARK ? (uint8_t)kind : FRAME_NATIVE;
	/* Only this kind has a text for sure. */
	if (frame->kind == FRAME_MARK && !frame->function)
		frame->kind = FRAME_NATIVE;
}

static const struct stack *keep_stack(struct names_reader *names, struct kept_stack *stack)
{
	size_t frames = stack->stack.count * sizeof(stack->frames[0]),
	       length = offsetof(struct kept_stack, frames) - offsetof(struct kept_stack, serial) +
			frames;
	struct kept_stack *kept;

	HASH_FIND(hh, names->kept_stacks, &stack->serial, length, kept);
	if (kept) {
		free(stack);
		return &kept->stack;
	}
	if (has_room(names, sizeof(*stack) + frames)) {
		HASH_ADD_KEYPTR(hh, names->kept_stacks, &stack->serial, length, stack);
		if (stack->hh.tbl)
			return &stack->stack;
	}
	free(stack);
	return NULL;
}

static int read_stack(struct names_reader *names, struct varint_reader *in)
{
	uint64_t serial = varint__take(in), flags = varint__take(in), count = varint__take(in);
	const struct stack *stack;
	struct kept_stack *kept;

	/* A frame takes at least six bytes. */
	if (in->failed || count > FRAMES_MAX || count > (uint64_t)(in->end - in->at) / 6)
		return -EINVAL;
	kept = calloc(1, sizeof(*kept) + count * sizeof(kept->frames[0]));
	if (!kept)
		return -ENOMEM;
	kept->serial = serial;
	kept->flags = flags;
	kept->stack = (struct stack){
		.serial = serial,
		.count = (uint32_t)count,
		.truncated = flags & 1,
		.broken = flags & 2,
		.frames = kept->frames,
	};
	for (uint64_t i = 0; i < count; i++)
		read_frame(names, in, &kept->frames[i]);
	if (in->failed) {
		free(kept);
		return -EINVAL;
	}
	stack = keep_stack(names, kept);
	return stack ? ARRAY_APPEND(names->stacks, names->stack_count, stack) : -ENOMEM;
}

const struct stack *names_reader__stack(const struct names_reader *names, uint64_t number)
{
	return number && number <= names->stack_count ? names->stacks[number - 1] : NULL;
}

int names_reader__read(struct names_reader *names, struct varint_reader *in)
{
	uint64_t texts = varint__take(in), stacks;
	int ret = 0;

	for (uint64_t i = 0; i < texts && !ret; i++)
		ret = read_text(names, in);
	stacks = varint__take(in);
	for (uint64_t i = 0; i < stacks && !ret; i++)
		ret = read_stack(names, in);
	return ret || !in->failed ? ret : -EINVAL;
}
