// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of the table. Columns have fixed positions. A value that is too long for its column pushes
 * the next ones to the right until one has room to spare. On a terminal the details get the width
 * that the others leave, and are cut. If that is not enough, the end of the line is cut too: no
 * line is wider than the terminal.
 */
#include "output/trace/private.h"

#define RED "\033[31m"
#define YELLOW "\033[33m"
#define DIM "\033[2m"
#define RESET "\033[0m"

static unsigned int column_width(const struct trace_output *output, enum trace_column column)
{
	return trace_columns__width(column, output->options.timestamps);
}

static unsigned int details_width(const struct trace_output *output)
{
	unsigned int width = output->options.width,
		     others = trace_columns__others(&output->options);

	if (!width)
		return column_width(output, COLUMN_DETAILS);
	return width > others + TRACE_MIN_DETAILS ? width - others : TRACE_MIN_DETAILS;
}

void trace_table__layout(struct trace_output *output)
{
	const struct trace_output_options *options = &output->options;
	unsigned int start = 0;

	for (size_t i = 0; i < options->column_count; i++) {
		bool is_details = options->columns[i] == COLUMN_DETAILS;

		output->starts[i] = start;
		start += 1 + (is_details ? details_width(output) :
					   column_width(output, options->columns[i]));
	}
}

/* Writes at least one space, however long the text before is. */
static char *pad(char *at, size_t position, size_t target, size_t *spaces)
{
	*spaces = position == 0 ? target : (target > position ? target - position : 1);
	memset(at, ' ', *spaces);
	return at + *spaces;
}

/* Cuts the text from `begin` to `at` to `columns`; returns its new end. */
static char *cut(char *begin, char *at, size_t columns)
{
	size_t length = (size_t)(at - begin);

	if (trace_text__width(begin, length) <= columns)
		return at;
	if (!columns)
		return begin;
	return TRACE_TEXT_CONSTANT(begin + trace_text__fit(begin, length, columns - 1), "…");
}

/* Columns of the terminal left after `position`. */
static size_t columns_left(const struct trace_output *output, size_t position)
{
	size_t width = output->options.width;

	if (!width)
		return SIZE_MAX;
	return width > position ? width - position : 0;
}

static void write_heading(struct trace_output *output, enum trace_column column, char *heading,
			  size_t size)
{
	const char *name = trace_columns__heading(column);

	snprintf(heading, size, "%s", name);
	if (column == COLUMN_TIME && output->options.timestamps == TIMESTAMPS_DELTA)
		name = "DELTA";
	if (column == COLUMN_TIME || column == COLUMN_END)
		trace_time__heading(&output->time, name, heading, size);
}

char *trace_table__header(struct trace_output *output, char *at)
{
	const struct trace_output_options *options = &output->options;
	size_t position = 0, spaces;
	char heading[32], *begin;

	for (size_t i = 0; i < options->column_count; i++) {
		if (!columns_left(output, output->starts[i]))
			break;
		write_heading(output, options->columns[i], heading, sizeof(heading));
		begin = at = pad(at, position, output->starts[i], &spaces);
		at = cut(begin, trace_text__copy(at, heading, strlen(heading)),
			 columns_left(output, position + spaces));
		position += spaces + strlen(heading);
	}
	*at++ = '\n';
	return at;
}

/* The excess of the result over its column's width: on a terminal the details make room for it. */
static size_t result_excess(struct trace_output *output, const struct trace_view *view,
			    size_t details, char *at)
{
	const struct trace_output_options *options = &output->options;
	size_t width, usual = column_width(output, COLUMN_RESULT);

	for (size_t i = details + 1; i < options->column_count; i++) {
		if (options->columns[i] != COLUMN_RESULT)
			continue;
		width = (size_t)(trace_cell__write(view, COLUMN_RESULT, at) - at);
		return width > usual ? width - usual : 0;
	}
	return 0;
}

/*
 * Width left for the details between the columns before them and those after, which begin `excess`
 * earlier than usual.
 */
static size_t details_limit(const struct trace_output *output, size_t i, size_t position,
			    size_t excess)
{
	bool last = i + 1 == output->options.column_count;
	size_t end = last ? output->options.width : output->starts[i + 1] - 1;

	return end > position + excess ? end - position - excess : 0;
}

/* Writes the cell with its colour; *width is its width in columns. */
static char *write_cell(struct trace_output *output, const struct trace_view *view, size_t i,
			size_t position, size_t *excess, size_t *width, char *at)
{
	enum trace_column column = output->options.columns[i];
	bool red = output->options.color && column == COLUMN_RESULT && view->line->failed &&
		   trace_line__has_result(view->line);
	bool makes_room = column == COLUMN_DETAILS && output->options.width;
	size_t left = columns_left(output, position), limit;
	char *begin;

	if (makes_room) {
		*excess = result_excess(output, view, i, at);
		limit = details_limit(output, i, position, *excess);
		left = limit < left ? limit : left;
	}
	if (red)
		at = TRACE_TEXT_CONSTANT(at, RED);
	begin = at;
	at = trace_cell__write(view, column, at);
	if (output->options.width)
		at = cut(begin, at, left);
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
		/* An empty cell gets no padding, so that no line ends in spaces. */
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
	if (line->reason == TRACE_LOST_STACK || line->reason == TRACE_LOST_STACK_MEMORY)
		at = TRACE_TEXT_CONSTANT(at, " stack");
	else if (line->reason == TRACE_LOST_RETURN)
		at = TRACE_TEXT_CONSTANT(at, " return");
	else
		at = TRACE_TEXT_CONSTANT(at, " event");
	at = line->lost == 1 ? TRACE_TEXT_CONSTANT(at, " (") : TRACE_TEXT_CONSTANT(at, "s (");
	for (; *reason; reason++)
		*at++ = *reason == '_' ? ' ' : *reason;
	return TRACE_TEXT_CONSTANT(at, ") ---");
}

static bool is_open(const struct trace_line *line)
{
	return line->kind == LINE_UNFINISHED || line->kind == LINE_IN_PROGRESS ||
	       line->kind == LINE_BEFORE;
}

char *trace_table__line(struct trace_output *output, const struct trace_view *view, char *at)
{
	const struct trace_line *line = view->line;
	bool lost = line->kind == LINE_LOST,
	     color = output->options.color && (lost || is_open(line));
	char *begin;

	if (color)
		at = lost ? TRACE_TEXT_CONSTANT(at, YELLOW) : TRACE_TEXT_CONSTANT(at, DIM);
	begin = at;
	at = lost ? cut(begin, write_loss(line, at), columns_left(output, 0)) :
		    write_cells(output, view, at);
	if (color)
		at = TRACE_TEXT_CONSTANT(at, RESET);
	*at++ = '\n';
	return at;
}
