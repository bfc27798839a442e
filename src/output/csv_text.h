/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of watched programs in a cell of comma-separated values. */
#ifndef OUTPUT_CSV_TEXT_H
#define OUTPUT_CSV_TEXT_H

#include <stdio.h>

/*
 * Writes the text escaped as by escape__text, in quotes if necessary: a row stays one line, and a
 * spreadsheet takes no text for a formula. Writes nothing without memory.
 */
void csv_text__print(FILE *out, const char *text);

#endif
