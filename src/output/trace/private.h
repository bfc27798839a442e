/* SPDX-License-Identifier: BSD-2-Clause */
/* What the writers of a trace's forms share; for src/output/trace/ only. */
#ifndef OUTPUT_TRACE_PRIVATE_H
#define OUTPUT_TRACE_PRIVATE_H

#include "output/trace/buffer.h"
#include "output/trace/cache.h"
#include "output/trace/columns.h"
#include "output/trace/output.h"
#include "output/trace/stacks.h"
#include "output/trace/text.h"
#include "output/trace/time.h"

/* An argument's name is ours and shorter; so much is shown of one in any case. So of constants' names. */
#define TRACE_WORD_SIZE 64

struct trace_output {
	/* with the columns that are shown */
	struct trace_output_options options;
	bool chooses;	 /* which these are, by the terminal's width */
	bool has_kernel; /* the kernel's name has a column of its own and is not in the details of the table and TSV */
	/* as have arguments */
	bool shows[TRACE_ROLES];
	bool has_roles; /* views have their arguments by role */
	bool has_cgroup, has_stack;
	unsigned int starts[COLUMN_COUNT]; /* of the table's columns */
	struct trace_buffer buffer;
	struct trace_time time;
	struct trace_cache cache;
	struct trace_stacks stacks;
};

/* A line on its way into a form. */
struct trace_view {
	struct trace_output *output; /* that writes it */
	const struct trace_line *line;
	const struct trace_process_text *process; /* NULL in LINE_LOST, as the function */
	struct trace_function_text *function;
	const struct trace_stack_text *stack;		/* if output->has_stack; NULL: not known */
	const struct trace_field *by_role[TRACE_ROLES]; /* if output->has_roles */
};

/* --- the forms: each writes a line, its newline too, and returns the place behind it --- */

void trace_table__layout(struct trace_output *output);
char *trace_table__header(struct trace_output *output, char *at);
char *trace_table__line(struct trace_output *output, const struct trace_view *view, char *at);

char *trace_tsv__header(struct trace_output *output, char *at);
char *trace_tsv__line(struct trace_output *output, const struct trace_view *view, char *at);

char *trace_json__line(struct trace_output *output, const struct trace_view *view, char *at);

/*
 * The cases of a switch over the columns, by column_list.h: each returns what its row says. `view`, `line` and `at` are
 * in scope, and write_argument is there as write_* are.
 */
#define TRACE_COLUMN_CASE(id, word, width, types, text, value) \
	case COLUMN_##id: \
		return value;
#define TRACE_ARGUMENT_CASE(id, ...) \
	case COLUMN_##id: \
		return write_argument(view->by_role[TRACE_##id], at);

/* --- cell.c: a column's text in the table and in TSV --- */

char *trace_cell__write(const struct trace_view *view, enum trace_column column, char *at);

/* --- field.c: an argument's value --- */

/* `doubled`: see trace_text__escaped. */
char *trace_field__text(const struct trace_field *field, bool doubled, char *at);
char *trace_field__json(const struct trace_field *field, char *at);

/* Room for all that a line shows of its fields, in any form. */
size_t trace_field__room(const struct trace_line *line);

/* --- line.c: what is said of lines in every form --- */

/* "ring_full" */
const char *trace_line__reason(enum trace_loss reason);

/* Whether it is only the returns of calls that a LINE_LOST tells of: the calls are shown. */
const char *trace_line__lost_word(const struct trace_line *line);

/* Whether it tells for how long the call has lasted. */
bool trace_line__has_duration(const struct trace_line *line);

/* Whether it tells of a result. */
bool trace_line__has_result(const struct trace_line *line);

/* CLOCK_BOOTTIME of the call's return, if it tells of a result. */
uint64_t trace_line__end_ns(const struct trace_line *line);

/* The kernel's readable name, or else the mangled one; NULL: no launch, or not known. */
const char *trace_line__kernel(const struct trace_line *line);

/* Bytes per second of a synchronous copy; false where there is no telling. */
bool trace_line__bandwidth(const struct trace_view *view, uint64_t *rate);

#endif
