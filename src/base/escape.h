/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that came from a watched process (names, paths), made safe to print:
 * a terminal must never act on it, and a line must stay one line.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/*
 * The length (1 to 4) of the character at `s` if it can be printed as it is:
 * valid UTF-8, and none of the characters that escape__text writes as \xNN.
 * 0 if not: then its first byte is to be escaped. A backslash counts as
 * printable. Of `s` are `length` bytes there, at least one.
 */
size_t escape__printable(const char *s, size_t length);

/*
 * Writes `s` to `out`: printable UTF-8 as it is; a backslash doubled; newline,
 * tab and carriage return as \n, \t, \r; every other control character (C0,
 * DEL, C1), line and paragraph separator, bidirectional control and byte that
 * is not valid UTF-8 as \xNN, one for each of its bytes. NULL writes nothing.
 * Errors are those of the stream (ferror).
 */
void escape__text(FILE *out, const char *s);

#endif
