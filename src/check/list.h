/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The result of `gpuprobe check`: a list of lines. Each line says that one thing works, works in
 * part or is missing, and what to do about it. Plain data, read by output/check/check.h.
 */
#ifndef CHECK_LIST_H
#define CHECK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check_state {
	CHECK_OK = 0,
	CHECK_DEGRADED, /* gpuprobe works, but shows less or costs more */
	CHECK_MISSING,	/* gpuprobe cannot do its job */
	CHECK_STATES,
};

/* A single value of a line, for programs. */
struct check_fact {
	const char *key; /* static, snake_case; a repeated key makes a list */
	char *text;	 /* malloc; NULL if the fact is a number */
	uint64_t number;
};

struct check_line {
	const char *topic; /* static, one word */
	enum check_state state;
	char *text;   /* malloc; partly from watched processes: escape before printing */
	char *advice; /* malloc; what to do, one line; NULL only with CHECK_OK */
	struct check_fact *facts;
	size_t fact_count;
};

struct check_list {
	struct check_line *lines; /* in display order */
	size_t count;
	bool no_memory; /* entries were dropped for lack of memory */
};

/*
 * These add a line. They return nothing: if memory runs out, they set no_memory and the list is
 * incomplete.
 */
void check_list__ok(struct check_list *list, const char *topic, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * `state` is CHECK_DEGRADED or CHECK_MISSING. `format` makes the text; `advice` is copied
 * unchanged.
 */
void check_list__lacks(struct check_list *list, const char *topic, enum check_state state,
		       const char *advice, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* These add a fact to the last line. A NULL text adds none. */
void check_list__text(struct check_list *list, const char *key, const char *text);
void check_list__number(struct check_list *list, const char *key, uint64_t number);

/* Moves the lines of `other` to the end. Returns 0 or -ENOMEM. */
int check_list__append(struct check_list *list, struct check_list *other);

size_t check_list__in_state(const struct check_list *list, enum check_state state);

/* "ok", "degraded", "missing". */
const char *check_state__word(enum check_state state);

void check_list__clear(struct check_list *list);

#endif
