// SPDX-License-Identifier: BSD-2-Clause
// The text of a line's columns in the table and in TSV, see private.h. People get units, programs
// numbers.
#include "output/trace/private.h"

#include "base/quantity.h"
#include "output/enum_names.h"

static bool is_table(const struct trace_view *view)
{
	return view->output->options.format == TRACE_TABLE;
}

static char *write_unknown(char *at)
{
	*at++ = '-';
	return at;
}

static char *write_text(const char *text, char *at)
{
	return text ? trace_text__escaped(at, text, strlen(text), 0, false) : write_unknown(at);
}

static char *write_time(const struct trace_view *view, uint64_t ns, char *at)
{
	return trace_time__write(&view->output->time, at, ns);
}

static char *write_process(const struct trace_process_text *process, char *at)
{
	return trace_text__copy(at, process->comm, process->length);
}

static char *write_event(const struct trace_view *view, char *at)
{
	const struct trace_function_text *function = view->function;
	bool resumed = is_table(view) && view->line->kind == LINE_RESUMED;

	if (is_table(view)) {
		memset(at, ' ', 2u * view->line->depth);
		at += 2u * view->line->depth;
	}
	if (resumed)
		at = TRACE_TEXT_CONSTANT(at, "... ");
	at = function->is_identifier ? trace_text__copy(at, function->symbol, function->length) :
				       write_text(function->symbol, at);
	return resumed ? TRACE_TEXT_CONSTANT(at, " resumed") : at;
}

static const char *kernel_of(const struct trace_view *view)
{
	return is_table(view) ? trace_line__label(view->line) : trace_line__kernel(view->line);
}

char *trace_cell__kernel(const struct trace_view *view, char *at)
{
	const char *name = kernel_of(view);

	if (name)
		return trace_text__escaped(at, name, strlen(name), 0, !is_table(view));
	return TRACE_TEXT_CONSTANT(at, "<unknown>");
}

static char *write_details(const struct trace_view *view, char *at)
{
	char *end = trace_details__write(view, at);

	return end == at && !is_table(view) ? write_unknown(at) : end;
}

/* Innermost first, separated by semicolons, which are escaped within a frame. */
static char *write_stack(const struct trace_stack_text *stack, char *at)
{
	const char *frame;

	if (!stack)
		return TRACE_TEXT_CONSTANT(at, "[stack not known]");
	if (!stack->count)
		return write_unknown(at);
	frame = stack->lines;
	for (uint32_t i = 0; i < stack->count; i++, frame += strlen(frame) + 1) {
		if (i)
			*at++ = ';';
		at = trace_text__escaped(at, frame, strlen(frame), ';', false);
	}
	return at;
}

static char *write_quantity(struct quantity quantity, char *at)
{
	return trace_text__copy(at, quantity.text, strlen(quantity.text));
}

static char *write_bandwidth(const struct trace_view *view, char *at)
{
	uint64_t rate;

	if (!trace_line__bandwidth(view, &rate))
		return write_unknown(at);
	if (!is_table(view))
		return trace_text__unsigned(at, rate);
	if (view->output->options.form == QUANTITY_EXACT)
		return write_quantity(quantity__bandwidth_as(QUANTITY_EXACT, (double)rate), at);
	return quantity__put_bandwidth(at, (double)rate);
}

static char *write_duration(const struct trace_view *view, char *at)
{
	const struct trace_line *line = view->line;

	if (!trace_line__has_duration(line))
		return is_table(view) ? at : write_unknown(at);
	if (!is_table(view))
		return trace_text__unsigned(at, line->duration_ns);
	if (view->output->options.form == QUANTITY_EXACT)
		return write_quantity(quantity__time_as(QUANTITY_EXACT, line->duration_ns), at);
	return quantity__put_time(at, (double)line->duration_ns);
}

static char *write_value(const struct trace_view *view, char *at)
{
	size_t length;
	const char *name;

	if (view->function->returns == TRACE_RETURNS_NOTHING)
		return write_unknown(at);
	if (view->function->returns == TRACE_RETURNS_VALUE)
		return trace_text__hex(at, view->line->result);
	name = trace_cache__result(view->function, (int32_t)view->line->result, &length);
	if (name)
		return trace_text__copy(at, name, length);
	return trace_text__signed(TRACE_TEXT_CONSTANT(at, "error "), (int32_t)view->line->result);
}

/*
 * "returned=0 (success)" or "returned=2 (cudaErrorMemoryAllocation)", for the second of a call's
 * two lines.
 */
static char *write_returned(const struct trace_view *view, char *at)
{
	int32_t code = (int32_t)view->line->result;
	size_t length;
	const char *name;

	at = TRACE_TEXT_CONSTANT(at, "returned");
	if (view->function->returns == TRACE_RETURNS_NOTHING)
		return at;
	*at++ = '=';
	if (view->function->returns == TRACE_RETURNS_VALUE)
		return trace_text__hex(at, view->line->result);
	/* Success has the same name in both layers. */
	if (!code)
		return TRACE_TEXT_CONSTANT(at, "0 (success)");
	at = trace_text__signed(at, code);
	name = trace_cache__result(view->function, code, &length);
	if (!name)
		return at;
	at = trace_text__copy(TRACE_TEXT_CONSTANT(at, " ("), name, length);
	*at++ = ')';
	return at;
}

static char *write_result(const struct trace_view *view, char *at)
{
	switch (view->line->kind) {
	case LINE_ENTRY: return is_table(view) ? at : TRACE_TEXT_CONSTANT(at, "<entry>");
	case LINE_IN_PROGRESS: return TRACE_TEXT_CONSTANT(at, "<in progress>");
	case LINE_UNFINISHED: return TRACE_TEXT_CONSTANT(at, "<unfinished>");
	case LINE_UNFOLLOWED: return TRACE_TEXT_CONSTANT(at, "<not followed>");
	case LINE_BEFORE: return TRACE_TEXT_CONSTANT(at, "<began before attach>");
	case LINE_GPU: return is_table(view) ? at : TRACE_TEXT_CONSTANT(at, "<gpu>");
	case LINE_RANGE: return is_table(view) ? at : TRACE_TEXT_CONSTANT(at, "<range>");
	case LINE_RETURN:
		if (is_table(view))
			return write_returned(view, at);
		return write_value(view, TRACE_TEXT_CONSTANT(at, "<returned> "));
	case LINE_RESUMED:
		/* The table shows "resumed" with the event. */
		return write_value(view,
				   is_table(view) ? at : TRACE_TEXT_CONSTANT(at, "<resumed> "));
	default: return write_value(view, at);
	}
}

static char *write_argument(const struct trace_field *field, char *at)
{
	return field ? trace_field__text(field, false, at) : write_unknown(at);
}

char *trace_cell__write(const struct trace_view *view, enum trace_column column, char *at)
{
	const struct trace_line *line = view->line;

	switch (column) {
		TRACE_COLUMNS(TRACE_COLUMN_CASE, TRACE_ARGUMENT_CASE)
	default: return at;
	}
}
