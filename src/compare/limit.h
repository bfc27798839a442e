/* SPDX-License-Identifier: BSD-2-Clause */
/* One limit of a budget (compare/budget.h): its line as data. */
#ifndef COMPARE_LIMIT_H
#define COMPARE_LIMIT_H

#include "base/error.h"
#include "compare/figures.h"

enum limit_subject {
	LIMIT_FIGURE = 0,
	LIMIT_FUNCTION, /* calls of it */
	LIMIT_FINDINGS,
};

/* The time in which a function's calls count. */
enum limit_time {
	LIMIT_STEADY = 0,
	LIMIT_ALL,
};

enum limit_operator {
	LIMIT_AT_MOST = 0,
	LIMIT_AT_LEAST,
	LIMIT_EQUAL,
	LIMIT_BELOW,
	LIMIT_ABOVE,
};

struct limit {
	char *text; /* the line without comment and blanks around it; malloc */
	unsigned int line;
	enum limit_subject subject;
	size_t figure; /* index in figure_kinds */
	/* a function; or a finding's id or severity, empty: all. In `text`'s memory */
	const char *word;
	enum limit_time time;
	enum limit_operator operator;
	double value;
	enum figure_unit unit;
};

/*
 * Parses a line, which is not empty. Returns 0, -ENOMEM, or -EINVAL with a message without the
 * line's number. Release limit->text with free(3), also after -EINVAL.
 */
int limit__parse(struct limit *limit, const char *line, size_t length, struct error *err);

/* Whether a measured value keeps the limit. */
bool limit__is_kept(const struct limit *limit, double value);

/* Whether `value` is further from being within the limit than `other`. */
bool limit__is_worse(const struct limit *limit, double value, double other);

#endif
