/* SPDX-License-Identifier: BSD-2-Clause */
/* Text within XML. */
#ifndef BASE_XML_H
#define BASE_XML_H

#include <stdio.h>

/*
 * Writes `s` as the content of an element or of a quoted attribute: what has a
 * meaning in XML as a reference; what cannot be in XML at all (control
 * characters but tab and newline, bytes that are no UTF-8, U+FFFE, U+FFFF) as
 * U+FFFD. NULL writes nothing. Errors are those of the stream (ferror).
 */
void xml__text(FILE *out, const char *s);

#endif
