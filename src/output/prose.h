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

/* Text that is wrapped as a whole, when it is complete. */
struct prose {
	FILE *out;
	size_t width, length;
	char *buffer;
};

/*
 * Where to write, until prose__end. Without a width (0), or without memory, that is `out`, and
 * nothing is wrapped.
 */
FILE *prose__begin(struct prose *prose, FILE *out, size_t width);

/* Prints what was written to `text`, which prose__begin has returned: whole lines. */
void prose__end(struct prose *prose, FILE *text);

#endif
