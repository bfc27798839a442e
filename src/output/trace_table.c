// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of the table. Columns have fixed places; a value that is too long for
 * its column pushes the next ones to the right until one has room to spare.
 * On a terminal the details have what the others leave, and are cut.
 */
#include "output/trace_private.h"

#define RED "\033[31m"
#define YELLOW "\033[33m"
#define DIM "\033[2m"
#define RESET "\033[0m"

static unsigned int details_width(const struct trace_output *output, unsigned int others)
{
	unsigned int width = output->options.width;

	if (!width)
		return trace_columns__width(COLUMN_DETAILS, output->options.timestamps);
	return width > others + TRACE_MIN_DETAILS ? width - others : TRACE_MIN_DETAILS;
}

static unsigned int column_width(const struct trace_output *output, enum trace_column column)
{
	return trace_columns__width(column, output->options.timestamps);
}

void trace_table__layout(struct trace_output *output)
{
	const struct trace_output_options *options = &output->options;
	unsigned int others = 0, start = 0, details;

	for (size_t i = 0; i < options->column_count; i++) {
		others += i > 0;
		if (options->columns[i] != COLUMN_DETAILS)
			others += column_width(output, options->columns[i]);
	}
	details = details_width(output, others);
	for (size_t i = 0; i < options->column_count; i++) {
		bool is_details = options->columns[i] == COLUMN_DETAILS;

		output->starts[i] = start;
		start += 1 + (is_details ? details : column_width(output, options->columns[i]));
	}
}

/* At least one space behind what is there, however long that is. */
static char *pad(char *at, size_t position, size_t target, size_t *spaces)
{
	*spaces = position == 0 ? target : target > position ? target - position : 1;
	memset(at, ' ', *spaces);
	return at + *spaces;
}

char *trace_table__header(struct trace_output *output, char *at)
{
	const struct trace_output_options *options = &output->options;
	size_t position = 0, spaces;
	char heading[32];

	for (size_t i = 0; i < options->column_count; i++) {
		const char *name = trace_columns__heading(options->columns[i]);

		snprintf(heading, sizeof(heading), "%s", name);
		if (options->columns[i] == COLUMN_TIME && options->timestamps == TIMESTAMPS_DELTA)
			name = "DELTA";
		if (options->columns[i] == COLUMN_TIME || options->columns[i] == COLUMN_END)
			trace_time__heading(&output->time, name, heading, sizeof(heading));
		at = pad(at, position, output->starts[i], &spaces);
		at = trace_text__copy(at, heading, strlen(heading));
		position += spaces + strlen(heading);
	}
	*at++ = '\n';
	return at;
}

/* By how much the result is longer than its column: on a terminal the details make room for it. */
static size_t result_excess(struct trace_output *output, const struct trace_view *view, size_t details, char *at)
{
	const struct trace_output_options *options = &output->options;
	size_t width, usual = column_width(output, COLUMN_RESULT);

	for (size_t i = details + 1; i < options->column_count; i++) {
		if (options->columns[i] != COLUMN_RESULT)
			continue;
		width = (size_t)(trace_cell__write(output, view, COLUMN_RESULT, at) - at);
		return width > usual ? width - usual : 0;
	}
	return 0;
}

/* The text from `begin` to `at` fills no more than `columns`; returns its new end. */
static char *cut(char *begin, char *at, size_t columns)
{
	size_t length = (size_t)(at - begin);

	if (trace_text__width(begin, length) <= columns)
		return at;
	return TRACE_TEXT_CONSTANT(begin + trace_text__fit(begin, length, columns - 1), "…");
}

static size_t details_limit(const struct trace_output *output, size_t i, size_t position, size_t excess)
{
	bool last = i + 1 == output->options.column_count;
	size_t end = last ? output->options.width : output->starts[i + 1] - 1;

	return end > position + excess + TRACE_MIN_DETAILS ? end - position - excess : TRACE_MIN_DETAILS;
}

/* Writes the cell with its colour; *width is how many columns it fills. */
static char *write_cell(struct trace_output *output, const struct trace_view *view, size_t i, size_t position,
			size_t *excess, size_t *width, char *at)
{
	enum trace_column column = output->options.columns[i];
	bool red = output->options.color && column == COLUMN_RESULT && view->line->failed &&
		   trace_line__has_result(view->line);
	bool cuts = column == COLUMN_DETAILS && output->options.width;
	char *begin;

	if (cuts)
		*excess = result_excess(output, view, i, at);
	if (red)
		at = TRACE_TEXT_CONSTANT(at, RED);
	begin = at;
	at = trace_cell__write(output, view, column, at);
	if (cuts)
		at = cut(begin, at, details_limit(output, i, position, *excess));
	*width = trace_text__width(begin, (size_t)(at - begin));
	return red ? TRACE_TEXT_CONSTANT(at, RESET) : at;
}

static char *write_cells(struct trace_output *output, const struct trace_view *view, char *at)
{
	size_t position = 0, excess = 0, spaces, width;

	for (size_t i = 0; i < output->options.column_count; i++) {
		size_t start = output->starts[i] > excess ? output->starts[i] - excess : 0;
		char *before = at;

		at = pad(at, position, start, &spaces);
		at = write_cell(output, view, i, position + spaces, &excess, &width, at);
		/* Nothing is padded for a cell without text, so that no line ends in spaces. */
		if (width)
			position += spaces + width;
		else
			at = before;
	}
	return at;
}

static char *write_loss(const struct trace_line *line, char *at)
{
	const char *reason = trace_line__reason(line->reason);

	at = trace_text__unsigned(TRACE_TEXT_CONSTANT(at, "--- lost "), line->lost);
	at = trace_line__lost_returns(line) ? TRACE_TEXT_CONSTANT(at, " return") : TRACE_TEXT_CONSTANT(at, " event");
	at = line->lost == 1 ? TRACE_TEXT_CONSTANT(at, " (") : TRACE_TEXT_CONSTANT(at, "s (");
	for (; *reason; reason++)
		*at++ = *reason == '_' ? ' ' : *reason;
	return TRACE_TEXT_CONSTANT(at, ") ---");
}

static bool is_open(const struct trace_line *line)
{
	return line->kind == LINE_UNFINISHED || line->kind == LINE_IN_PROGRESS;
}

char *trace_table__line(struct trace_output *output, const struct trace_view *view, char *at)
{
	const struct trace_line *line = view->line;
	bool lost = line->kind == LINE_LOST, color = output->options.color && (lost || is_open(line));

	if (color)
		at = lost ? TRACE_TEXT_CONSTANT(at, YELLOW) : TRACE_TEXT_CONSTANT(at, DIM);
	at = lost ? write_loss(line, at) : write_cells(output, view, at);
	if (color)
		at = TRACE_TEXT_CONSTANT(at, RESET);
	*at++ = '\n';
	return at;
}
