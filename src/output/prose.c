// SPDX-License-Identifier: BSD-2-Clause
// Wraps lines that are too wide, see prose.h.
#include "output/prose.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "base/width.h"
#include "output/wrap.h"

#define HANGING 2
#define LEAST_TEXT 24 /* columns behind a row's head */

static size_t indent_of(const char *line)
{
	return strspn(line, " ");
}

/*
 * Bytes before the text of a row, which is behind the last gap of blanks that leaves enough room.
 * 0: it is no row.
 */
static size_t head_of(const char *line, size_t width)
{
	size_t head = 0, end = indent_of(line);

	for (const char *gap; (gap = strstr(line + end, "  "));) {
		end = (size_t)(gap - line) + strspn(gap, " ");
		if (width__columns(line, end) + LEAST_TEXT > width)
			break;
		head = end;
	}
	return head;
}

static void print_line(FILE *out, const char *line, size_t width)
{
	size_t indent = indent_of(line), head;

	if (width__columns(line, strlen(line)) <= width) {
		fprintf(out, "%s\n", line);
		return;
	}
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
	for (char *line = text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		print_line(out, line, width);
	}
}

FILE *prose__begin(struct prose *prose, FILE *out, size_t width)
{
	FILE *text;

	*prose = (struct prose){.out = out, .width = width};
	text = width ? text_stream__open(&prose->buffer, &prose->length) : NULL;
	return text ? text : out;
}

void prose__end(struct prose *prose, FILE *text)
{
	if (text == prose->out || fclose(text))
		return;
	prose__print(prose->out, prose->buffer, prose->width);
	free(prose->buffer);
}
