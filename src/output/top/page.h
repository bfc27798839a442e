/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `gpuprobe top` shows: lines of text, each with a style. The screen draws a page, and -b
 * prints it; neither knows what is in it. All text is escaped.
 */
#ifndef OUTPUT_TOP_PAGE_H
#define OUTPUT_TOP_PAGE_H

#include <stddef.h>
#include <stdio.h>

enum top_style {
	TOP_PLAIN = 0,
	TOP_TITLE,    /* heads what follows */
	TOP_COLUMNS,  /* the heads of columns */
	TOP_SELECTED, /* the row under the cursor */
	TOP_FAINT,    /* of a process that has ended */
	TOP_WARNING,
	TOP_CRITICAL,
};

struct top_line {
	char *text;
	enum top_style style;
};

#define TOP_LINES_MAX 20000 /* lines beyond are left out */

/* All 0 at first. */
struct top_page {
	struct top_line *lines;
	size_t count;
};

void top_page__clear(struct top_page *page);

/*
 * Adds a line of what `write` writes; a newline ends it. 0 or -ENOMEM: the page lacks the line.
 */
int top_page__add(struct top_page *page, enum top_style style,
		  void (*write)(FILE *out, const void *arg), const void *arg);

/* The same with the text. */
int top_page__add_text(struct top_page *page, enum top_style style, const char *text);

/*
 * Adds all lines of a text. Lines that begin with a blank are plain, the others are titles. 0 or
 * -ENOMEM.
 */
int top_page__add_lines(struct top_page *page, const char *text);

/*
 * Writes the lines, without blanks at their ends. What has no room in `width` columns is cut off;
 * 0: nothing is.
 */
void top_page__print(FILE *out, const struct top_page *page, int width);

#endif
