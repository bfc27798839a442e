/* SPDX-License-Identifier: BSD-2-Clause */
/* Sentences in lines of a width that people read with ease. */
#ifndef OUTPUT_WRAP_H
#define OUTPUT_WRAP_H

#include <stdio.h>

/*
 * Writes the words of `text`, which is printable, in lines of up to `width` columns where words
 * allow it; each line after `indent` blanks, those behind the first after `hanging` more.
 * A number is not parted from its unit. Ends with a newline.
 */
void wrap__print(FILE *out, const char *text, int indent, int hanging, int width);

#endif
