/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One row of a TSV file: its position for messages, its fields, and how a row
 * of functions.tsv becomes a struct table_function.
 */
#ifndef API_ROW_H
#define API_ROW_H

#include <stdbool.h>

#include "table.h"

#define MAX_FIELDS 9

struct row {
	const char *file;
	unsigned int line;
	struct error *err;
	char *fields[MAX_FIELDS];
};

/* Fills err with "FILE:LINE: " and the text; returns -EINVAL. */
int row__fail(const struct row *row, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Splits `text` in place at its tabs. Returns 0, or -EINVAL unless there are
 * exactly `count` fields (at most MAX_FIELDS), none of them empty.
 */
int row__split(struct row *row, char *text, size_t count);

/* Whether `text` is a C identifier: what may go into the generated file. */
bool row__is_identifier(const char *text);

/*
 * Makes a function of the nine fields of a row. The function is the caller's
 * to free with function__clear, also after an error.
 */
int function__parse(struct table_function *function, const struct row *row);
void function__clear(struct table_function *function);

/* Whether the parts of a parsed row fit together; -EINVAL where they do not. */
int function__check(const struct table_function *function, const struct row *row);

/* The length of `symbol` without the suffix of the per-thread forms. */
size_t function__base_length(const char *symbol);

/* The same without its version: 10 of cuMemAlloc_v2_ptds. */
size_t function__stem_length(const char *symbol);

#endif
