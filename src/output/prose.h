/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text whose sentences were wrapped at 100 columns, for a narrower terminal. Parts of the output
 * that several commands share write such text.
 */
#ifndef OUTPUT_PROSE_H
#define OUTPUT_PROSE_H

#include <stddef.h>
#include <stdio.h>

#define PROSE_WIDTH 100

/*
 * Prints the text, which is whole lines and escaped, and changes it. A line that is wider than
 * `width` is wrapped, with the lines behind it that belong to its sentence: they begin two columns
 * further right, and their first word had no room before. The text of a row stays
 * in its column. A longer word gets a longer line.
 */
void prose__print(FILE *out, char *text, size_t width);

#endif
