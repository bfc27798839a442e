/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a trace as text: a table, tab-separated values, or JSON, one object a line. Text is
 * buffered until the buffer is full or flushed. Formatting allocates no memory, except for a stack
 * that is seen for the first time.
 */
#ifndef OUTPUT_TRACE_OUTPUT_H
#define OUTPUT_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/quantity.h"
#include "output/trace/column_list.h"
#include "trace/line.h"

enum trace_format {
	TRACE_TABLE = 0,
	TRACE_TSV,
	TRACE_JSON
};

enum trace_timestamps {
	TIMESTAMPS_RELATIVE = 0, /* milliseconds since the beginning: 1234.018 */
	TIMESTAMPS_WALL,	 /* local time of day: 14:02:11.123456 */
	TIMESTAMPS_ISO,		 /* 2026-11-22T14:02:11.123456789Z */
	TIMESTAMPS_NS,		 /* CLOCK_BOOTTIME nanoseconds */
	TIMESTAMPS_DELTA,	 /* milliseconds since the line before */
};

/* column_list.h has the words of -o and the keys of JSON. */
enum trace_column {
#define COLUMN_ID(id, ...) COLUMN_##id,
	TRACE_COLUMNS(COLUMN_ID, COLUMN_ID)
#undef COLUMN_ID
	COLUMN_COUNT,
};

struct trace_output_options {
	enum trace_format format;
	enum trace_timestamps timestamps;
	enum trace_column columns[COLUMN_COUNT];
	size_t column_count; /* 0: the format's default, with fewer columns on a narrow terminal */
	bool adds_stack;     /* add the stack to the default columns */
	/* only in the table without the column: lines below the call, see folded_stack.h */
	bool stack_below;
	bool all_frames;	 /* with stack_below: a line for every frame */
	enum quantity_form form; /* of amounts in the table */
	/* of the terminal, in columns, which no line exceeds; 0: no terminal, nothing is cut */
	unsigned int width;
	bool color;
	bool entry_return;
	/* The user has named one process: a narrow terminal shows no pid until there are others. */
	bool one_process;
	/* set with the default columns: there is no room for `result`, whose column is last */
	bool result_below;
	uint64_t begin_ns;	/* CLOCK_BOOTTIME of time 0 */
	int64_t wall_offset_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME */
	/* of uname(2), for trace_output__header; must live until then; NULL: unknown */
	const char *host, *kernel;
};

struct trace_output;

/*
 * Parses "time,pid,event" into `options`. Returns 0, or -EINVAL with a message that names the word
 * that is unknown or repeated.
 */
int trace_output__parse_columns(struct trace_output_options *options, const char *text,
				struct error *err);

/*
 * The caller keeps ownership of `fd`, and must survive SIGPIPE if it may be a pipe. Returns 0 or
 * -ENOMEM.
 */
int trace_output__new(int fd, const struct trace_output_options *options, struct trace_output **out,
		      struct error *err);
void trace_output__free(struct trace_output *output); /* drops unflushed text */

/*
 * While `fd` is readable, the output does not wait for a stalled reader: lines accumulate in
 * memory, and flush leaves them there. -1, the default: it always waits.
 */
void trace_output__stop_by(struct trace_output *output, int fd);

/* Writes the line of column names, or in JSON the line that tells of the beginning and units. */
int trace_output__header(struct trace_output *output);

/*
 * Appends a line. Returns 0, or the negative errno of a failed write (-EPIPE: the reader has gone;
 * -ENOSPC), after which nothing more is written.
 */
int trace_output__line(struct trace_output *output, const struct trace_line *line);

/* Writes the buffer. Returns as trace_output__line. */
int trace_output__flush(struct trace_output *output);

/*
 * Sets the terminal's width from the next line on. Writes a new line of names if the columns
 * change.
 */
void trace_output__set_width(struct trace_output *output, unsigned int width);

/*
 * Calls whose lines were completely written to the descriptor, each counted once with its last
 * line, which is LINE_CALL, LINE_RESUMED, LINE_UNFINISHED or LINE_UNFOLLOWED. With
 * options.entry_return each counts with its first line, because the second one may be lost.
 */
uint64_t trace_output__written(const struct trace_output *output);

/* Prints the schema of TRACE_JSON, a JSON Schema document with its version. */
void trace_output__print_json_schema(FILE *out);

#endif
