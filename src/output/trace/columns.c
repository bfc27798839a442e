// SPDX-License-Identifier: BSD-2-Clause
// The columns of a trace, see columns.h.
#include "output/trace/columns.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/similar.h"

static const struct {
	const char *word, *heading;
	unsigned char width; /* 0: a time, whose width depends on its form */
	unsigned char role;
} rows[COLUMN_COUNT] = {
#define COLUMN_ROW(id, word, width, ...) {word, #id, width, TRACE_NO_ROLE},
#define ARGUMENT_ROW(id, word, width, ...) {word, #id, width, TRACE_##id},
	TRACE_COLUMNS(COLUMN_ROW, ARGUMENT_ROW)
#undef COLUMN_ROW
#undef ARGUMENT_ROW
};

const char *trace_columns__word(enum trace_column column)
{
	return rows[column].word;
}

const char *trace_columns__heading(enum trace_column column)
{
	return rows[column].heading;
}

enum trace_role trace_columns__role(enum trace_column column)
{
	return rows[column].role;
}

static unsigned int time_width(enum trace_timestamps timestamps)
{
	switch (timestamps) {
	case TIMESTAMPS_WALL: return 15;
	case TIMESTAMPS_ISO: return 30;
	case TIMESTAMPS_NS: return 16;
	default: return 10;
	}
}

unsigned int trace_columns__width(enum trace_column column, enum trace_timestamps timestamps)
{
	return rows[column].width ? rows[column].width : time_width(timestamps);
}

unsigned int trace_columns__limit(enum trace_column column)
{
	switch (column) {
	case COLUMN_PROCESS: return 24;
	case COLUMN_EVENT:
	case COLUMN_RESULT: return 40;
	case COLUMN_CGROUP:
	case COLUMN_KERNEL:
	case COLUMN_ARGS: return 60;
	case COLUMN_DETAILS: return 120;
	case COLUMN_STACK: return rows[column].width;
	default: return UINT_MAX;
	}
}

bool trace_columns__is_text(enum trace_column column)
{
	return trace_columns__limit(column) != UINT_MAX;
}

/* The width of all columns except the details, with a space between each two. */
static unsigned int width_of_others(const struct trace_output_options *options)
{
	unsigned int width = 0;

	for (size_t i = 0; i < options->column_count; i++) {
		if (options->columns[i] == COLUMN_RESULT && options->result_below)
			continue;
		width += i > 0;
		if (options->columns[i] != COLUMN_DETAILS)
			width += trace_columns__width(options->columns[i], options->timestamps);
	}
	return width;
}

static void set_columns(struct trace_output_options *options, const enum trace_column *columns,
			size_t size)
{
	memcpy(options->columns, columns, size);
	options->column_count = size / sizeof(*columns);
	if (options->adds_stack)
		options->columns[options->column_count++] = COLUMN_STACK;
}

/*
 * Whether a terminal leaves `details` columns to the details. Without a terminal lines have no
 * limit.
 */
static bool has_room(const struct trace_output_options *options, unsigned int details)
{
	return !options->width || options->width >= width_of_others(options) + details;
}

static const enum trace_column usual[] = {COLUMN_TIME,	   COLUMN_PROCESS, COLUMN_PID,
					  COLUMN_TID,	   COLUMN_EVENT,   COLUMN_DETAILS,
					  COLUMN_DURATION, COLUMN_RESULT};

/*
 * Takes away what the reader misses least: names of processes, threads, the result of calls that
 * succeeded, and the process where there is only one. Failures are shown below their calls.
 */
static void choose_table(struct trace_output_options *options)
{
	static const enum trace_column no_process[] = {COLUMN_TIME,    COLUMN_PID,
						       COLUMN_TID,     COLUMN_EVENT,
						       COLUMN_DETAILS, COLUMN_DURATION,
						       COLUMN_RESULT},
				       no_thread[] = {COLUMN_TIME,     COLUMN_PID,
						      COLUMN_EVENT,    COLUMN_DETAILS,
						      COLUMN_DURATION, COLUMN_RESULT},
				       no_pid[] = {COLUMN_TIME, COLUMN_EVENT, COLUMN_DETAILS,
						   COLUMN_DURATION, COLUMN_RESULT},
				       no_details[] = {COLUMN_TIME, COLUMN_PID, COLUMN_EVENT,
						       COLUMN_DURATION, COLUMN_RESULT};

	options->result_below = false;
	set_columns(options, usual, sizeof(usual));
	if (!has_room(options, TRACE_GOOD_DETAILS))
		set_columns(options, no_process, sizeof(no_process));
	if (!has_room(options, TRACE_GOOD_DETAILS))
		set_columns(options, no_thread, sizeof(no_thread));
	/* With --entry-return the result tells the two lines of a call apart. */
	options->result_below = !options->entry_return && !options->adds_stack &&
				!has_room(options, TRACE_GOOD_DETAILS);
	if (!has_room(options, TRACE_GOOD_DETAILS) && options->one_process)
		set_columns(options, no_pid, sizeof(no_pid));
	if (!has_room(options, TRACE_MIN_DETAILS))
		set_columns(options, no_details, sizeof(no_details));
}

void trace_columns__choose(struct trace_output_options *options)
{
	/*
	 * Values that users count, sum or group by have a column, so that nobody has to parse
	 * details for them.
	 */
	static const enum trace_column tsv[] = {COLUMN_TIME,   COLUMN_PROCESS,	COLUMN_PID,
						COLUMN_TID,    COLUMN_EVENT,	COLUMN_DETAILS,
						COLUMN_SIZE,   COLUMN_KIND,	COLUMN_KERNEL,
						COLUMN_STREAM, COLUMN_DURATION, COLUMN_RESULT};

	if (options->format == TRACE_TABLE)
		choose_table(options);
	else if (options->format == TRACE_TSV)
		set_columns(options, tsv, sizeof(tsv));
	else
		set_columns(options, usual, sizeof(usual));
}

static int find_word(const char *text, size_t length)
{
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (strlen(rows[i].word) == length && !memcmp(rows[i].word, text, length))
			return i;
	}
	return -1;
}

static int no_column(const char *text, size_t length, struct error *err)
{
	char list[256] = "", word[32];
	struct similar similar;

	snprintf(word, sizeof(word), "%.*s", (int)(length < sizeof(word) ? length : 0), text);
	similar__begin(&similar, word);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		strncat(list, i ? ", " : "", sizeof(list) - strlen(list) - 1);
		strncat(list, rows[i].word, sizeof(list) - strlen(list) - 1);
		similar__try(&similar, rows[i].word);
	}
	return error__set(err, -EINVAL, "there is no column '%.*s'; there are %s%s%s%s",
			  (int)length, text, list, similar.best ? "; did you mean " : "",
			  similar.best ? similar.best : "", similar.best ? "?" : "");
}

static int add_column(struct trace_output_options *options, const char *text, size_t length,
		      struct error *err)
{
	int column = find_word(text, length);

	if (column < 0)
		return no_column(text, length, err);
	for (size_t i = 0; i < options->column_count; i++) {
		if ((int)options->columns[i] == column)
			return error__set(err, -EINVAL, "the column '%.*s' is there twice",
					  (int)length, text);
	}
	options->columns[options->column_count++] = (enum trace_column)column;
	return 0;
}

static void add_all(struct trace_output_options *options)
{
	for (int i = 0; i < COLUMN_COUNT; i++)
		options->columns[i] = (enum trace_column)i;
	options->column_count = COLUMN_COUNT;
}

int trace_output__parse_columns(struct trace_output_options *options, const char *text,
				struct error *err)
{
	int ret = 0;

	options->column_count = 0;
	if (!strcmp(text, "all")) {
		add_all(options);
		return 0;
	}
	while (!ret) {
		size_t length = strcspn(text, ",");

		ret = add_column(options, text, length, err);
		if (!text[length])
			break;
		text += length + 1;
	}
	if (ret)
		options->column_count = 0;
	return ret;
}
