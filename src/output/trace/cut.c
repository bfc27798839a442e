// SPDX-License-Identifier: BSD-2-Clause
// Cuts text to the columns of a terminal, see text.h.
#include "output/trace/text.h"

#include "base/width.h"

/* The number of bytes at the beginning that fill at least `columns`. */
static size_t skip(const char *text, size_t length, size_t columns)
{
	struct width_piece piece;
	size_t width = 0, i = 0;

	for (; i < length && width < columns; i += piece.bytes) {
		piece = width__first(text + i, length - i, WIDTH_ESCAPED);
		width += (size_t)piece.columns;
	}
	return i;
}

char *trace_text__cut(char *begin, char *end, size_t columns)
{
	size_t length = (size_t)(end - begin), width = width__columns(begin, length), head, tail;

	if (width <= columns)
		return end;
	if (!columns)
		return begin;
	head = width__fit(begin, length, columns / 2);
	tail = skip(begin, length, width - (columns - 1 - columns / 2));
	memmove(begin + head + sizeof("…") - 1, begin + tail, length - tail);
	return TRACE_TEXT_CONSTANT(begin + head, "…") + length - tail;
}
