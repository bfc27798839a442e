/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that came from a watched process (names, paths), made safe to print:
 * a terminal must never act on it, and a line must stay one line.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stdio.h>

/*
 * Writes `s` to `out`: printable UTF-8 as it is; a backslash doubled; newline,
 * tab and carriage return as \n, \t, \r; every other control character (C0,
 * DEL, C1), line and paragraph separator, bidirectional control and byte that
 * is not valid UTF-8 as \xNN, one for each of its bytes. NULL writes nothing.
 * Errors are those of the stream (ferror).
 */
void escape__text(FILE *out, const char *s);

#endif
