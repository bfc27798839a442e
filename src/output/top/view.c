// SPDX-License-Identifier: BSD-2-Clause
// Keys of `gpuprobe top`, see view.h.
#include "output/top/view.h"

#include <stdlib.h>
#include <string.h>

#define LONGEST_INTERVAL 86400.0
#define COLUMN_STEP 8 /* columns that an arrow moves a page by */

struct top_order top_view__order(const struct top_view *view)
{
	return (struct top_order){
		.sort = view->sort,
		.reverse = view->reverse,
		.tree = view->tree,
		.filter = view->filter,
		.user = view->user,
	};
}

/* --- the cursor --- */

static void choose(struct top_view *view, const struct top_list *list, size_t row)
{
	if (!list->count)
		return;
	view->row = row < list->count ? row : list->count - 1;
	view->pid = list->rows[view->row].process->pid;
	view->start_ns = list->rows[view->row].process->start_ns;
}

static void scroll_to(struct top_view *view, size_t count, size_t rows)
{
	if (view->row < view->first)
		view->first = view->row;
	if (rows && view->row >= view->first + rows)
		view->first = view->row - rows + 1;
	/* No empty rows at the end while there are rows above. */
	if (view->first + rows > count)
		view->first = count > rows ? count - rows : 0;
}

void top_view__settle(struct top_view *view, const struct top_list *list, size_t rows)
{
	/* In the first row the cursor is at the top of the order, whichever process that is. */
	size_t row = view->row ? top_list__find(list, view->pid, view->start_ns) : 0;

	choose(view, list, row < list->count ? row : view->row);
	scroll_to(view, list->count, rows);
}

static size_t less(size_t from, size_t by)
{
	return from > by ? from - by : 0;
}

/* Where a key leads from `at`, in a list of `count`, of which `page` are shown. */
static size_t moved(int key, size_t at, size_t count, size_t page)
{
	switch (key) {
	case TOP_KEY_UP: return less(at, 1);
	case TOP_KEY_DOWN: return at + 1;
	case TOP_KEY_PAGE_UP: return less(at, page ? page : 1);
	case TOP_KEY_PAGE_DOWN: return at + (page ? page : 1);
	case TOP_KEY_HOME: return 0;
	case TOP_KEY_END: return count;
	default: return at;
	}
}

/* --- typing --- */

static void ask(struct top_view *view, enum top_prompt prompt, const char now[TOP_INPUT_SIZE])
{
	view->prompt = prompt;
	memcpy(view->input, now, TOP_INPUT_SIZE);
}

static enum top_action take_interval(struct top_view *view)
{
	char *end;
	double interval = strtod(view->input, &end);

	/* The comparison also refuses a number that is none (NaN). */
	if (end == view->input || *end || !(interval >= TOP_LEAST_INTERVAL) ||
	    interval > LONGEST_INTERVAL) {
		view->mistake = "an interval is 0.1 to 86400 seconds";
		return TOP_DRAW;
	}
	view->interval = interval;
	return TOP_NEW_INTERVAL;
}

static enum top_action end_typing(struct top_view *view)
{
	enum top_prompt prompt = view->prompt;

	view->prompt = TOP_NO_PROMPT;
	switch (prompt) {
	case TOP_ASKS_FILTER: memcpy(view->filter, view->input, TOP_INPUT_SIZE); break;
	case TOP_ASKS_USER: memcpy(view->user, view->input, TOP_INPUT_SIZE); break;
	case TOP_ASKS_INTERVAL: return take_interval(view);
	default: break;
	}
	return TOP_DRAW;
}

/* Characters come byte by byte. */
static enum top_action type(struct top_view *view, int key)
{
	size_t length = strlen(view->input);

	if (key == TOP_KEY_ENTER)
		return end_typing(view);
	if (key == TOP_KEY_ESCAPE)
		view->prompt = TOP_NO_PROMPT;
	/* A character of several bytes goes as a whole. */
	if (key == TOP_KEY_BACKSPACE) {
		while (length && ((unsigned char)view->input[--length] & 0xc0) == 0x80)
			;
		view->input[length] = '\0';
	} else if (key >= ' ' && key < 256 && key != 127 && length + 1 < sizeof(view->input)) {
		view->input[length] = (char)key;
		view->input[length + 1] = '\0';
	}
	return TOP_DRAW;
}

/* --- keys --- */

/* What leads to another reading of a recording; TOP_DRAW: nothing. On pages, arrows scroll. */
static enum top_action step_of(const struct top_view *view, int key)
{
	bool table = view->mode == TOP_TABLE;

	if (!view->recorded)
		return TOP_DRAW;
	switch (key) {
	case '[': return TOP_PREVIOUS_READING;
	case ']': return TOP_NEXT_READING;
	case TOP_KEY_LEFT: return table ? TOP_PREVIOUS_READING : TOP_DRAW;
	case TOP_KEY_RIGHT: return table ? TOP_NEXT_READING : TOP_DRAW;
	case TOP_KEY_HOME: return table ? TOP_FIRST_READING : TOP_DRAW;
	case TOP_KEY_END: return table ? TOP_LAST_READING : TOP_DRAW;
	default: return TOP_DRAW;
	}
}

/* The letter that does the same as a function key. */
static int letter_of(int key)
{
	switch (key) {
	case TOP_KEY_F1: return 'h';
	case TOP_KEY_F4: return '/';
	case TOP_KEY_F5: return 't';
	case TOP_KEY_F10: return 'q';
	default: return key;
	}
}

static void sort_by(struct top_view *view, enum top_sort sort)
{
	view->sort = sort;
	view->tree = false;
}

/* What the keys of every mode do. Returns whether it is one of them. */
static bool change(struct top_view *view, int key)
{
	switch (key) {
	case ' ': view->paused = !view->paused; return true;
	case 'd':
		if (view->recorded)
			return false;
		ask(view, TOP_ASKS_INTERVAL, (const char[TOP_INPUT_SIZE]){""});
		return true;
	case 'h':
	case '?':
		view->mode = TOP_HELP;
		view->line = view->column = 0;
		return true;
	default: return false;
	}
}

static void change_gpus(struct top_view *view)
{
	view->gpus = view->gpus_folded ? TOP_GPUS_EACH : TOP_GPUS_FOLDED;
	view->gpus_folded = !view->gpus_folded;
}

static void change_table(struct top_view *view, int key)
{
	switch (key) {
	case 'M': sort_by(view, TOP_BY_MEMORY); break;
	case 'G': sort_by(view, TOP_BY_GROWTH); break;
	case 'L': sort_by(view, TOP_BY_LAUNCHES); break;
	case 'W': sort_by(view, TOP_BY_WAIT); break;
	case 'C': sort_by(view, TOP_BY_COPIES); break;
	case 'N': sort_by(view, TOP_BY_PID); break;
	case '>': sort_by(view, (view->sort + 1) % TOP_SORTS); break;
	case '<': sort_by(view, (view->sort + TOP_SORTS - 1) % TOP_SORTS); break;
	case 'r': view->reverse = !view->reverse; break;
	case 't': view->tree = !view->tree; break;
	case 'p': view->full_path = !view->full_path; break;
	case '1': change_gpus(view); break;
	case 'u': ask(view, TOP_ASKS_USER, view->user); break;
	case '/': ask(view, TOP_ASKS_FILTER, view->filter); break;
	case TOP_KEY_ESCAPE: view->filter[0] = view->user[0] = '\0'; break;
	default: break;
	}
}

static enum top_action key_of_table(struct top_view *view, int key, const struct top_list *list,
				    size_t rows)
{
	if (key == TOP_KEY_ENTER && list->count) {
		view->mode = TOP_PROCESS;
		view->line = view->column = 0;
		return TOP_LOOK;
	}
	if (key >= TOP_KEY_UP && key <= TOP_KEY_END)
		choose(view, list, moved(key, view->row, list->count, rows));
	else
		change_table(view, key);
	return TOP_DRAW;
}

static void key_of_page(struct top_view *view, int key, size_t rows, size_t lines)
{
	size_t last = less(lines, rows);

	if (key == 'q' || key == TOP_KEY_ESCAPE || (view->mode == TOP_HELP && key == 'h'))
		view->mode = TOP_TABLE;
	else if (key == TOP_KEY_RIGHT)
		view->column += COLUMN_STEP;
	else if (key == TOP_KEY_LEFT)
		view->column = less(view->column, COLUMN_STEP);
	else
		view->line = moved(key, view->line, last, rows);
	if (view->line > last)
		view->line = last;
}

enum top_action top_view__key(struct top_view *view, int key, const struct top_list *list,
			      size_t rows, size_t lines)
{
	enum top_action step = view->prompt ? TOP_DRAW : step_of(view, key);

	view->mistake = NULL;
	if (view->prompt)
		return type(view, key);
	if (step != TOP_DRAW)
		return step;
	key = letter_of(key);
	if (view->mode != TOP_TABLE) {
		key_of_page(view, key, rows, lines);
		if (key == ' ' || key == 'd')
			change(view, key);
		return TOP_DRAW;
	}
	if (key == 'q')
		return TOP_QUIT;
	return change(view, key) ? TOP_DRAW : key_of_table(view, key, list, rows);
}
