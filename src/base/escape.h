/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes text from a watched process (names, paths) safe to print: a terminal must never interpret
 * it, and a line must stay one line.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns the length (1 to 4) of the character at `s` if it can be printed unchanged: valid UTF-8
 * and none of the characters that escape__text writes as \xNN. Returns 0 if its first byte must be
 * escaped. A backslash counts as printable. `length` is the number of bytes at `s`, at least one.
 */
size_t escape__printable(const char *s, size_t length);

/*
 * Writes `s` to `out`. Printable UTF-8 stays as it is; a backslash is doubled; newline, tab and
 * carriage return become \n, \t, \r. Every other control character (C0, DEL, C1), line and
 * paragraph separator, bidirectional control and byte that is not valid UTF-8 becomes \xNN, one for
 * each of its bytes. NULL writes nothing. Errors are those of the stream (ferror).
 */
void escape__text(FILE *out, const char *s);

#endif
