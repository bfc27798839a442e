/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints text of watched processes in a limited number of columns, escaped as by escape__text. Both
 * ends stay: they tell names apart. Text is only cut on a terminal.
 */
#ifndef OUTPUT_CLIP_H
#define OUTPUT_CLIP_H

#include <limits.h>
#include <stdio.h>

#define CLIP_WHOLE INT_MAX /* columns for text that is not cut */

/* Columns of the whole text once escaped; 0 for NULL. */
int clip__columns(const char *text);

/* Columns of the text once cut to `columns`. */
int clip__columns_of(const char *text, int columns);

/*
 * Writes the text. If it is longer than `columns`, which is at least 1, its middle is replaced by
 * "…": "vectorized_el…el<4, float>".
 */
void clip__print(FILE *out, const char *text, int columns);

#endif
