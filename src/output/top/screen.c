// SPDX-License-Identifier: BSD-2-Clause
// The terminal, see screen.h. Only this file knows ncurses.
#include "output/top/screen.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define NCURSES_NOMACROS
#include <ncurses.h>

#include "base/text_stream.h"
#include "output/top/text.h"
#include "output/top/view.h"

#define ESCAPE 27
#define ESCAPE_MS 25 /* a key's sequence comes at once; the key Escape comes alone */

enum color {
	COLOR_OF_COLUMNS = 1,
	COLOR_OF_SELECTED,
	COLOR_OF_WARNING,
	COLOR_OF_CRITICAL,
};

struct top_screen {
	SCREEN *curses;
	bool colored;
};

/* --- setting up --- */

/* A terminal's description is a file that its user may choose; gpuprobe's rights are not for it. */
static void distrust_environment(void)
{
	static const char *const names[] = {"TERMINFO", "TERMINFO_DIRS", "TERMCAP", "TERMPATH",
					    "HOME"};

	for (size_t i = 0; getauxval(AT_SECURE) && i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
}

static bool wants_color(void)
{
	const char *refused = getenv("NO_COLOR");

	return !(refused && *refused) && has_colors();
}

static void set_colors(struct top_screen *screen)
{
	screen->colored = wants_color() && start_color() == OK;
	if (!screen->colored)
		return;
	use_default_colors();
	init_pair(COLOR_OF_COLUMNS, COLOR_BLACK, COLOR_GREEN);
	init_pair(COLOR_OF_SELECTED, COLOR_BLACK, COLOR_CYAN);
	init_pair(COLOR_OF_WARNING, COLOR_YELLOW, -1);
	init_pair(COLOR_OF_CRITICAL, COLOR_RED, -1);
}

/* Ctrl-S would stop the terminal, and gpuprobe with it. */
static void ignore_flow_control(void)
{
	struct termios terminal;

	if (tcgetattr(STDIN_FILENO, &terminal))
		return;
	terminal.c_iflag &= ~(tcflag_t)IXON;
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
}

int top_screen__new(struct top_screen **out, struct error *err)
{
	const char *terminal = getenv("TERM");
	struct top_screen *screen = calloc(1, sizeof(*screen));

	if (!screen)
		return error__set(err, -ENOMEM, "out of memory");
	distrust_environment();
	screen->curses = newterm(NULL, stdout, stdin);
	if (!screen->curses) {
		free(screen);
		return error__set(err, -ENOTSUP,
				  "cannot use the terminal '%.60s': set TERM to a terminal that "
				  "this machine knows, or use -b",
				  terminal ? terminal : "");
	}
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	ignore_flow_control();
	def_prog_mode();
	nodelay(stdscr, true);
	keypad(stdscr, true);
	curs_set(0);
	set_colors(screen);
	*out = screen;
	return 0;
}

void top_screen__free(struct top_screen *screen)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen->curses);
	free(screen);
}

/* --- size --- */

void top_screen__resized(struct top_screen *screen)
{
	struct winsize size;

	(void)screen;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(stdscr, true);
}

int top_screen__width(const struct top_screen *screen)
{
	(void)screen;
	return getmaxx(stdscr);
}

int top_screen__height(const struct top_screen *screen)
{
	(void)screen;
	return getmaxy(stdscr);
}

/* --- drawing --- */

static attr_t attribute_of(const struct top_screen *screen, enum top_style style)
{
	bool colored = screen->colored;

	switch (style) {
	case TOP_TITLE: return A_BOLD;
	case TOP_COLUMNS: return colored ? (attr_t)COLOR_PAIR(COLOR_OF_COLUMNS) : A_REVERSE;
	case TOP_SELECTED: return colored ? (attr_t)COLOR_PAIR(COLOR_OF_SELECTED) : A_REVERSE;
	case TOP_FAINT: return A_DIM;
	case TOP_WARNING: return colored ? (attr_t)COLOR_PAIR(COLOR_OF_WARNING) : A_BOLD;
	case TOP_CRITICAL: return colored ? (attr_t)COLOR_PAIR(COLOR_OF_CRITICAL) : A_BOLD;
	default: return A_NORMAL;
	}
}

static void draw_line(const struct top_screen *screen, int row, const struct top_line *line,
		      size_t column)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = text_stream__open(&text, &length);

	if (!out)
		return;
	top_text__line(out, line->text, (int)column, getmaxx(stdscr));
	if (fclose(out))
		return;
	attrset((int)attribute_of(screen, line->style));
	mvaddstr(row, 0, text);
	if (line->style == TOP_COLUMNS || line->style == TOP_SELECTED)
		mvchgat(row, 0, -1, attribute_of(screen, line->style),
			(short)PAIR_NUMBER(attribute_of(screen, line->style)), NULL);
	free(text);
}

/* A terminal that takes nothing would hold gpuprobe up. */
static bool takes_output(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) == 1 && out.revents & POLLOUT;
}

void top_screen__draw(struct top_screen *screen, const struct top_page *page, size_t line,
		      size_t column, const char *bottom)
{
	const struct top_line last = {.text = (char *)bottom, .style = TOP_TITLE};
	int height = getmaxy(stdscr);

	if (!takes_output())
		return;
	erase();
	for (int row = 0; row + 1 < height && line + (size_t)row < page->count; row++)
		draw_line(screen, row, &page->lines[line + (size_t)row], column);
	draw_line(screen, height - 1, &last, 0);
	attrset(A_NORMAL);
	refresh();
}

/* --- keys --- */

static int key_of(int key)
{
	switch (key) {
	case KEY_UP: return TOP_KEY_UP;
	case KEY_DOWN: return TOP_KEY_DOWN;
	case KEY_LEFT: return TOP_KEY_LEFT;
	case KEY_RIGHT: return TOP_KEY_RIGHT;
	case KEY_PPAGE: return TOP_KEY_PAGE_UP;
	case KEY_NPAGE: return TOP_KEY_PAGE_DOWN;
	case KEY_HOME: return TOP_KEY_HOME;
	case KEY_END: return TOP_KEY_END;
	case KEY_ENTER:
	case '\r':
	case '\n': return TOP_KEY_ENTER;
	case ESCAPE: return TOP_KEY_ESCAPE;
	case KEY_BACKSPACE:
	case 127:
	case 8: return TOP_KEY_BACKSPACE;
	case KEY_F(1): return TOP_KEY_F1;
	case KEY_F(4): return TOP_KEY_F4;
	case KEY_F(5): return TOP_KEY_F5;
	case KEY_F(10): return TOP_KEY_F10;
	default: return key < 256 ? key : TOP_KEY_OTHER;
	}
}

/*
 * Takes the rest of a key's sequence that the terminal's description does not have, as of Ctrl and
 * an arrow: its letters are not typed. Returns false if the key was Escape.
 */
static bool skip_sequence(void)
{
	int key = getch();

	if (key == 'O') {
		getch();
		return true;
	}
	if (key != '[') {
		if (key != ERR)
			ungetch(key);
		return false;
	}
	do
		key = getch();
	while (key >= ' ' && key < '@');
	return true;
}

int top_screen__key(struct top_screen *screen)
{
	int key = getch();

	(void)screen;
	if (key == ERR)
		return TOP_NO_KEY;
	return key == ESCAPE && skip_sequence() ? TOP_KEY_OTHER : key_of(key);
}

bool top_screen__hung_up(const struct top_screen *screen)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	(void)screen;
	return poll(&in, 1, 0) == 1 && in.revents & (POLLHUP | POLLERR | POLLNVAL);
}
