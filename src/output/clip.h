/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints text of watched processes in a limited number of columns, escaped as by escape__text. */
#ifndef OUTPUT_CLIP_H
#define OUTPUT_CLIP_H

#include <stdio.h>

/* Columns of the whole text once escaped; 0 for NULL. */
int clip__columns(const char *text);

/* Columns of the text once cut to `columns`. */
int clip__columns_of(const char *text, int columns);

/*
 * Writes the text. If it is longer than `columns`, which is at least 3, it is cut and ends with
 * "...".
 */
void clip__print(FILE *out, const char *text, int columns);

#endif
