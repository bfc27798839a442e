// SPDX-License-Identifier: BSD-2-Clause
// Lines with their styles, see page.h.
#include "output/top/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text_stream.h"
#include "output/top/text.h"

void top_page__clear(struct top_page *page)
{
	for (size_t i = 0; i < page->count; i++)
		free(page->lines[i].text);
	free(page->lines);
	*page = (struct top_page){0};
}

/* Takes the text over, also if it fails. */
static int add(struct top_page *page, enum top_style style, char *text)
{
	const struct top_line line = {.text = text, .style = style};

	if (text && page->count < TOP_LINES_MAX && !ARRAY_APPEND(page->lines, page->count, line))
		return 0;
	free(text);
	return text && page->count == TOP_LINES_MAX ? 0 : -ENOMEM;
}

int top_page__add(struct top_page *page, enum top_style style,
		  void (*write)(FILE *out, const void *arg), const void *arg)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return -ENOMEM;
	write(out, arg);
	if (fclose(out))
		return -ENOMEM;
	text[strcspn(text, "\n")] = '\0';
	return add(page, style, text);
}

int top_page__add_text(struct top_page *page, enum top_style style, const char *text)
{
	return add(page, style, strdup(text));
}

int top_page__add_lines(struct top_page *page, const char *text)
{
	int ret = 0;

	while (*text && !ret) {
		size_t length = strcspn(text, "\n");

		ret = add(page, *text == ' ' || !length ? TOP_PLAIN : TOP_TITLE,
			  strndup(text, length));
		text += length + (text[length] == '\n');
	}
	return ret;
}

static void print_line(FILE *out, const char *text, int width)
{
	size_t length = strlen(text);

	if (width && top_text__columns(text, TOP_ESCAPED) > width) {
		top_text__line(out, text, 0, width);
		fputc('\n', out);
		return;
	}
	while (length && text[length - 1] == ' ')
		length--;
	fprintf(out, "%.*s\n", (int)length, text);
}

void top_page__print(FILE *out, const struct top_page *page, int width)
{
	for (size_t i = 0; i < page->count; i++)
		print_line(out, page->lines[i].text, width);
}
