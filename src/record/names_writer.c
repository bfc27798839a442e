// SPDX-License-Identifier: BSD-2-Clause
// Gives texts and stacks their numbers and writes each once, see names.h.
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "record/dictionary.h"
#include "record/names.h"

/* Stacks of the reading that is being written: its stacks stay where they are. */
struct met_stack {
	const struct stack *stack;
	uint64_t number;
	UT_hash_handle hh;
};

struct names_writer {
	struct pseudonyms *pseudonyms; /* NULL: names are not hidden */
	struct dictionary texts, stacks;
	struct bytes new_texts, new_stacks; /* not written yet */
	uint64_t new_text_count, new_stack_count;
	struct met_stack *met;
	struct bytes stack; /* being looked up */
	bool failed;
};

struct names_writer *names_writer__new(void)
{
	return calloc(1, sizeof(struct names_writer));
}

void names_writer__hide(struct names_writer *names, struct pseudonyms *pseudonyms)
{
	names->pseudonyms = pseudonyms;
}

static void forget_pending(struct names_writer *names)
{
	bytes__clear(&names->new_texts);
	bytes__clear(&names->new_stacks);
	names->new_text_count = 0;
	names->new_stack_count = 0;
	TABLE_CLEAR(names->met, free);
}

void names_writer__restart(struct names_writer *names)
{
	dictionary__clear(&names->texts);
	dictionary__clear(&names->stacks);
	names->failed = false;
	forget_pending(names);
}

void names_writer__free(struct names_writer *names)
{
	if (!names)
		return;
	names_writer__restart(names);
	free(names->new_texts.at);
	free(names->new_stacks.at);
	free(names->stack.at);
	free(names);
}

uint64_t names_writer__text(struct names_writer *names, const char *text, size_t most)
{
	size_t length = text ? strnlen(text, most) : 0;
	uint64_t number;
	bool is_new;

	if (!text)
		return 0;
	number = dictionary__take(&names->texts, text, length, &is_new);
	names->failed = names->failed || !number;
	if (!number || !is_new)
		return number;
	names->new_text_count++;
	bytes__number(&names->new_texts, length);
	bytes__add(&names->new_texts, text, length);
	return number;
}

uint64_t names_writer__name(struct names_writer *names, const char *kind, const char *name,
			    size_t most)
{
	if (!names->pseudonyms || !kind || !name)
		return names_writer__text(names, name, most);
	/* What has no kind has names in the middle of a text. */
	if (!*kind)
		return 0;
	return names_writer__text(names, pseudonyms__of(names->pseudonyms, kind, name, most).text,
				  SIZE_MAX);
}

static void put_name(struct names_writer *names, const char *kind, const char *name)
{
	bytes__number(&names->stack, names_writer__name(names, kind, name, SIZE_MAX));
}

static void put_function(struct names_writer *names, const struct stack_frame *frame)
{
	if (!names->pseudonyms || !frame->function || frame->kind == FRAME_MARK) {
		put_name(names, NULL, frame->function);
		return;
	}
	put_name(names, NULL, pseudonyms__of_function(names->pseudonyms, frame->function).text);
}

static void put_stack(struct names_writer *names, const struct stack *stack)
{
	struct bytes *out = &names->stack;

	bytes__clear(out);
	bytes__number(out, stack->serial);
	bytes__number(out, (uint64_t)stack->truncated | (uint64_t)stack->broken << 1);
	bytes__number(out, stack->count);
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct stack_frame *frame = &stack->frames[i];

		put_function(names, frame);
		put_name(names, "object", frame->object);
		put_name(names, "file", frame->file);
		bytes__number(out, frame->offset);
		bytes__number(out, frame->line);
		bytes__number(out, frame->kind);
	}
}

static uint64_t number_of(struct names_writer *names, const struct stack *stack)
{
	uint64_t number;
	bool is_new;

	put_stack(names, stack);
	if (names->stack.failed)
		return 0;
	number = dictionary__take(&names->stacks, names->stack.at, names->stack.length, &is_new);
	if (!number || !is_new)
		return number;
	names->new_stack_count++;
	bytes__add(&names->new_stacks, names->stack.at, names->stack.length);
	return number;
}

uint64_t names_writer__stack(struct names_writer *names, const struct stack *stack)
{
	struct met_stack *met = stack ? TABLE_TAKE(names->met, stack, &stack) : NULL;

	if (met && !met->number)
		met->number = number_of(names, stack);
	if (stack && (!met || !met->number))
		names->failed = true;
	return met ? met->number : 0;
}

int names_writer__write(struct names_writer *names, struct bytes *out)
{
	bool failed = names->failed || names->new_texts.failed || names->new_stacks.failed;

	bytes__number(out, names->new_text_count);
	bytes__add(out, names->new_texts.at, names->new_texts.length);
	bytes__number(out, names->new_stack_count);
	bytes__add(out, names->new_stacks.at, names->new_stacks.length);
	forget_pending(names);
	return failed || out->failed ? -ENOMEM : 0;
}
