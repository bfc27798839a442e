/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One row of a TSV file: its position for messages and its fields. Also parses a row of
 * functions.tsv into a struct table_function.
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

/* Sets err to "FILE:LINE: " and the text; returns -EINVAL. */
int row__fail(const struct row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Splits `text` in place at its tabs. Returns 0, or -EINVAL unless there are exactly `count` fields
 * (at most MAX_FIELDS), all of them non-empty.
 */
int row__split(struct row *row, char *text, size_t count);

/* Whether `text` is a C identifier and may therefore go into the generated file. */
bool row__is_identifier(const char *text);

/*
 * Parses the nine fields of a row. The caller frees the function with function__clear, after an
 * error too.
 */
int function__parse(struct table_function *function, const struct row *row);
void function__clear(struct table_function *function);

/* Checks that the parts of a parsed row agree; returns 0 or -EINVAL. */
int function__check(const struct table_function *function, const struct row *row);

/* The length of `symbol` without the suffix of the per-thread forms (_ptds, _ptsz). */
size_t function__base_length(const char *symbol);

/* The same without its version: 10 for cuMemAlloc_v2_ptds. */
size_t function__stem_length(const char *symbol);

#endif
