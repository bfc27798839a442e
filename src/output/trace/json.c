// SPDX-License-Identifier: BSD-2-Clause
// Lines of JSON, one object each, as schema.c describes them.
#include "output/trace/private.h"

#include "output/trace/schema.h"
#include "output/enum_names.h"

struct key {
	const char *text; /* ,"process": */
	size_t length;
};

static const struct key keys[COLUMN_COUNT] = {
#define COLUMN_KEY(id, word, ...) {",\"" word "\":", sizeof(",\"" word "\":") - 1},
	TRACE_COLUMNS(COLUMN_KEY, COLUMN_KEY)
#undef COLUMN_KEY
};

static char *write_unknown(char *at)
{
	return TRACE_TEXT_CONSTANT(at, "null");
}

static char *write_text(const char *text, char *at)
{
	if (!text)
		return write_unknown(at);
	*at++ = '"';
	at = trace_text__json(at, text, strlen(text));
	*at++ = '"';
	return at;
}

static char *write_time(const struct trace_view *view, uint64_t ns, char *at)
{
	struct trace_time *time = &view->output->time;

	if (!trace_time__is_text(time))
		return trace_time__write(time, at, ns);
	*at++ = '"';
	at = trace_time__write(time, at, ns);
	*at++ = '"';
	return at;
}

static char *write_process(const struct trace_process_text *process, char *at)
{
	*at++ = '"';
	at = trace_text__copy(at, process->comm, process->length);
	*at++ = '"';
	return at;
}

static char *write_event(const struct trace_view *view, char *at)
{
	const struct trace_function_text *function = view->function;

	if (!function->is_identifier)
		return write_text(function->symbol, at);
	*at++ = '"';
	at = trace_text__copy(at, function->symbol, function->length);
	*at++ = '"';
	return at;
}

/* Precedes each key except the object's first. */
static char *separate(char *at, const char *begin)
{
	if (at != begin)
		*at++ = ',';
	return at;
}

static const char *kernel_of(const struct trace_view *view)
{
	return trace_line__kernel(view->line);
}

/* All arguments, whichever columns are shown: no key depends on another. */
static char *write_details(const struct trace_view *view, char *at)
{
	const struct trace_line *line = view->line;
	char *begin;

	*at++ = '{';
	begin = at;
	if (view->function->is_launch)
		at = write_text(kernel_of(view), TRACE_TEXT_CONSTANT(at, "\"kernel\":"));
	if (view->function->is_launch && line->kernel_label)
		at = write_text(line->kernel_label, TRACE_TEXT_CONSTANT(at, ",\"kernel_label\":"));
	for (size_t i = 0; i < line->field_count; i++) {
		const struct trace_field *field = &line->fields[i];

		at = TRACE_TEXT_CONSTANT(separate(at, begin), "\"");
		at = trace_text__word(at, field->name, TRACE_WORD_SIZE);
		at = trace_field__json(field, TRACE_TEXT_CONSTANT(at, "\":"));
	}
	if (line->kernel_location)
		at = write_text(line->kernel_location,
				TRACE_TEXT_CONSTANT(separate(at, begin), "\"at\":"));
	*at++ = '}';
	return at;
}

static char *write_stack(const struct trace_stack_text *stack, char *at)
{
	const char *frame;

	if (!stack)
		return write_unknown(at);
	*at++ = '[';
	frame = stack->lines;
	for (uint32_t i = 0; i < stack->count; i++, frame += strlen(frame) + 1) {
		if (i)
			*at++ = ',';
		at = write_text(frame, at);
	}
	*at++ = ']';
	return at;
}

static char *write_bandwidth(const struct trace_view *view, char *at)
{
	uint64_t rate;

	return trace_line__bandwidth(view, &rate) ? trace_text__unsigned(at, rate) :
						    write_unknown(at);
}

static char *write_duration(const struct trace_view *view, char *at)
{
	return trace_line__has_duration(view->line) ?
		       trace_text__unsigned(at, view->line->duration_ns) :
		       write_unknown(at);
}

/* The result's name, its code unless that is 0, and whether it is a failure. */
static char *write_error(const struct trace_view *view, char *at)
{
	int32_t code = (int32_t)view->line->result;
	size_t length;
	const char *name = trace_cache__result(view->function, code, &length);

	if (name)
		at = TRACE_TEXT_CONSTANT(
			trace_text__copy(TRACE_TEXT_CONSTANT(at, "\""), name, length), "\"");
	else
		at = TRACE_TEXT_CONSTANT(
			trace_text__signed(TRACE_TEXT_CONSTANT(at, "\"error "), code), "\"");
	if (code)
		at = trace_text__signed(TRACE_TEXT_CONSTANT(at, ",\"code\":"), code);
	return view->line->failed ? TRACE_TEXT_CONSTANT(at, ",\"failed\":true") : at;
}

static char *write_result(const struct trace_view *view, char *at)
{
	if (!trace_line__has_result(view->line) || view->function->returns == TRACE_RETURNS_NOTHING)
		return write_unknown(at);
	if (view->function->returns == TRACE_RETURNS_VALUE)
		return TRACE_TEXT_CONSTANT(
			trace_text__hex(TRACE_TEXT_CONSTANT(at, "\""), view->line->result), "\"");
	return write_error(view, at);
}

static char *write_argument(const struct trace_field *field, char *at)
{
	return field ? trace_field__json(field, at) : write_unknown(at);
}

static char *write_value(const struct trace_view *view, enum trace_column column, char *at)
{
	const struct trace_line *line = view->line;

	switch (column) {
		TRACE_COLUMNS(TRACE_COLUMN_CASE, TRACE_ARGUMENT_CASE)
	default: return at;
	}
}

/* The kind of the line, unless it is a call. */
static char *write_kind(enum trace_line_kind kind, char *at)
{
	switch (kind) {
	case LINE_CALL: return at;
	case LINE_ENTRY: return TRACE_TEXT_CONSTANT(at, ",\"line\":\"entry\"");
	case LINE_RETURN: return TRACE_TEXT_CONSTANT(at, ",\"line\":\"return\"");
	case LINE_IN_PROGRESS: return TRACE_TEXT_CONSTANT(at, ",\"line\":\"in_progress\"");
	case LINE_RESUMED: return TRACE_TEXT_CONSTANT(at, ",\"line\":\"resumed\"");
	case LINE_UNFINISHED: return TRACE_TEXT_CONSTANT(at, ",\"line\":\"unfinished\"");
	case LINE_UNFOLLOWED: return TRACE_TEXT_CONSTANT(at, ",\"line\":\"not_followed\"");
	case LINE_BEFORE: return TRACE_TEXT_CONSTANT(at, ",\"line\":\"before_attach\"");
	case LINE_GPU: return TRACE_TEXT_CONSTANT(at, ",\"line\":\"gpu\"");
	case LINE_RANGE: return TRACE_TEXT_CONSTANT(at, ",\"line\":\"range\"");
	case LINE_LOST: break;
	}
	return TRACE_TEXT_CONSTANT(at, ",\"line\":\"lost\"");
}

static char *write_loss(const struct trace_view *view, char *at)
{
	const struct trace_line *line = view->line;

	at = write_time(view, line->start_ns, TRACE_TEXT_CONSTANT(at, ",\"time\":"));
	at = trace_text__word(TRACE_TEXT_CONSTANT(at, ",\""), trace_line__lost_word(line),
			      TRACE_WORD_SIZE);
	at = trace_text__unsigned(TRACE_TEXT_CONSTANT(at, "\":"), line->lost);
	return write_text(trace_line__reason(line->reason),
			  TRACE_TEXT_CONSTANT(at, ",\"reason\":"));
}

char *trace_json__line(struct trace_output *output, const struct trace_view *view, char *at)
{
	const struct trace_line *line = view->line;

	at = TRACE_TEXT_CONSTANT(at, "{\"schema\":" TRACE_JSON_SCHEMA_TEXT);
	at = write_kind(line->kind, at);
	if (line->kind == LINE_LOST)
		return TRACE_TEXT_CONSTANT(write_loss(view, at), "}\n");
	for (size_t i = 0; i < output->options.column_count; i++) {
		enum trace_column column = output->options.columns[i];

		at = trace_text__copy(at, keys[column].text, keys[column].length);
		at = write_value(view, column, at);
	}
	if (line->depth)
		at = trace_text__unsigned(TRACE_TEXT_CONSTANT(at, ",\"depth\":"), line->depth);
	if (line->kind == LINE_GPU && line->gpu->has_call)
		at = write_time(view, line->gpu->called_ns,
				TRACE_TEXT_CONSTANT(at, ",\"called\":"));
	return TRACE_TEXT_CONSTANT(at, "}\n");
}
