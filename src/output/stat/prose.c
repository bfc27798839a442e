// SPDX-License-Identifier: BSD-2-Clause
// Wraps sentences, see prose.h.
#include "output/stat/prose.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_stream.h"
#include "base/width.h"
#include "output/trace/text.h"
#include "output/wrap.h"

#define HANGING 2

FILE *stat_prose__begin(struct stat_prose *prose, FILE *out)
{
	FILE *text;

	*prose = (struct stat_prose){.out = out};
	text = text_stream__open(&prose->buffer, &prose->length);
	return text ? text : out;
}

static size_t indent_of(const char *line)
{
	return strspn(line, " ");
}

/* The end of the sentence that begins with `line`: behind its last line. */
static char *end_of(char *line, size_t width)
{
	char *end = strchr(line, '\n') + 1;

	while (width < STAT_WIDTH && *line != '\n' && *end && *end != '\n' &&
	       indent_of(end) == indent_of(line) + HANGING)
		end = strchr(end, '\n') + 1;
	return end;
}

/* Joins the lines from `line` up to `end`, and prints them. */
static void print_sentence(FILE *out, char *line, char *end, size_t width)
{
	size_t indent = indent_of(line);

	end[-1] = '\0';
	if (width__columns(line, (size_t)(end - 1 - line)) <= width && !strchr(line, '\n')) {
		fprintf(out, "%s\n", line);
		return;
	}
	for (char *c = line; (c = strchr(c, '\n')); c++)
		*c = ' ';
	wrap__print(out, line + indent, (int)indent, HANGING, (int)width);
}

void stat_prose__end(struct stat_prose *prose, FILE *text, const struct stat_report *report)
{
	size_t width = stat__width(report);

	if (text == prose->out || fclose(text))
		return;
	for (char *line = prose->buffer, *end; *line; line = end) {
		end = end_of(line, width);
		print_sentence(prose->out, line, end, width);
	}
	free(prose->buffer);
}
