// SPDX-License-Identifier: BSD-2-Clause
// The width of a text on a terminal, see text.h.
#include "output/trace/text.h"

#include "base/escape.h"

/* The length of the next character. The text was escaped, so it is valid UTF-8. */
static size_t next_length(const char *text, size_t length)
{
	unsigned char first = (unsigned char)text[0];
	size_t n = first < 0x80 ? 1 : (first < 0xe0 ? 2 : (first < 0xf0 ? 3 : 4));

	return n < length ? n : length;
}

static bool is_ascii(const char *text, size_t length)
{
	uint64_t all = 0, word;
	size_t i = 0;

	for (; length - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, text + i, sizeof(word));
		all |= word;
	}
	for (; i < length; i++)
		all |= (unsigned char)text[i];
	return !(all & 0x8080808080808080);
}

size_t trace_text__width(const char *text, size_t length)
{
	size_t width = 0, i = 0, n;

	if (is_ascii(text, length))
		return length;
	for (; i < length; i += n) {
		n = next_length(text + i, length - i);
		width += (size_t)escape__columns(text + i, n);
	}
	return width;
}

/* The number of bytes that fit in `columns`. */
static size_t fit(const char *text, size_t length, size_t columns)
{
	size_t width = 0, i = 0, n;

	for (; i < length; i += n) {
		n = next_length(text + i, length - i);
		width += (size_t)escape__columns(text + i, n);
		if (width > columns)
			break;
	}
	return i;
}

/* The number of bytes at the beginning that fill at least `columns`. */
static size_t skip(const char *text, size_t length, size_t columns)
{
	size_t width = 0, i = 0, n;

	for (; i < length && width < columns; i += n) {
		n = next_length(text + i, length - i);
		width += (size_t)escape__columns(text + i, n);
	}
	return i;
}

char *trace_text__cut(char *begin, char *end, size_t columns)
{
	size_t length = (size_t)(end - begin), width = trace_text__width(begin, length), head, tail;

	if (width <= columns)
		return end;
	if (!columns)
		return begin;
	head = fit(begin, length, columns / 2);
	tail = skip(begin, length, width - (columns - 1 - columns / 2));
	memmove(begin + head + sizeof("…") - 1, begin + tail, length - tail);
	return TRACE_TEXT_CONSTANT(begin + head, "…") + length - tail;
}
