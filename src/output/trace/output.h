/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines of a trace as text: a table, tab-separated values, or JSON, one
 * object a line. Text gathers in a buffer that is written when it is full or
 * flushed; formatting allocates nothing, but for a stack at its first sight.
 */
#ifndef OUTPUT_TRACE_OUTPUT_H
#define OUTPUT_TRACE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
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

/* The words of -o and the keys of JSON are column_list.h's. */
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
	size_t column_count; /* 0: the format's own choice, on a narrow terminal of fewer */
	bool adds_stack;     /* to the format's own choice the stack */
	unsigned int width;  /* of the terminal, in characters, which no line exceeds; 0: none, nothing is cut */
	bool color;
	bool entry_return;
	uint64_t begin_ns;	/* CLOCK_BOOTTIME of time 0 */
	int64_t wall_offset_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME */
};

struct trace_output;

/*
 * Parses "time,pid,event" into `options`. -EINVAL with a text that names the
 * word that is no column, or is there twice.
 */
int trace_output__parse_columns(struct trace_output_options *options, const char *text, struct error *err);

/* `fd` stays the caller's, who survives SIGPIPE if it may be a pipe. -ENOMEM. */
int trace_output__new(int fd, const struct trace_output_options *options, struct trace_output **out, struct error *err);
void trace_output__free(struct trace_output *output); /* what was not flushed is dropped */

/*
 * While `fd` is readable no reader is waited for that stands still: lines gather in memory, and flush leaves them
 * there. -1, as it is at first: whoever reads is waited for.
 */
void trace_output__stop_by(struct trace_output *output, int fd);

/* The line of column names; none in JSON. */
int trace_output__header(struct trace_output *output);

/*
 * Appends a line. 0, or the negative errno of the write that failed
 * (-EPIPE: the reader has gone; -ENOSPC), after which nothing more is written.
 */
int trace_output__line(struct trace_output *output, const struct trace_line *line);

/* Writes what is in the buffer. As trace_output__line. */
int trace_output__flush(struct trace_output *output);

/* The terminal has another width from the next line on; with a new line of names where columns come or go. */
void trace_output__set_width(struct trace_output *output, unsigned int width);

/*
 * Calls whose lines have reached the descriptor whole, each counted once: with
 * its last line, which is LINE_CALL, LINE_RESUMED, LINE_UNFINISHED or LINE_UNFOLLOWED; or, with
 * options.entry_return, with its first, which stands for it as the second may
 * be lost.
 */
uint64_t trace_output__written(const struct trace_output *output);

/* The schema of TRACE_JSON, a JSON Schema document with its version. */
void trace_output__print_json_schema(FILE *out);

#endif
