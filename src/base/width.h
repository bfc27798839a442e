/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns that text takes on a terminal: none for combining marks, two for East Asian wide
 * characters and emoji. All outputs that align columns measure text with this. It does not depend
 * on the locale.
 */
#ifndef BASE_WIDTH_H
#define BASE_WIDTH_H

#include <stddef.h>

enum width_form {
	WIDTH_RAW = 0, /* escape__text writes it: bytes that it escapes count as it writes them */
	WIDTH_ESCAPED, /* it has been escaped: a backslash is one column */
};

/* A character, or a byte that is not part of one: it is written as a whole or not at all. */
struct width_piece {
	size_t bytes;
	int columns;
};

/* The first piece of a text of `length` bytes, at least one. */
struct width_piece width__first(const char *text, size_t length, enum width_form form);

/* Columns of the first `length` bytes of an escaped text. */
size_t width__columns(const char *text, size_t length);

/* Bytes of an escaped text that fit in `columns`, with the combining marks behind them. */
size_t width__fit(const char *text, size_t length, size_t columns);

#endif
