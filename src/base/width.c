// SPDX-License-Identifier: BSD-2-Clause
// The width of text on a terminal, see width.h.
#include "base/width.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/escape.h"
#include "base/width_table.h"

/* The code point of valid UTF-8. */
static uint32_t code_of(const char *text, size_t bytes)
{
	uint32_t code = (unsigned char)*text;

	if (bytes > 1)
		code &= 0x7f >> bytes;
	for (size_t i = 1; i < bytes; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

static bool is_in(uint32_t code, const struct width_range *ranges, size_t count)
{
	size_t first = 0, end = count;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (code > ranges[middle].last)
			first = middle + 1;
		else
			end = middle;
	}
	return first < count && code >= ranges[first].first;
}

static int columns_of(uint32_t code)
{
	if (code < no_columns[0].first)
		return 1;
	if (is_in(code, no_columns, sizeof(no_columns) / sizeof(*no_columns)))
		return 0;
	return is_in(code, two_columns, sizeof(two_columns) / sizeof(*two_columns)) ? 2 : 1;
}

struct width_piece width__first(const char *text, size_t length, enum width_form form)
{
	size_t bytes = escape__printable(text, length < 4 ? length : 4);

	if (!bytes) /* "\n" and the like, or "\xNN" */
		return (struct width_piece){1, *text && strchr("\n\t\r", *text) ? 2 : 4};
	if (form == WIDTH_RAW && *text == '\\')
		return (struct width_piece){1, 2};
	return (struct width_piece){bytes, columns_of(code_of(text, bytes))};
}

/* Printable text of ASCII takes a column a byte: most text does not need a look at each byte. */
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

size_t width__columns(const char *text, size_t length)
{
	struct width_piece piece;
	size_t columns = 0;

	if (is_ascii(text, length))
		return length;
	for (size_t i = 0; i < length; i += piece.bytes) {
		piece = width__first(text + i, length - i, WIDTH_ESCAPED);
		columns += (size_t)piece.columns;
	}
	return columns;
}

size_t width__fit(const char *text, size_t length, size_t columns)
{
	struct width_piece piece;
	size_t i = 0, taken = 0;

	for (; i < length; i += piece.bytes) {
		piece = width__first(text + i, length - i, WIDTH_ESCAPED);
		taken += (size_t)piece.columns;
		if (taken > columns)
			break;
	}
	return i;
}
