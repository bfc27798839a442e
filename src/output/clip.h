/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts of watched processes in a limited number of columns, escaped as escape__text does it. */
#ifndef OUTPUT_CLIP_H
#define OUTPUT_CLIP_H

#include <stdio.h>

/* The columns that the whole text takes, once it is escaped. NULL takes none. */
int clip__columns(const char *text);

/* The same, where the text is cut to `columns`. */
int clip__columns_of(const char *text, int columns);

/* Writes the text. One of more than `columns`, which are at least 3, is cut, and "..." stands for the rest. */
void clip__print(FILE *out, const char *text, int columns);

#endif
