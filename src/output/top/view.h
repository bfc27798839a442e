/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the person at `gpuprobe top` has chosen to see, and what each key changes of it. Nothing
 * here knows of a terminal.
 */
#ifndef OUTPUT_TOP_VIEW_H
#define OUTPUT_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/quantity.h"
#include "output/top/list.h"

/* Keys that are no characters. */
enum top_key {
	TOP_KEY_UP = 0x110000, /* above all characters */
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_ESCAPE,
	TOP_KEY_BACKSPACE,
	/* as in htop; at a prompt they do nothing */
	TOP_KEY_F1,
	TOP_KEY_F4,
	TOP_KEY_F5,
	TOP_KEY_F10,
	TOP_KEY_OTHER, /* does nothing */
};

enum top_mode {
	TOP_TABLE = 0, /* GPUs and processes */
	TOP_PROCESS,   /* one process */
	TOP_HELP,
};

/* What is being typed in the bottom line. */
enum top_prompt {
	TOP_NO_PROMPT = 0,
	TOP_ASKS_FILTER,
	TOP_ASKS_USER,
	TOP_ASKS_INTERVAL,
};

enum top_gpus {
	TOP_GPUS_BY_ROOM = 0, /* a line each, if they leave enough room for processes */
	TOP_GPUS_EACH,
	TOP_GPUS_FOLDED, /* one line for all */
};

/* What the owner has to do after a key. */
enum top_action {
	TOP_DRAW = 0,
	TOP_QUIT,
	TOP_LOOK,	  /* a process was opened: read what its page needs */
	TOP_NEW_INTERVAL, /* view.interval has changed */
	/* Of a recording: show another reading. */
	TOP_FIRST_READING,
	TOP_PREVIOUS_READING,
	TOP_NEXT_READING,
	TOP_LAST_READING,
};

#define TOP_INPUT_SIZE 64
#define TOP_LEAST_INTERVAL 0.1

struct top_view {
	double interval; /* seconds between readings */
	bool recorded;	 /* keys go through the readings of a recording */
	/* which of them is shown: "reading 12 of 60, 11.0 s"; empty: live */
	char moment[96];
	enum top_mode mode;
	enum top_sort sort;
	enum top_gpus gpus;
	bool gpus_folded; /* what the caller has shown: top_table__folds_gpus */
	bool reverse, tree, paused, full_path;
	enum quantity_form form; /* by the command line */
	bool full_names;	 /* of kernels; the same */
	char filter[TOP_INPUT_SIZE], user[TOP_INPUT_SIZE];
	enum top_prompt prompt;
	char input[TOP_INPUT_SIZE];
	const char *mistake; /* what is wrong with the latest input; NULL: nothing */
	/* the process under the cursor, or the one that is open; pid 0: the first row */
	int32_t pid;
	uint64_t start_ns;
	size_t row;   /* where it was last seen in the list */
	size_t first; /* the first row of the table that is shown */
	/* of the page of a process, or of the help: the first line and column that are shown */
	size_t line, column;
};

/*
 * Takes a key in. `rows` is the number of rows of the table, or of lines of a page, that the
 * terminal has room for; `lines` the number of lines of the page that is open.
 */
enum top_action top_view__key(struct top_view *view, int key, const struct top_list *list,
			      size_t rows, size_t lines);

/*
 * Finds the chosen process in a new list, or chooses the one at its index if it is gone, and
 * scrolls so that it is among the `rows` that are shown. A cursor in the first row stays there.
 */
void top_view__settle(struct top_view *view, const struct top_list *list, size_t rows);

/* The order of the list; it points into the view. */
struct top_order top_view__order(const struct top_view *view);

#endif
