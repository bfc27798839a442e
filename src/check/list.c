// SPDX-License-Identifier: BSD-2-Clause
// The list of lines that a check produces; see list.h.
#include "check/list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static struct check_line *add(struct check_list *list, const char *topic, enum check_state state)
{
	if (ARRAY_APPEND(list->lines, list->count,
			 (struct check_line){.topic = topic, .state = state})) {
		list->no_memory = true;
		return NULL;
	}
	return &list->lines[list->count - 1];
}

static __attribute__((format(printf, 2, 0))) char *format_text(struct check_list *list,
							       const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) >= 0)
		return text;
	list->no_memory = true;
	return NULL;
}

void check_list__ok(struct check_list *list, const char *topic, const char *format, ...)
{
	struct check_line *line = add(list, topic, CHECK_OK);
	va_list args;

	if (!line)
		return;
	va_start(args, format);
	line->text = format_text(list, format, args);
	va_end(args);
}

void check_list__lacks(struct check_list *list, const char *topic, enum check_state state,
		       const char *advice, const char *format, ...)
{
	struct check_line *line = add(list, topic, state);
	va_list args;

	if (!line)
		return;
	line->advice = strdup(advice);
	list->no_memory |= !line->advice;
	va_start(args, format);
	line->text = format_text(list, format, args);
	va_end(args);
}

static struct check_fact *add_fact(struct check_list *list, const char *key)
{
	struct check_line *line = list->count ? &list->lines[list->count - 1] : NULL;

	if (!line)
		return NULL;
	if (ARRAY_APPEND(line->facts, line->fact_count, (struct check_fact){.key = key})) {
		list->no_memory = true;
		return NULL;
	}
	return &line->facts[line->fact_count - 1];
}

void check_list__text(struct check_list *list, const char *key, const char *text)
{
	char *copy = text ? strdup(text) : NULL;
	struct check_fact *fact;

	list->no_memory |= text && !copy;
	fact = copy ? add_fact(list, key) : NULL;
	if (fact)
		fact->text = copy;
	else
		free(copy);
}

void check_list__number(struct check_list *list, const char *key, uint64_t number)
{
	struct check_fact *fact = add_fact(list, key);

	if (fact)
		fact->number = number;
}

int check_list__append(struct check_list *list, struct check_list *other)
{
	if (ARRAY_RESERVE(list->lines, list->count, other->count))
		return -ENOMEM;
	for (size_t i = 0; i < other->count; i++)
		list->lines[list->count++] = other->lines[i];
	list->no_memory |= other->no_memory;
	other->count = 0;
	return 0;
}

size_t check_list__in_state(const struct check_list *list, enum check_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++)
		count += list->lines[i].state == state;
	return count;
}

const char *check_state__word(enum check_state state)
{
	static const char *const words[CHECK_STATES] = {"ok", "degraded", "missing"};

	return words[state];
}

void check_list__clear(struct check_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct check_line *line = &list->lines[i];

		for (size_t n = 0; n < line->fact_count; n++)
			free(line->facts[n].text);
		free(line->facts);
		free(line->text);
		free(line->advice);
	}
	free(list->lines);
	*list = (struct check_list){0};
}
