// SPDX-License-Identifier: BSD-2-Clause
// Text in a limited number of columns, see clip.h.
#include "output/clip.h"

#include <string.h>

#include "base/escape.h"
#include "base/width.h"

#define CUT "\xe2\x80\xa6" /* an ellipsis, one column */

static struct width_piece first_piece(const char *text)
{
	return width__first(text, strnlen(text, 4), WIDTH_RAW);
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
		struct width_piece piece = first_piece(text);

		columns += piece.columns;
		text += piece.bytes;
	}
	return columns;
}

/* What of a text is written: its first bytes, and those from `end` on. */
struct halves {
	size_t begin, end;
	int columns; /* of both, excluding the mark of the cut */
};

static struct width_piece beginning_of(const char *text, int columns)
{
	struct width_piece kept = {0}, next;

	for (; text[kept.bytes]; kept.bytes += next.bytes) {
		next = first_piece(text + kept.bytes);
		if (kept.columns + next.columns > columns)
			break;
		kept.columns += next.columns;
	}
	return kept;
}

/* What precedes the end of a text of `all` columns. No end begins with a combining mark. */
static struct width_piece before_end_of(const char *text, int all, int columns)
{
	struct width_piece passed = {0}, next;

	for (; text[passed.bytes]; passed.bytes += next.bytes) {
		next = first_piece(text + passed.bytes);
		if (next.columns && all - passed.columns <= columns)
			break;
		passed.columns += next.columns;
	}
	return passed;
}

/* For a text of `all` columns, which are too many. */
static struct halves halves_of(const char *text, int all, int columns)
{
	int room = columns - 1;
	struct width_piece first = beginning_of(text, room - room / 2),
			   passed = before_end_of(text, all, room / 2);

	return (struct halves){.begin = first.bytes,
			       .end = passed.bytes,
			       .columns = first.columns + all - passed.columns};
}

int clip__columns_of(const char *text, int columns)
{
	int all = clip__columns(text);

	return all <= columns ? all : halves_of(text, all, columns).columns + 1;
}

void clip__print(FILE *out, const char *text, int columns)
{
	int all = clip__columns(text);
	struct halves halves;

	if (all <= columns) {
		escape__text(out, text);
		return;
	}
	halves = halves_of(text, all, columns);
	for (size_t at = 0; at < halves.begin;) {
		struct width_piece piece = first_piece(text + at);

		put_piece(out, text + at, piece.bytes);
		at += piece.bytes;
	}
	fputs(CUT, out);
	escape__text(out, text + halves.end);
}
