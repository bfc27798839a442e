// SPDX-License-Identifier: BSD-2-Clause
// Wraps sentences anew, see prose.h.
#include "output/prose.h"

#include <stdbool.h>
#include <string.h>

#include "base/width.h"
#include "output/wrap.h"

#define HANGING 2

static size_t indent_of(const char *line)
{
	return strspn(line, " ");
}

/* Whether the sentence whose line ends before `next` goes on there. */
static bool goes_on(const char *first, const char *latest, const char *next)
{
	size_t indent = indent_of(next);

	return indent == indent_of(first) + HANGING &&
	       width__columns(latest, (size_t)(next - 1 - latest)) + 1 +
			       wrap__piece(next + indent) >
		       PROSE_WIDTH;
}

/* The end of the sentence that begins with `line`: behind its last line. */
static char *end_of(char *line, size_t width)
{
	char *latest = line, *end = strchr(line, '\n') + 1;

	while (width < PROSE_WIDTH && *line != '\n' && *end && *end != '\n' &&
	       goes_on(line, latest, end)) {
		latest = end;
		end = strchr(end, '\n') + 1;
	}
	return end;
}

/*
 * Bytes before the text of a row: "    copies      24.0/s, ..." has text in a column. 0: it is no
 * row, or there is too little room behind its head.
 */
static size_t head_of(const char *line, size_t width)
{
	const char *gap = strstr(line + indent_of(line), "  ");
	size_t head = gap ? (size_t)(gap - line) + strspn(gap, " ") : 0;

	return width__columns(line, head) <= width / 2 ? head : 0;
}

/* Joins the lines from `line` up to `end`, and prints them. */
static void print_sentence(FILE *out, char *line, char *end, size_t width)
{
	size_t indent = indent_of(line), head;

	end[-1] = '\0';
	if (width__columns(line, (size_t)(end - 1 - line)) <= width && !strchr(line, '\n')) {
		fprintf(out, "%s\n", line);
		return;
	}
	for (char *c = line; (c = strchr(c, '\n')); c++)
		*c = ' ';
	head = head_of(line, width);
	if (!head) {
		wrap__print(out, line + indent, (int)indent, HANGING, (int)width);
		return;
	}
	indent = width__columns(line, head);
	fprintf(out, "%.*s", (int)head, line);
	wrap__continue(out, line + head, (int)indent, (int)indent, (int)width);
}

void prose__print(FILE *out, char *text, size_t width)
{
	for (char *line = text, *end; *line; line = end) {
		end = end_of(line, width);
		print_sentence(out, line, end, width);
	}
}
