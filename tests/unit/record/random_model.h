/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readings of random contents, made from the tables of recorded fields: each field has a value, and
 * the next reading differs in a few. Everything is in the arena.
 */
#ifndef TESTS_RANDOM_MODEL_H
#define TESTS_RANDOM_MODEL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "output/random_numbers.h"
#include "record/arena.h"
#include "record/types.h"

#define RANDOM_STACKS 7

static inline const char *random_text(void)
{
	static const char *const texts[] = {
		"a",	    "",		"train.py",   "void k<int>(float*)",
		"\033[31m", "\xff\xfe", "cudaMalloc", "0123456789abcdef0123"};

	return texts[next_random() % (sizeof(texts) / sizeof(texts[0]))];
}

static inline const struct stack *random_stack(void)
{
	static struct stack_frame frames[RANDOM_STACKS][3];
	static struct stack stacks[RANDOM_STACKS];
	size_t i = next_random() % RANDOM_STACKS;

	if (!stacks[i].count) {
		for (int j = 0; j < 3; j++)
			frames[i][j] = (struct stack_frame){.function = random_text(),
							    .file = random_text(),
							    .offset = next_random(),
							    .line = (uint32_t)(10 * i)};
		stacks[i] = (struct stack){
			.serial = i, .count = 3, .truncated = i & 1, .frames = frames[i]};
	}
	return &stacks[i];
}

static inline uint64_t random_number(uint64_t limit)
{
	uint64_t number = next_random() >> next_random() % 64;

	return limit ? number % limit : number;
}

static inline void random_fill(const struct recorded_type *type, char *object, int depth,
			       struct arena *arena);

static inline void random_list(const struct recorded_field *field, char *object, int depth,
			       struct arena *arena)
{
	size_t count = depth > 6 ? 0 : next_random() % (field->kind == FIELD_POINTER ? 2 : 4);
	char *items = arena__take(arena, count + 1, field->type->size);
	void **member = (void **)(object + field->offset), **pointers = member;

	for (size_t i = 0; i < count; i++)
		random_fill(field->type, items + i * field->type->size, depth + 1, arena);
	if (field->kind == FIELD_POINTERS)
		*member = pointers = arena__take(arena, count + 1, sizeof(void *));
	if (field->kind == FIELD_POINTERS || field->kind == FIELD_SLOTS)
		for (size_t i = 0; i < count; i++)
			pointers[i] = items + i * field->type->size;
	else
		*member = count ? items : NULL;
	if (field->kind != FIELD_POINTER)
		*(size_t *)(object + field->count_offset) = count;
}

static inline void random_value(const struct recorded_field *field, char *to)
{
	uint64_t number = random_number(field->limit);

	switch (field->kind) {
	case FIELD_TEXT: strncpy(to, random_text(), field->size - 1); return;
	case FIELD_STRING: *(const char **)to = random_text(); return;
	case FIELD_STACK: *(const struct stack **)to = random_stack(); return;
	case FIELD_ROW: number %= api_function_count; break;
	default: break;
	}
	/* The machine is little-endian. A bool is 0 or 1: no other number is one. */
	if (field->kind == FIELD_UNSIGNED && field->size == 1 && !field->limit)
		number &= 1;
	memcpy(to, &number, field->size < sizeof(number) ? field->size : sizeof(number));
}

static inline void random_fill(const struct recorded_type *type, char *object, int depth,
			       struct arena *arena)
{
	for (size_t i = 0; i < type->field_count; i++) {
		const struct recorded_field *field = &type->fields[i];

		if (field->kind == FIELD_SKIPPED)
			continue;
		if (field->kind >= FIELD_LIST)
			random_list(field, object, depth, arena);
		for (uint32_t j = 0; field->kind == FIELD_STRUCTS && j < field->count; j++)
			random_fill(field->type, object + field->offset + j * field->type->size,
				    depth, arena);
		for (uint32_t j = 0; field->kind < FIELD_STRUCTS && j < field->count; j++)
			random_value(field, object + field->offset + j * field->size);
	}
}

/* A model, whose other calls are behind its sites in one list. */
static inline struct model *random_model(struct arena *arena)
{
	struct model *model = arena__take(arena, 1, sizeof(*model));

	random_fill(&recorded_model, (char *)model, 0, arena);
	for (size_t i = 0; i < model->process_count; i++) {
		struct process *process = &model->processes[i];

		process->object_call_count = process->site_count / 2;
		process->site_count -= process->object_call_count;
	}
	return model;
}

#endif
