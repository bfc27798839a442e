/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal of `gpuprobe top`, by ncurses: draws pages and reads keys. There is one terminal, so
 * there is one screen at a time.
 */
#ifndef OUTPUT_TOP_SCREEN_H
#define OUTPUT_TOP_SCREEN_H

#include <stdbool.h>

#include "base/error.h"
#include "output/top/page.h"

struct top_screen;

#define TOP_NO_KEY (-1)

/*
 * Takes the terminal of standard input and output over. Without colours if NO_COLOR is set and not
 * empty. Returns 0, or a negative errno with a message: then the terminal is as before.
 */
int top_screen__new(struct top_screen **out, struct error *err);

/* Gives the terminal back as it was. NULL ok. */
void top_screen__free(struct top_screen *screen);

/* The terminal's size may have changed, or others may have written to it: draws all anew. */
void top_screen__resized(struct top_screen *screen);

int top_screen__width(const struct top_screen *screen);
int top_screen__height(const struct top_screen *screen);

/*
 * Draws the page's lines from `line` on, each from `column` on, and `bottom`, which is escaped, in
 * the last line. Draws nothing while the terminal takes nothing.
 */
void top_screen__draw(struct top_screen *screen, const struct top_page *page, size_t line,
		      size_t column, const char *bottom);

/* The next key that was pressed, a character or an enum top_key; TOP_NO_KEY: none is left. */
int top_screen__key(struct top_screen *screen);

/* Whether the terminal is gone. */
bool top_screen__hung_up(const struct top_screen *screen);

#endif
