// SPDX-License-Identifier: BSD-2-Clause
// Text in a limited number of columns, see clip.h.
#include "output/clip.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/escape.h"

#define CUT "..."

/* A character, or a byte that is not part of one. It is written as a whole or not at all. */
struct piece {
	size_t bytes;
	int columns;
};

static struct piece first_piece(const char *text)
{
	size_t length = escape__printable(text, strnlen(text, 4));

	if (length)
		return (struct piece){.bytes = length, .columns = *text == '\\' ? 2 : 1};
	return (struct piece){.bytes = 1, .columns = strchr("\n\t\r", *text) ? 2 : 4};
}

static void put_piece(FILE *out, const char *text, size_t bytes)
{
	char piece[5] = "";

	memcpy(piece, text, bytes);
	escape__text(out, piece);
}

int clip__columns(const char *text)
{
	int columns = 0;

	while (text && *text && columns < INT_MAX - 4) {
		struct piece piece = first_piece(text);

		columns += piece.columns;
		text += piece.bytes;
	}
	return columns;
}

/* How much of the text is written: its bytes and its columns, excluding the mark of a cut. */
static struct piece kept(const char *text, int columns, bool cut)
{
	int room = cut ? columns - (int)strlen(CUT) : columns;
	struct piece kept = {0}, next;

	for (; text && text[kept.bytes]; kept.bytes += next.bytes) {
		next = first_piece(text + kept.bytes);
		if (kept.columns + next.columns > room)
			break;
		kept.columns += next.columns;
	}
	return kept;
}

int clip__columns_of(const char *text, int columns)
{
	bool cut = clip__columns(text) > columns;

	return kept(text, columns, cut).columns + (cut ? (int)strlen(CUT) : 0);
}

void clip__print(FILE *out, const char *text, int columns)
{
	bool cut = clip__columns(text) > columns;
	size_t end = kept(text, columns, cut).bytes;

	for (size_t at = 0; at < end;) {
		struct piece piece = first_piece(text + at);

		put_piece(out, text + at, piece.bytes);
		at += piece.bytes;
	}
	if (cut)
		fputs(CUT, out);
}
