/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `gpuprobe check` finds: a list of lines, each of one thing that works,
 * works in part or is missing, with what to do about it. Plain data, which the
 * forms of output read (output/check/check.h).
 */
#ifndef CHECK_LIST_H
#define CHECK_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum check_state {
	CHECK_OK = 0,
	CHECK_DEGRADED, /* gpuprobe works without, and shows less or costs more */
	CHECK_MISSING,	/* without it gpuprobe does not do what it is for */
	CHECK_STATES,
};

/* A value of a line by itself, for programs. */
struct check_fact {
	const char *key; /* static, in snake_case; the same one again: a list */
	char *text;	 /* malloc; NULL: it is a number */
	uint64_t number;
};

struct check_line {
	const char *topic; /* static, one word */
	enum check_state state;
	char *text;   /* malloc; of watched processes in part: escape before printing */
	char *advice; /* malloc; what to do, one line; NULL with CHECK_OK alone */
	struct check_fact *facts;
	size_t fact_count;
};

struct check_list {
	struct check_line *lines; /* in the order in which they are to be shown */
	size_t count;
	bool no_memory; /* something is not in the list */
};

/*
 * Add a line. They return nothing: a list that lacks something says so by
 * no_memory, and its end is not to be believed.
 */
void check_list__ok(struct check_list *list, const char *topic, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* `state` is CHECK_DEGRADED or CHECK_MISSING. A `format` for the text, `advice` as it is. */
void check_list__lacks(struct check_list *list, const char *topic, enum check_state state, const char *advice,
		       const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Add a fact to the last line. A NULL text adds none. */
void check_list__text(struct check_list *list, const char *key, const char *text);
void check_list__number(struct check_list *list, const char *key, uint64_t number);

/* Moves the lines of `other` to the end. Returns 0 or -ENOMEM. */
int check_list__append(struct check_list *list, struct check_list *other);

size_t check_list__in_state(const struct check_list *list, enum check_state state);

/* "ok", "degraded", "missing". */
const char *check_state__word(enum check_state state);

void check_list__clear(struct check_list *list);

#endif
