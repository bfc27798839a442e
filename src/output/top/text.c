// SPDX-License-Identifier: BSD-2-Clause
// Text as wide as a terminal shows it, see text.h.
#include "output/top/text.h"

#include <langinfo.h>
#include <limits.h>
#include <string.h>
#include <wchar.h>

#include "base/escape.h"
#include "base/width.h"

#define MOST_MARKS 2 /* characters without a column behind one character */

/* The next character of a text, as it is written. */
struct piece {
	char text[8];
	size_t bytes; /* of the source */
	int columns;
};

/* A walk over a text. */
struct walk {
	const char *at;
	enum top_text_form form;
	bool utf8;
	int marks; /* without a column, in a row */
};

static struct walk begin(const char *text, enum top_text_form form)
{
	return (struct walk){
		.at = text ? text : "",
		.form = form,
		.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};
}

/* Whether the terminal shows the character: ncurses writes none that the locale does not know. */
static bool is_shown(const char *text, size_t bytes)
{
	mbstate_t state = {0};
	wchar_t character;

	return mbrtowc(&character, text, bytes, &state) == bytes && wcwidth(character) >= 0;
}

static struct piece escaped_byte(const char *at)
{
	static const char controls[] = "\n\t\r", letters[] = "ntr";
	const char *control = strchr(controls, *at);
	struct piece piece = {.bytes = 1};

	if (control)
		snprintf(piece.text, sizeof(piece.text), "\\%c", letters[control - controls]);
	else
		snprintf(piece.text, sizeof(piece.text), "\\x%02x", (unsigned char)*at);
	piece.columns = (int)strlen(piece.text);
	return piece;
}

static struct piece character(struct walk *walk, size_t bytes)
{
	struct width_piece width = width__first(walk->at, bytes, WIDTH_ESCAPED);
	struct piece piece = {.bytes = bytes, .columns = width.columns};

	if (bytes > 1 && !walk->utf8) {
		strcpy(piece.text, "?");
		piece.columns = 1;
		return piece;
	}
	if (bytes > 1 && !is_shown(walk->at, bytes))
		return escaped_byte(walk->at);
	memcpy(piece.text, walk->at, bytes);
	if (!piece.columns && walk->marks == MOST_MARKS)
		piece.text[0] = '\0';
	walk->marks = piece.columns ? 0 : walk->marks + !!piece.text[0];
	return piece;
}

/* Takes the next piece. Returns false at the end of the text. */
static bool next(struct walk *walk, struct piece *piece)
{
	size_t bytes;

	if (!*walk->at)
		return false;
	bytes = escape__printable(walk->at, strnlen(walk->at, 4));
	*piece = bytes ? character(walk, bytes) : escaped_byte(walk->at);
	if (walk->form == TOP_RAW && *walk->at == '\\') {
		strcpy(piece->text, "\\\\");
		piece->columns = 2;
	}
	walk->at += piece->bytes;
	return true;
}

int top_text__columns(const char *text, enum top_text_form form)
{
	struct walk walk = begin(text, form);
	struct piece piece;
	int columns = 0;

	while (columns < INT_MAX - 8 && next(&walk, &piece))
		columns += piece.columns;
	return columns;
}

static const char *ellipsis(const struct walk *walk)
{
	return walk->utf8 ? "\u2026" : "...";
}

static int ellipsis_columns(const struct walk *walk)
{
	return walk->utf8 ? 1 : 3;
}

/* Writes pieces that fit into `columns`; returns the columns that they take. */
static int put_head(FILE *out, struct walk *walk, int columns)
{
	struct walk before = *walk;
	struct piece piece;
	int taken = 0;

	while (next(walk, &piece)) {
		if (taken + piece.columns > columns)
			break;
		fputs(piece.text, out);
		taken += piece.columns;
		before = *walk;
	}
	*walk = before;
	return taken;
}

/* Leaves out pieces until at most `columns` of the `left` columns are left; returns these. */
static int skip(struct walk *walk, int left, int columns)
{
	struct piece piece;

	while (left > columns && next(walk, &piece))
		left -= piece.columns;
	return left;
}

static int put_cut(FILE *out, const char *text, int whole, int columns)
{
	struct walk walk = begin(text, TOP_RAW);
	int room = columns - ellipsis_columns(&walk), head, tail;

	/* A cell of some columns has no room for an ellipsis. */
	if (room < 2)
		return put_head(out, &walk, columns);
	head = put_head(out, &walk, room - room / 2);
	fputs(ellipsis(&walk), out);
	tail = skip(&walk, whole - head, room - head);
	put_head(out, &walk, tail);
	return head + ellipsis_columns(&walk) + tail;
}

void top_text__cell(FILE *out, const char *text, int columns, bool left)
{
	int whole = top_text__columns(text, TOP_RAW);
	struct walk walk = begin(text, TOP_RAW);

	if (whole > columns)
		fprintf(out, "%*s", columns - put_cut(out, text, whole, columns), "");
	if (whole <= columns && !left)
		fprintf(out, "%*s", columns - whole, "");
	if (whole <= columns)
		put_head(out, &walk, whole);
	if (whole <= columns && left)
		fprintf(out, "%*s", columns - whole, "");
}

void top_text__line(FILE *out, const char *line, int from, int columns)
{
	int whole = top_text__columns(line, TOP_ESCAPED);
	struct walk walk = begin(line, TOP_ESCAPED);

	whole = skip(&walk, whole, whole - from);
	if (whole <= columns) {
		put_head(out, &walk, columns);
		return;
	}
	put_head(out, &walk, columns - ellipsis_columns(&walk));
	fputs(columns >= ellipsis_columns(&walk) ? ellipsis(&walk) : "", out);
}
