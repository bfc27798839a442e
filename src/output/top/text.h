/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text in the columns of a terminal, as wide as it shows characters: none, one or two columns each.
 * Where the locale is not UTF-8, other characters than ASCII become question marks. Text of watched
 * processes cannot change the layout: what is not printable is escaped, and a character carries at
 * most two marks that take no column.
 */
#ifndef OUTPUT_TOP_TEXT_H
#define OUTPUT_TOP_TEXT_H

#include <stdbool.h>
#include <stdio.h>

enum top_text_form {
	TOP_RAW = 0, /* from a watched process: escaped as by escape__text */
	TOP_ESCAPED, /* it has been escaped */
};

/* Columns of the whole text; 0 for NULL. */
int top_text__columns(const char *text, enum top_text_form form);

/*
 * Writes the text in exactly `columns` columns: filled up with blanks before it, or behind it
 * (`left`). A longer text is cut in the middle, which an ellipsis marks.
 */
void top_text__cell(FILE *out, const char *text, int columns, bool left);

/*
 * Writes what an escaped line shows in `columns` columns from column `from` on, at most. An
 * ellipsis marks an end that is cut off.
 */
void top_text__line(FILE *out, const char *line, int from, int columns);

#endif
