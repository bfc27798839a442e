/* SPDX-License-Identifier: BSD-2-Clause */
/* Wraps sentences at a width that is easy to read. */
#ifndef OUTPUT_WRAP_H
#define OUTPUT_WRAP_H

#include <stddef.h>
#include <stdio.h>

#define WRAP_WIDTH 100 /* longer lines are hard to read */

/* The width of sentences where lines have `columns`; 0: they have no limit. */
int wrap__width(size_t columns);

/*
 * Writes the words of `text`, which must be printable, in lines of up to `width` columns; a longer
 * word gets a longer line. Each line begins with `indent` blanks, each after the first with
 * `hanging` more. A number stays on one line with its unit. Ends with a newline.
 */
void wrap__print(FILE *out, const char *text, int indent, int hanging, int width);

/* The same behind `column` columns that are written; each line after it has `indent` blanks. */
void wrap__continue(FILE *out, const char *text, int column, int indent, int width);

#endif
