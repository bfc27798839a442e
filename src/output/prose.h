/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fits text into a terminal. Parts of the output that several commands share write lines without
 * knowing its width.
 */
#ifndef OUTPUT_PROSE_H
#define OUTPUT_PROSE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Prints the text, which is whole lines and escaped, and changes it. A line that is wider than
 * `width` goes on two columns further right; the text of a row stays in its column. A longer word
 * gets a longer line.
 */
void prose__print(FILE *out, char *text, size_t width);

#endif
