// SPDX-License-Identifier: BSD-2-Clause
// The lines of a trace on their way to a descriptor, see output.h.
#include "output/trace/output.h"

#include <errno.h>
#include <stdlib.h>

#include "output/trace/private.h"

/* Room of a line besides its texts: every column's number and padding, punctuation, indentation. */
#define LINE_ROOM 8192

static void look_at_columns(struct trace_output *output)
{
	const struct trace_output_options *options = &output->options;

	output->has_stack = options->stack_below;
	for (size_t i = 0; i < options->column_count; i++) {
		enum trace_column column = options->columns[i];

		output->has_kernel |= column == COLUMN_KERNEL;
		output->has_cgroup |= column == COLUMN_CGROUP;
		output->has_stack |= column == COLUMN_STACK;
		output->shows[trace_columns__role(column)] =
			trace_columns__role(column) != TRACE_NO_ROLE;
		output->has_roles |=
			column == COLUMN_BW || trace_columns__role(column) != TRACE_NO_ROLE;
	}
}

int trace_output__new(int fd, const struct trace_output_options *options, struct trace_output **out,
		      struct error *err)
{
	struct trace_output *output = calloc(1, sizeof(*output));

	if (!output || trace_buffer__init(&output->buffer, fd)) {
		free(output);
		return error__set(err, -ENOMEM, "no memory for the trace's output");
	}
	output->options = *options;
	output->chooses = !options->column_count;
	if (output->chooses)
		trace_columns__choose(&output->options);
	look_at_columns(output);
	trace_time__init(&output->time, options);
	output->cache.json = options->format == TRACE_JSON;
	output->stacks.folded = options->stack_below && !options->all_frames;
	if (options->format == TRACE_TABLE)
		trace_table__layout(output);
	*out = output;
	return 0;
}

void trace_output__free(struct trace_output *output)
{
	if (!output)
		return;
	trace_buffer__free(&output->buffer);
	trace_stacks__clear(&output->stacks);
	free(output);
}

void trace_output__stop_by(struct trace_output *output, int fd)
{
	output->buffer.stop_fd = fd;
}

void trace_output__set_width(struct trace_output *output, unsigned int width)
{
	struct trace_output_options *options = &output->options, before = *options;

	options->width = width;
	if (options->format != TRACE_TABLE)
		return;
	if (output->chooses)
		trace_columns__choose(options);
	trace_table__layout(output);
	/* If this fails, the next line reports it. */
	if (options->column_count != before.column_count ||
	    options->result_below != before.result_below)
		trace_output__header(output);
}

/* Shows pids from the line of a second process on. */
static void look_at_process(struct trace_output *output, const struct trace_line *line)
{
	pid_t pid = line->kind == LINE_LOST ? output->only : line->process->pid;

	if (output->only && pid != output->only) {
		output->options.one_process = false;
		trace_output__set_width(output, output->options.width);
	}
	output->only = pid;
}

static size_t text_room(const char *text)
{
	return text ? strlen(text) * TRACE_TEXT_EXPANSION : 0;
}

/* Upper limit of a line's size, whatever it contains. */
static size_t line_room(const struct trace_output *output, const struct trace_view *view)
{
	const struct trace_line *line = view->line;
	size_t size = LINE_ROOM + (size_t)output->options.width * TRACE_TEXT_EXPANSION;

	if (line->kind == LINE_LOST)
		return size;
	size += trace_field__room(line) + (size_t)view->function->length * TRACE_TEXT_EXPANSION;
	size += 2 * text_room(trace_line__kernel(line)) + 2 * text_room(line->kernel_label);
	size += text_room(line->kernel_location);
	if (output->has_cgroup)
		size += text_room(line->process->cgroup);
	/* Each frame has quotes and separators, or the indentation of a line. */
	if (view->stack)
		size += view->stack->bytes * TRACE_TEXT_EXPANSION + view->stack->count * 16ul;
	return size;
}

/* Of several arguments with one role the first is used. */
static void find_roles(struct trace_view *view)
{
	const struct trace_line *line = view->line;

	memset(view->by_role, 0, sizeof(view->by_role));
	for (size_t i = 0; i < line->field_count; i++) {
		const struct trace_field *field = &line->fields[i];

		if (field->role < TRACE_ROLES && !view->by_role[field->role])
			view->by_role[field->role] = field;
	}
}

static void look_at(struct trace_output *output, const struct trace_line *line,
		    struct trace_view *view)
{
	view->output = output;
	view->line = line;
	if (line->kind == LINE_LOST)
		return;
	view->process = trace_cache__process(&output->cache, line->process);
	view->function = line->kind == LINE_GPU ?
				 (struct trace_function_text *)trace_gpu_line__function(line->gpu) :
				 trace_cache__function(&output->cache, line->function);
	view->stack = output->has_stack ? trace_stacks__text(&output->stacks, line->stack) : NULL;
	if (output->has_roles)
		find_roles(view);
}

/* Counts each call once, see trace_output__written. */
static bool counts(const struct trace_output *output, enum trace_line_kind kind)
{
	if (output->options.entry_return)
		return kind == LINE_ENTRY || kind == LINE_UNFOLLOWED;
	return kind != LINE_LOST && kind != LINE_ENTRY && kind != LINE_IN_PROGRESS &&
	       kind != LINE_BEFORE && kind != LINE_GPU && kind != LINE_RANGE;
}

static char *write_line(struct trace_output *output, const struct trace_view *view, char *at)
{
	switch (output->options.format) {
	case TRACE_TSV: return trace_tsv__line(output, view, at);
	case TRACE_JSON: return trace_json__line(output, view, at);
	default: return trace_table__line(output, view, at);
	}
}

int trace_output__header(struct trace_output *output)
{
	char *at = trace_buffer__room(&output->buffer, LINE_ROOM + output->options.width);

	if (!at)
		return output->buffer.error;
	if (output->options.format == TRACE_TABLE)
		at = trace_table__header(output, at);
	else if (output->options.format == TRACE_TSV)
		at = trace_tsv__header(output, at);
	else
		at = trace_json__start(output, at);
	trace_buffer__commit(&output->buffer, at, false);
	return 0;
}

int trace_output__line(struct trace_output *output, const struct trace_line *line)
{
	struct trace_line filled;
	struct trace_view view;
	char *at;

	if (line->kind == LINE_GPU) {
		trace_gpu_line__fill(line, &filled);
		line = &filled;
	}

	if (output->options.one_process)
		look_at_process(output, line);
	look_at(output, line, &view);
	at = trace_buffer__room(&output->buffer, line_room(output, &view));
	if (!at)
		return output->buffer.error;
	trace_time__expect(&output->time, line->start_ns);
	at = write_line(output, &view, at);
	trace_buffer__commit(&output->buffer, at, counts(output, line->kind));
	if (line->kind != LINE_LOST && line->kind != LINE_GPU)
		trace_time__advance(&output->time, line->start_ns);
	return 0;
}

int trace_output__flush(struct trace_output *output)
{
	return trace_buffer__flush(&output->buffer);
}

uint64_t trace_output__written(const struct trace_output *output)
{
	return output->buffer.calls;
}
