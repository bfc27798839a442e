// SPDX-License-Identifier: BSD-2-Clause
/*
 * The details of a line: its kernel and its arguments by name. Where a terminal has no room for all
 * of them, the most useful ones stay whole: a copy's size rather than its addresses, a launch's
 * kernel rather than its stream.
 */
#include "base/width.h"
#include "output/trace/private.h"

#define MORE " …"
#define MORE_COLUMNS 2

/* How useful a part is, most useful first. */
enum use {
	USE_KERNEL = 0,
	USE_SIZE,
	USE_KIND,
	USE_SHAPE,  /* grid and block */
	USE_OTHER,  /* what has no role: flags, names, counts */
	USE_STREAM, /* a stream and shared memory that the program chose */
	USE_ADDRESS,
	USE_DEFAULT, /* stream 0, no shared memory */
	USE_WORDS,   /* the kernel's arguments, where its host function is */
	USES,
};

struct part {
	const char *begin, *end;
	enum use use;
};

struct parts {
	struct part list[TRACE_FIELDS_MAX + 3];
	size_t count;
};

static enum use use_of(const struct trace_field *field)
{
	switch ((enum trace_role)field->role) {
	case TRACE_SIZE: return USE_SIZE;
	case TRACE_KIND: return USE_KIND;
	case TRACE_GRID:
	case TRACE_BLOCK: return USE_SHAPE;
	case TRACE_SHMEM:
	case TRACE_STREAM: return field->number ? USE_STREAM : USE_DEFAULT;
	case TRACE_ARGS: return USE_WORDS;
	default: return field->form == FORM_ADDRESS ? USE_ADDRESS : USE_OTHER;
	}
}

/* Begins a part behind the others. */
static char *begin_part(struct parts *parts, enum use use, char *at)
{
	if (parts->count)
		*at++ = ' ';
	parts->list[parts->count] = (struct part){.begin = at, .use = use};
	return at;
}

static char *end_part(struct parts *parts, char *at)
{
	parts->list[parts->count++].end = at;
	return at;
}

/* Whether the argument has its own column. Of several with one role only the first has one. */
static bool has_column(const struct trace_view *view, const struct trace_field *field)
{
	return field->role < TRACE_ROLES && view->output->shows[field->role] &&
	       view->by_role[field->role] == field;
}

static char *write_field(struct parts *parts, const struct trace_field *field, bool doubled,
			 char *at)
{
	at = begin_part(parts, use_of(field), at);
	at = trace_text__word(at, field->name, TRACE_WORD_SIZE);
	*at++ = '=';
	return end_part(parts, trace_field__text(field, doubled, at));
}

static char *write_location(struct parts *parts, const char *location, bool doubled, char *at)
{
	at = TRACE_TEXT_CONSTANT(begin_part(parts, USE_WORDS, at), "at=\"");
	at = trace_text__escaped(at, location, strlen(location), '"', doubled);
	*at++ = '"';
	return end_part(parts, at);
}

/* When the call began that submitted the work. */
static char *write_call(struct parts *parts, const struct trace_view *view, char *at)
{
	at = TRACE_TEXT_CONSTANT(begin_part(parts, USE_WORDS, at), "called=");
	return end_part(parts,
			trace_time__write(&view->output->time, at, view->line->gpu->called_ns));
}

static char *write_parts(const struct trace_view *view, struct parts *parts, char *at)
{
	bool doubled = view->output->options.format != TRACE_TABLE;
	const struct trace_line *line = view->line;

	parts->count = 0;
	if (view->function->is_launch && !view->output->has_kernel) {
		at = begin_part(parts, USE_KERNEL, at);
		at = end_part(parts, trace_cell__kernel(view, at));
	}
	for (size_t i = 0; i < line->field_count; i++) {
		if (!has_column(view, &line->fields[i]))
			at = write_field(parts, &line->fields[i], doubled, at);
	}
	if (line->kind == LINE_GPU && line->gpu->has_call)
		at = write_call(parts, view, at);
	if (line->kernel_location)
		at = write_location(parts, line->kernel_location, doubled, at);
	return at;
}

char *trace_details__write(const struct trace_view *view, char *at)
{
	struct parts parts;

	return write_parts(view, &parts, at);
}

/*
 * Marks the parts that stay, at least one: the most useful ones that fit together. Of equally
 * useful ones the first stay.
 */
static void choose(const struct parts *parts, size_t columns, bool *stays)
{
	size_t used = 0, chosen = 0;

	for (unsigned int use = 0; use < USES; use++) {
		for (size_t i = 0; i < parts->count; i++) {
			const struct part *part = &parts->list[i];

			if (part->use != use)
				continue;
			used += (chosen > 0) +
				width__columns(part->begin, (size_t)(part->end - part->begin));
			if (chosen && used > columns)
				return;
			stays[i] = true;
			chosen++;
		}
	}
}

char *trace_details__shorten(const struct trace_view *view, size_t columns, char *begin)
{
	bool stays[TRACE_FIELDS_MAX + 3] = {false};
	struct parts parts;
	char *at = write_parts(view, &parts, begin);

	if (parts.count < 2 || columns <= MORE_COLUMNS)
		return trace_text__cut(begin, at, columns);
	choose(&parts, columns - MORE_COLUMNS, stays);
	at = begin;
	for (size_t i = 0; i < parts.count; i++) {
		size_t length = (size_t)(parts.list[i].end - parts.list[i].begin);

		if (!stays[i])
			continue;
		if (at > begin)
			*at++ = ' ';
		memmove(at, parts.list[i].begin, length);
		at += length;
	}
	return TRACE_TEXT_CONSTANT(trace_text__cut(begin, at, columns - MORE_COLUMNS), MORE);
}
