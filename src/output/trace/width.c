// SPDX-License-Identifier: BSD-2-Clause
// The width of a text on a terminal, see text.h: CJK and emoji take two columns, combining marks
// none.
#include "output/trace/text.h"

struct range {
	uint32_t first, last;
};

/* clang-format off */
static const struct range two_columns[] = {
	{0x1100, 0x115f},   {0x2e80, 0x303e},	{0x3041, 0xa4cf},   {0xac00, 0xd7a3},	{0xf900, 0xfaff},
	{0xfe30, 0xfe6f},   {0xff00, 0xff60},	{0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};

static const struct range no_column[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
	{0x1dc0, 0x1dff}, {0x200b, 0x200d}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
};
/* clang-format on */

static bool is_in(const struct range *ranges, size_t count, uint32_t code)
{
	for (size_t i = 0; i < count; i++) {
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	}
	return false;
}

static size_t code_width(uint32_t code)
{
	if (is_in(no_column, sizeof(no_column) / sizeof(no_column[0]), code))
		return 0;
	return is_in(two_columns, sizeof(two_columns) / sizeof(two_columns[0]), code) ? 2 : 1;
}

/*
 * Returns the length and code point of the next character. The text was escaped, so it is valid
 * UTF-8.
 */
static size_t next_code(const char *text, size_t length, uint32_t *code)
{
	unsigned char first = (unsigned char)text[0];
	size_t n = first < 0x80 ? 1 : (first < 0xe0 ? 2 : (first < 0xf0 ? 3 : 4));

	if (n > length)
		n = length;
	*code = n == 1 ? first : first & (0x7fu >> n);
	for (size_t i = 1; i < n; i++)
		*code = *code << 6 | ((unsigned char)text[i] & 0x3f);
	return n;
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
	size_t width = 0, i = 0;
	uint32_t code;

	if (is_ascii(text, length))
		return length;
	while (i < length) {
		i += next_code(text + i, length - i, &code);
		width += code_width(code);
	}
	return width;
}

/* The number of bytes that fit in `columns`. */
static size_t fit(const char *text, size_t length, size_t columns)
{
	size_t width = 0, i = 0;
	uint32_t code;

	while (i < length) {
		size_t n = next_code(text + i, length - i, &code);

		width += code_width(code);
		if (width > columns)
			break;
		i += n;
	}
	return i;
}

/* The number of bytes at the beginning that fill at least `columns`. */
static size_t skip(const char *text, size_t length, size_t columns)
{
	size_t width = 0, i = 0;
	uint32_t code;

	while (i < length && width < columns) {
		i += next_code(text + i, length - i, &code);
		width += code_width(code);
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
