// SPDX-License-Identifier: BSD-2-Clause
// Wraps sentences, see wrap.h.
#include "output/wrap.h"

#include <string.h>

/* Columns of UTF-8: counts the bytes that begin a character. */
static int columns(const char *text, size_t length)
{
	int count = 0;

	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

/* Length of the next word and the words that must stay on its line: a number keeps its unit. */
static size_t next_piece(const char *text)
{
	size_t length = strcspn(text, " ");
	const char *word = text;

	while (word[0] >= '0' && word[0] <= '9' && text[length] == ' ' && text[length + 1] &&
	       text[length + 1] != ' ') {
		word = text + length + 1;
		length += 1 + strcspn(word, " ");
	}
	return length;
}

void wrap__print(FILE *out, const char *text, int indent, int hanging, int width)
{
	const char *blank = "";
	int column = indent;

	fprintf(out, "%*s", indent, "");
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t length = next_piece(text);
		int piece = columns(text, length);

		if (*blank && column + 1 + piece > width) {
			fprintf(out, "\n%*s", indent + hanging, "");
			column = indent + hanging;
			blank = "";
		}
		fprintf(out, "%s%.*s", blank, (int)length, text);
		column += (int)strlen(blank) + piece;
		blank = " ";
		text += length;
	}
	fputc('\n', out);
}
