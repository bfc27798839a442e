/* SPDX-License-Identifier: BSD-2-Clause */
/* Text within XML. */
#ifndef BASE_XML_H
#define BASE_XML_H

#include <stdio.h>

/*
 * Writes `s` as the content of an element or of a quoted attribute. Characters with a meaning in
 * XML become references. Characters that XML does not allow (control characters except tab and
 * newline, invalid UTF-8, U+FFFE, U+FFFF) become U+FFFD. NULL writes nothing. Errors are those of
 * the stream (ferror).
 */
void xml__text(FILE *out, const char *s);

#endif
