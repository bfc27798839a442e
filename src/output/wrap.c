// SPDX-License-Identifier: BSD-2-Clause
// Wraps sentences, see wrap.h.
#include "output/wrap.h"

#include <stdbool.h>
#include <string.h>

#include "base/width.h"

/* Whether it begins with a number, or is one with its name: "bytes=12". */
static bool is_number(const char *word, size_t length)
{
	const char *equals = memchr(word, '=', length);

	if (equals && word[length - 1] != ',')
		word = equals + 1;
	return word[0] >= '0' && word[0] <= '9';
}

int wrap__width(size_t columns)
{
	return columns && columns < WRAP_WIDTH ? (int)columns : WRAP_WIDTH;
}

/* Bytes of the first word, with the words that must stay on its line: a number keeps its unit. */
static size_t piece_of(const char *text)
{
	size_t length = strcspn(text, " ");
	const char *word = text;

	while (is_number(word, (size_t)(text + length - word)) && text[length] &&
	       text[length + 1] && text[length + 1] != ' ') {
		word = text + length + 1;
		length += 1 + strcspn(word, " ");
	}
	return length;
}

void wrap__continue(FILE *out, const char *text, int column, int indent, int width)
{
	const char *blank = "";

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t length = piece_of(text);
		int piece = (int)width__columns(text, length);

		if (*blank && column + 1 + piece > width) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
			blank = "";
		}
		fprintf(out, "%s%.*s", blank, (int)length, text);
		column += (int)strlen(blank) + piece;
		blank = " ";
		text += length;
	}
	fputc('\n', out);
}

void wrap__print(FILE *out, const char *text, int indent, int hanging, int width)
{
	fprintf(out, "%*s", indent, "");
	wrap__continue(out, text, indent, indent + hanging, width);
}
