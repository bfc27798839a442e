// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lines of the table. A column has one position in all lines. It grows with its values up to a
 * limit, for this line and all later ones. A longer text is cut in the middle on a terminal; in a
 * file it pushes the rest of its own line to the right. On a terminal the details get the width
 * that the other columns leave, and show of the arguments what fits. A long result at the end goes
 * to the next line, on a narrow terminal each but a success. No line is wider than the terminal.
 */
#include "base/width.h"
#include "output/trace/private.h"

#define RED "\033[31m"
#define YELLOW "\033[33m"
#define DIM "\033[2m"
#define RESET "\033[0m"

#define FRAME_INDENT 8 /* of a stack's frames below their call */

static size_t find_details(const struct trace_output *output)
{
	size_t i = 0;

	while (i < output->options.column_count && output->options.columns[i] != COLUMN_DETAILS)
		i++;
	return i;
}

static bool is_below(const struct trace_output *output, size_t i)
{
	return output->options.columns[i] == COLUMN_RESULT && output->options.result_below;
}

/* The width of all columns up to `end`, with a space between each two. */
static unsigned int width_of(const struct trace_output *output, size_t end)
{
	unsigned int width = 0;

	for (size_t i = 0; i < end; i++)
		width += is_below(output, i) ? 0 : (i > 0) + output->widths[i];
	return width;
}

/* Gives the details of a terminal what the other columns leave, and each column its position. */
static void lay_out_columns(struct trace_output *output)
{
	const struct trace_output_options *options = &output->options;
	size_t details = find_details(output);

	if (options->width && details < options->column_count) {
		unsigned int others;

		output->widths[details] = 0;
		others = width_of(output, options->column_count);
		output->widths[details] = options->width > others + TRACE_MIN_DETAILS ?
						  options->width - others :
						  TRACE_MIN_DETAILS;
	}
	for (size_t i = 0; i < options->column_count; i++)
		output->starts[i] = width_of(output, i) + (i > 0);
}

void trace_table__layout(struct trace_output *output)
{
	const struct trace_output_options *options = &output->options;

	for (size_t i = 0; i < options->column_count; i++) {
		output->widths[i] = trace_columns__width(options->columns[i], options->timestamps);
		if (options->columns[i] == COLUMN_RESULT && options->entry_return)
			output->widths[i] = sizeof("returned=0 (success)") - 1;
		if (is_below(output, i))
			output->widths[i] = 0;
	}
	lay_out_columns(output);
}

/*
 * By how much the column may grow on a terminal. Numbers take more from the details than texts,
 * which can be cut.
 */
static unsigned int spare_width(const struct trace_output *output, enum trace_column column)
{
	const struct trace_output_options *options = &output->options;
	size_t details = find_details(output);
	unsigned int used,
		least = trace_columns__is_text(column) ? TRACE_ENOUGH_DETAILS : TRACE_MIN_DETAILS;

	if (details < options->column_count)
		return output->widths[details] > least ? output->widths[details] - least : 0;
	used = width_of(output, options->column_count);
	return options->width > used ? options->width - used : 0;
}

/* Makes the column wider for a value of this width. Returns whether it could. */
static bool grow(struct trace_output *output, size_t i, size_t width)
{
	enum trace_column column = output->options.columns[i];
	unsigned int limit = trace_columns__limit(column), more;

	if ((output->options.width && column == COLUMN_DETAILS) || is_below(output, i))
		return false;
	if (width > limit)
		width = limit;
	if (width <= output->widths[i])
		return false;
	more = (unsigned int)width - output->widths[i];
	if (output->options.width && more > spare_width(output, column))
		more = spare_width(output, column);
	output->widths[i] += more;
	lay_out_columns(output);
	return more;
}

/* Writes at least one space, however long the text before is. */
static char *pad(char *at, size_t position, size_t target, size_t *spaces)
{
	*spaces = position == 0 ? target : (target > position ? target - position : 1);
	memset(at, ' ', *spaces);
	return at + *spaces;
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
		if (!columns_left(output, output->starts[i]) || is_below(output, i))
			break;
		write_heading(output, options->columns[i], heading, sizeof(heading));
		begin = at = pad(at, position, output->starts[i], &spaces);
		at = trace_text__cut(begin, trace_text__copy(at, heading, strlen(heading)),
				     columns_left(output, position + spaces));
		position += spaces + strlen(heading);
	}
	*at++ = '\n';
	return at;
}

/* The columns of a terminal that the cell may have. */
static size_t cell_limit(const struct trace_output *output, size_t i, size_t position)
{
	size_t left = columns_left(output, position);

	if (is_below(output, i))
		return 0;
	if (!output->options.width || i + 1 == output->options.column_count ||
	    !trace_columns__is_text(output->options.columns[i]))
		return left;
	return output->widths[i] < left ? output->widths[i] : left;
}

static bool is_failure(const struct trace_output *output, const struct trace_view *view, size_t i)
{
	return output->options.columns[i] == COLUMN_RESULT && view->line->failed &&
	       trace_line__has_result(view->line);
}

/* Whether nobody misses the result: the call has returned, and its result says no more. */
static bool is_success(const struct trace_view *view)
{
	const struct trace_line *line = view->line;

	return (line->kind == LINE_CALL || line->kind == LINE_RESUMED || line->kind == LINE_GPU) &&
	       (view->function->returns == TRACE_RETURNS_NOTHING ||
		(view->function->returns != TRACE_RETURNS_VALUE && !(int32_t)line->result));
}

/*
 * Whether the cell is at the end of the line and goes to the next one if it does not fit: a result
 * longer than that of a success is an error, which a person looks for.
 */
static bool can_follow(const struct trace_output *output, const struct trace_view *view, size_t i,
		       size_t width)
{
	if (output->options.columns[i] != COLUMN_RESULT || !i ||
	    i + 1 != output->options.column_count)
		return false;
	if (is_below(output, i))
		return width && !is_success(view);
	return width > trace_columns__width(COLUMN_RESULT, output->options.timestamps);
}

static bool is_open(const struct trace_line *line)
{
	return line->kind == LINE_UNFINISHED || line->kind == LINE_IN_PROGRESS ||
	       line->kind == LINE_BEFORE;
}

/* Writes the cell at the end of the next line; a colour of the whole line ends with the line. */
static char *write_below(struct trace_output *output, const struct trace_view *view, size_t i,
			 char *at)
{
	bool dim = output->options.color && is_open(view->line);
	char *begin, *end;
	size_t blank;

	if (dim)
		at = TRACE_TEXT_CONSTANT(at, RESET);
	*at++ = '\n';
	if (dim)
		at = TRACE_TEXT_CONSTANT(at, DIM);
	begin = at;
	end = trace_cell__write(view, output->options.columns[i], begin);
	end = trace_text__cut(begin, end, output->options.width);
	blank = output->options.width - width__columns(begin, (size_t)(end - begin));
	memmove(begin + blank, begin, (size_t)(end - begin));
	memset(begin, ' ', blank);
	return end + blank;
}

struct cell {
	size_t width; /* in columns */
	bool grew;    /* its column: the line must be written again */
	bool does_not_fit;
};

/* Amounts of different units compare more easily if they end in one column. */
static char *align(const struct trace_output *output, size_t i, size_t limit, struct cell *cell,
		   char *at)
{
	enum trace_column column = output->options.columns[i];
	size_t width = output->widths[i] < limit ? output->widths[i] : limit;
	size_t blank = width > cell->width ? width - cell->width : 0;

	if ((column != COLUMN_DURATION && column != COLUMN_BW) || !cell->width)
		return at;
	memmove(at - cell->width + blank, at - cell->width, cell->width);
	memset(at - cell->width, ' ', blank);
	cell->width += blank;
	return at + blank;
}

/* Writes the cell's text, cut to what the terminal leaves it. */
static char *write_cell(struct trace_output *output, const struct trace_view *view, size_t i,
			size_t position, struct cell *cell, char *at)
{
	size_t limit = cell_limit(output, i, position);
	char *begin = at;

	at = trace_cell__write(view, output->options.columns[i], at);
	cell->width = width__columns(begin, (size_t)(at - begin));
	cell->grew = cell->width > output->widths[i] && grow(output, i, cell->width);
	if (cell->width <= limit)
		return align(output, i, limit, cell, at);
	cell->does_not_fit = can_follow(output, view, i, cell->width);
	if (cell->does_not_fit)
		at = begin;
	else if (output->options.columns[i] == COLUMN_DETAILS)
		at = trace_details__shorten(view, limit, begin);
	else
		at = trace_text__cut(begin, at, limit);
	cell->width = width__columns(begin, (size_t)(at - begin));
	return at;
}

/* Adds the colour of a failure to the text from `begin` to `at`. */
static char *redden(char *begin, char *at)
{
	size_t length = (size_t)(at - begin);

	memmove(begin + sizeof(RED) - 1, begin, length);
	return TRACE_TEXT_CONSTANT(TRACE_TEXT_CONSTANT(begin, RED) + length, RESET);
}

/* Sets *grew if a column has grown: its new width is not in what was written. */
static char *try_cells(struct trace_output *output, const struct trace_view *view, char *at,
		       bool *grew)
{
	size_t position = 0, spaces;

	for (size_t i = 0; i < output->options.column_count && !*grew; i++) {
		struct cell cell = {0};
		char *before = at, *begin;

		begin = at = pad(at, position, output->starts[i], &spaces);
		at = write_cell(output, view, i, position + spaces, &cell, at);
		*grew = cell.grew;
		/* An empty cell gets no padding, so that no line ends in spaces. */
		if (!cell.width)
			begin = at = before;
		else
			position += spaces + cell.width;
		if (cell.does_not_fit) {
			begin = at + 1;
			at = write_below(output, view, i, at);
		}
		if (output->options.color && at > begin && is_failure(output, view, i))
			at = redden(begin, at);
	}
	return at;
}

static char *write_cells(struct trace_output *output, const struct trace_view *view, char *begin)
{
	bool grew;
	char *at;

	do {
		grew = false;
		at = try_cells(output, view, begin, &grew);
	} while (grew);
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
	else if (line->reason == TRACE_LOST_RANGE)
		at = TRACE_TEXT_CONSTANT(at, " NVTX line");
	else
		at = TRACE_TEXT_CONSTANT(at, " event");
	at = line->lost == 1 ? TRACE_TEXT_CONSTANT(at, " (") : TRACE_TEXT_CONSTANT(at, "s (");
	for (; *reason; reason++)
		*at++ = *reason == '_' ? ' ' : *reason;
	return TRACE_TEXT_CONSTANT(at, ") ---");
}

/* Whether the line is the first that tells of its call, or the last of one that never returned. */
static bool shows_stack(const struct trace_output *output, const struct trace_line *line)
{
	return output->options.stack_below && line->kind != LINE_LOST &&
	       line->kind != LINE_RETURN && line->kind != LINE_RESUMED && line->kind != LINE_GPU &&
	       line->kind != LINE_RANGE;
}

/* Each line of the stack below the call. */
static char *write_stack(const struct trace_output *output, const struct trace_stack_text *stack,
			 char *at)
{
	static const char *const unknown = "[stack not known]";
	const char *line = stack ? stack->lines : unknown;
	uint32_t count = stack ? stack->count : 1;
	size_t indent = columns_left(output, FRAME_INDENT) > FRAME_INDENT ? FRAME_INDENT : 0;

	for (uint32_t i = 0; i < count; i++, line += strlen(line) + 1) {
		char *begin = at;

		memset(at, ' ', indent);
		begin += indent;
		at = output->stacks.folded ?
			     trace_text__copy(begin, line, strlen(line)) :
			     trace_text__escaped(begin, line, strlen(line), 0, false);
		at = trace_text__cut(begin, at, columns_left(output, indent));
		*at++ = '\n';
	}
	return at;
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
	at = lost ? trace_text__cut(begin, write_loss(line, at), columns_left(output, 0)) :
		    write_cells(output, view, at);
	if (color)
		at = TRACE_TEXT_CONSTANT(at, RESET);
	*at++ = '\n';
	return shows_stack(output, line) ? write_stack(output, view->stack, at) : at;
}
