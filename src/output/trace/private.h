/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the formats of a trace; for src/output/trace/ only. */
#ifndef OUTPUT_TRACE_PRIVATE_H
#define OUTPUT_TRACE_PRIVATE_H

#include "output/trace/buffer.h"
#include "output/trace/cache.h"
#include "output/trace/columns.h"
#include "output/trace/field.h"
#include "output/trace/gpu_line.h"
#include "output/trace/line.h"
#include "output/trace/output.h"
#include "output/trace/stacks.h"
#include "output/trace/text.h"
#include "output/trace/time.h"

struct trace_output {
	/* includes the columns that are shown */
	struct trace_output_options options;
	bool chooses; /* the terminal's width decides which columns these are */
	pid_t only;   /* with options.one_process: the process of the lines so far; 0: none yet */
	/* the kernel's name has its own column, so the details of the table and TSV omit it */
	bool has_kernel;
	/* the same for arguments, by role */
	bool shows[TRACE_ROLES];
	bool has_roles; /* views have their arguments by role */
	bool has_cgroup, has_stack;
	/* of the table's columns, in their order: they grow with the values (table.c) */
	unsigned int widths[COLUMN_COUNT], starts[COLUMN_COUNT];
	struct trace_buffer buffer;
	struct trace_time time;
	struct trace_cache cache;
	struct trace_stacks stacks;
};

/* A line while it is formatted. */
struct trace_view {
	struct trace_output *output; /* writes the line */
	const struct trace_line *line;
	const struct trace_process_text *process; /* NULL in LINE_LOST, like the function */
	struct trace_function_text *function; /* of LINE_GPU: a constant */
	const struct trace_stack_text *stack;		/* if output->has_stack; NULL: unknown */
	const struct trace_field *by_role[TRACE_ROLES]; /* if output->has_roles */
};

/* --- the formats: each writes a line including its newline and returns the end of it --- */

void trace_table__layout(struct trace_output *output);
char *trace_table__header(struct trace_output *output, char *at);
char *trace_table__line(struct trace_output *output, const struct trace_view *view, char *at);

char *trace_tsv__header(struct trace_output *output, char *at);
char *trace_tsv__line(struct trace_output *output, const struct trace_view *view, char *at);

char *trace_json__start(struct trace_output *output, char *at); /* start.c: the first line */
char *trace_json__line(struct trace_output *output, const struct trace_view *view, char *at);

/*
 * The cases of a switch over the columns, from column_list.h: each returns the value of its row.
 * `view`, `line` and `at` must be in scope; write_argument must be defined like the other write_*
 * functions.
 */
/* clang-format off */
#define TRACE_COLUMN_CASE(id, word, width, types, text, value) \
	case COLUMN_##id: \
		return value;
#define TRACE_ARGUMENT_CASE(id, ...) \
	case COLUMN_##id: \
		return write_argument(view->by_role[TRACE_##id], at);
/* clang-format on */

/* --- cell.c: a column's text in the table and in TSV --- */

char *trace_cell__write(const struct trace_view *view, enum trace_column column, char *at);

/* The kernel of a launch in the details: "<unknown>" if it has no name. */
char *trace_cell__kernel(const struct trace_view *view, char *at);

/* --- details.c: kernel and arguments by name --- */

char *trace_details__write(const struct trace_view *view, char *at); /* nothing if there are none */

/*
 * The same for a terminal with fewer columns than they need: the most useful ones and a "…". Needs
 * the room of all, and of 8 bytes more.
 */
char *trace_details__shorten(const struct trace_view *view, size_t columns, char *at);

/* --- line.c --- */

/* Bytes per second of a synchronous copy; returns false if unknown. */
bool trace_line__bandwidth(const struct trace_view *view, uint64_t *rate);

#endif
